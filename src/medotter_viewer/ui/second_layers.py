"""How a second model's prediction is drawn beside the first: contours and points of one colour. Pure.

Label maps are outlined by `layers`; here is what they have in common with rings and points, and what is said of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import PlacedRings, place_rings
from medotter_viewer.scoring.vertebra_points import landmarks_of
from medotter_viewer.ui.colors import SECOND_ACCENT
from medotter_viewer.ui.legend import Entry
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed, points_on
from medotter_viewer.ui.rings import RingsView
from medotter_viewer.ui.vectors import NEAR_MM, PointsSpec, RingsSpec, VectorSpec

_LONGEST = 28  # letters of a model's name in the legend


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSecond:
    """Where the second prediction of the open case is drawn.

    Parameters
    ----------
    case : Case
        What it says of the case.
    name : str
        What the model is called.
    rings : PlacedRings or None
        Its contours.
    points : mapping of int to (3,) ndarray
        Label to displayed index on the grid of the first.
    """

    case: Case
    name: str
    rings: PlacedRings | None = None
    points: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)


def place_second(case: Case, name: str, placed: Placed, spec: EvalSpec) -> PlacedSecond:
    """Return where a second prediction is drawn: on the slices and the grid of the first."""
    contours = case.pred_contours
    rings = None if contours is None or placed.stack is None else place_rings(contours, placed.stack)
    landmarks = landmarks_of(case)[1] if spec.is_vertebrae else case.pred_landmarks
    return PlacedSecond(case, name, rings, points_on(placed.grid, landmarks))


def alone(placed: Placed, second: PlacedSecond) -> Placed:
    """Return the case as it would be if the second prediction's contours were the only ones: for a map of errors."""
    if second.rings is None or "gt" not in placed.masks:
        return placed
    return replace(placed, pred=second.rings, masks={**placed.masks, "pred": RingsView(second.rings)})


def second_vectors(second: PlacedSecond | None, placed: Placed, options: ShowOptions) -> list[VectorSpec]:
    """Return the layers of the second prediction's contours and points; none without any."""
    found: list[VectorSpec] = []
    if second is None:
        return found
    drawn = "second" not in options.hidden
    outlined = options.mode == "contour" or (options.mode == "fill" and placed.has_contours)
    if second.rings is not None:
        found.append(
            RingsSpec(
                "second_rings", "second prediction contours", second.rings, SECOND_ACCENT, 1.6, outlined and drawn
            )
        )
    if second.points and placed.grid is not None:
        order = display_order(placed.grid)
        found.append(
            PointsSpec(
                "second_points",
                "second predicted points",
                np.array(list(second.points.values())),
                (),
                SECOND_ACCENT,
                "disc",
                order.scale,
                order.translate,
                visible=options.mode != "off" and drawn,
                near_mm=NEAR_MM,
            )
        )
    return found


def with_second(
    entries: Sequence[Entry],
    second: PlacedSecond | None,
    first_name: str | None,
    options: ShowOptions,
    *,
    named: bool = True,
) -> list[Entry]:
    """Return the legend where two models are compared: both by their names (or not), and of which the errors are.

    Examples
    --------
    >>> from medotter_viewer.core.case import CaseEntry
    >>> second = PlacedSecond(Case(CaseEntry("1")), "b")
    >>> with_second([("prediction, predicted points", "#FF8C1A")], second, "a", ShowOptions())
    [('A: a', '#FF8C1A')]
    """
    if second is None:
        return list(entries)
    first = f"A: {_short(first_name or 'no prediction')}" if named else "A"
    words = {"prediction": first, "predicted points": first}
    parts = [(dict.fromkeys(words.get(part, part) for part in word.split(", ")), color) for word, color in entries]
    found: list[Entry] = [(", ".join(part), color) for part, color in parts]
    name = f"B: {_short(second.name)}" if named else "B"
    if options.mode == "error" and found:
        return [(f"errors of {name if options.second == 'b' else first}", ""), *found]
    drawn = second.case.pred is not None or second.points or (second.rings is not None and second.rings.rings)
    return found + [(name, SECOND_ACCENT)] * bool(drawn and options.mode != "off" and "second" not in options.hidden)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
