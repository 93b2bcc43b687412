"""Contours, points and the lines between them: a pure function from what is placed and options to frozen descriptions.

What `layers` is for arrays. Nothing here knows napari; `vector_display` writes what differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import PlacedRings, place_rings
from medotter_viewer.ui.colors import GT_ACCENT, OTHER_ACCENT, PRED_ACCENT, SEED_ACCENT, WRONG_ACCENT
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RingsSpec:
    """What a layer of outlines should be; it shows the slice that is looked at.

    Parameters
    ----------
    role : str
        ``gt_rings``, ``pred_rings`` or ``other_rings``.
    name : str
        As shown in the layer list.
    placed : PlacedRings
        The rings.
    color : str
        Of the lines.
    width_px : float
        Of the lines, pixels of the screen.
    visible : bool
        Whether it is drawn.
    opacity : float
        0 to 1.
    """

    role: str
    name: str
    placed: PlacedRings
    color: str
    width_px: float
    visible: bool
    opacity: float = 1.0

    @property
    def scale(self) -> tuple[float, ...]:
        """Displayed mm per step."""
        return self.placed.order.scale

    @property
    def translate(self) -> tuple[float, ...]:
        """Displayed mm of the first voxel's centre."""
        return self.placed.order.translate


@dataclass(frozen=True, slots=True, eq=False)
class PointsSpec:
    """What a layer of points should be.

    Parameters
    ----------
    role : str
        ``gt_points``, ``pred_points`` or ``seeds``.
    data : (n, 3) ndarray
        Displayed index.
    texts : tuple of str
        Written at the points; empty for none.
    before : bool
        Whether texts stand at the left of their points rather than at the right: those of two sides then do not
        cover each other.
    near_mm : tuple of float or None
        How far beside the slice a point may lie to be drawn, along I, P, L; None draws it on its own slice only.
    twins : tuple of ((3,) ndarray or None)
        Displayed index of the point of the other side that carries the name for both, wherever it is drawn; empty
        where every point has its name.
    """

    role: str
    name: str
    data: Floats
    texts: tuple[str, ...]
    color: str
    symbol: str
    scale: tuple[float, ...]
    translate: tuple[float, ...]
    visible: bool
    before: bool = False
    near_mm: tuple[float, float, float] | None = None
    twins: tuple[Floats | None, ...] = ()

    def texts_at(self, axis: int | None, position_mm: float = 0.0) -> tuple[str, ...]:
        """Return what is written at the points in a slice across a displayed axis; None is 3D, where all are drawn."""
        near = float("inf") if axis is None or self.near_mm is None else self.near_mm[axis]
        at = axis or 0
        mm = [None if twin is None else self.translate[at] + self.scale[at] * twin[at] for twin in self.twins]
        named = [place is not None and abs(place - position_mm) <= near for place in mm] or [False] * len(self.texts)
        return tuple("" if other else text for text, other in zip(self.texts, named, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class LinesSpec:
    """What a layer of lines should be: `data` (n, 2, 3) holds start and direction of each, displayed index."""

    role: str
    name: str
    data: Floats
    colors: tuple[str, ...]
    scale: tuple[float, ...]
    translate: tuple[float, ...]
    visible: bool


_WIDTH = 2  # of outlines, for which the widths here are
_GT_PX = 2.8  # seen on both sides of a prediction that runs along it
_EDITED_PX = 4.5  # seen on both sides of the line that napari draws over what is selected
VectorSpec = RingsSpec | PointsSpec | LinesSpec
NEAR_MM = (8.0, 15.0, 15.0)
"""Half of what a vertebral body measures: within it the centre of a vertebra is worth seeing."""


def vector_specs(placed: Placed, options: ShowOptions) -> list[VectorSpec]:
    """Return the layers of lines and points from the lowest to the topmost; a role the case lacks is not there."""
    found: list[VectorSpec] = []
    outlined = options.mode == "contour" or (options.mode == "fill" and placed.has_contours)

    def rings(role: str, name: str, side: PlacedRings | None, color: str, shown: bool, **how: float) -> None:
        if side is not None:
            width = how.get("width_px", 1.6) * options.contour_width / _WIDTH
            found.append(RingsSpec(role, name, side, color, visible=shown, **{**how, "width_px": width}))

    others = options.others and options.mode != "off"
    rings("other_rings", "other structures", placed.others, OTHER_ACCENT, others, width_px=1.0, opacity=0.7)
    of_gt = outlined and "gt" not in options.hidden
    rings("gt_rings", "ground truth contours", placed.gt, GT_ACCENT, of_gt, width_px=_GT_PX)
    pred = placed.pred
    if pred is None and options.editing and placed.stack is not None and placed.case.pred is None:
        pred = place_rings(ScanContours(), placed.stack)  # where the first one is drawn
    drawn_on = outlined or (options.editing and options.mode == "error")
    wide = {"width_px": _EDITED_PX} if options.editing else {}
    rings("pred_rings", "prediction contours", pred, PRED_ACCENT, drawn_on and "pred" not in options.hidden, **wide)
    found += _seed_specs(placed, options)
    found += _point_specs(placed, options)
    return found


def _seed_specs(placed: Placed, options: ShowOptions) -> Iterable[VectorSpec]:
    side = placed.gt or placed.pred or placed.others
    if side is None or not len(placed.seeds):
        return
    yield PointsSpec(
        "seeds",
        "seeds",
        placed.seeds,
        (),
        SEED_ACCENT,
        "cross",
        side.order.scale,
        side.order.translate,
        visible=options.mode != "off" and not {"gt", "pred"} <= options.hidden,
    )


def _point_specs(placed: Placed, options: ShowOptions) -> Iterable[VectorSpec]:
    if placed.grid is None:
        return
    order = display_order(placed.grid)
    where = {"scale": order.scale, "translate": order.translate}
    on = options.mode != "off"
    both = [i for i in placed.gt_points if i in placed.pred_points]
    if both:
        starts, ends = (np.array([side[i] for i in both]) for side in (placed.gt_points, placed.pred_points))
        colors = tuple(GT_ACCENT if placed.hits.get(i, False) else WRONG_ACCENT for i in both)
        shown = on and not options.hidden & {"gt", "pred"}
        yield LinesSpec(
            "distances", "distances", np.stack([starts, ends - starts], axis=1), colors, **where, visible=shown
        )
    for role, name, points, color, symbol, odd, word in (
        ("gt", "ground truth points", placed.gt_points, GT_ACCENT, "disc", placed.missed, "missed"),
        ("pred", "predicted points", placed.pred_points, PRED_ACCENT, "disc", placed.extra, "extra"),
    ):
        if points:
            texts = tuple(f"{vertebra_name(i)} {word if i in odd else ''}".strip() for i in points)
            named_there = role == "gt" and "pred" not in options.hidden
            data = np.array(list(points.values()))
            visible = on and role not in options.hidden
            yield PointsSpec(
                f"{role}_points",
                name,
                data,
                texts,
                color,
                symbol,
                **where,
                visible=visible,
                before=role == "gt",
                near_mm=NEAR_MM,
                twins=tuple(_twin(i, placed) for i in points) if named_there else (),
            )


def _twin(label: int, placed: Placed) -> Floats | None:
    """The predicted point that names an identified vertebra: two names would only cover more of the picture."""
    return placed.pred_points.get(label) if placed.hits.get(label, False) else None
