"""When a prediction lies on the grid it is scored on, and when it is refused: decided here alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from medotter_viewer.core.findings import Severity
from medotter_viewer.core.grid import PASS_FRACTION, REFUSE_FRACTION, Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.resample import resample_labels


class Add(Protocol):
    """Takes a finding."""

    def __call__(self, severity: Severity, code: str, message: str, /) -> None:
        """Keep it."""


def no_position(grid: Grid) -> str:
    """Return in words why a grid has no place in the world."""
    if grid.unit == "px":
        return "a picture or plain array does not say where it lies"
    return "the file has no form codes (no qform, no sform)"


def adopted(labels: LabelMap, partners: Sequence[Grid | None], part: str, add: Add) -> LabelMap:
    """Return a label map without position on the grid of the first partner of the same shape.

    Parameters
    ----------
    labels : LabelMap
        Whose grid has no world.
    partners : sequence of (Grid or None)
        What it may belong to.
    part : str
        What the labels are, for messages.
    add : callable
        Told where the grid comes from, or that there is none.
    """
    for partner in partners:
        if partner is not None and partner.has_world and partner.shape == labels.grid.shape:
            add("info", "no-form-codes", f"{part}: {no_position(labels.grid)}; it takes its partner's grid")
            return LabelMap(labels.data, partner)
    if labels.grid.unit == "mm":  # pictures among themselves need no position
        message = f"{part}: {no_position(labels.grid)}: its orientation is unknown"
        add("warning", "no-form-codes", message)
    return labels


def on_grid(
    pred: LabelMap, grid: Grid, add: Add, *, resample: bool = False, whose: str = "ground truth"
) -> LabelMap | None:
    """Return a prediction on a grid, or None with an error.

    Parameters
    ----------
    pred : LabelMap
        On a grid of its own.
    grid : Grid
        What it is scored on.
    add : callable
        Told what was noticed; an error where the prediction is refused.
    resample : bool
        Whether one elsewhere is brought onto the grid by nearest neighbour.
    whose : str
        What has the grid, for messages.
    """
    if not pred.grid.has_world and pred.grid.shape == grid.shape:
        return adopted(pred, [grid], "prediction", add) if grid.has_world else LabelMap(pred.data, grid)
    got = f"prediction {pred.grid.describe()}; {whose} {grid.describe()}"
    if pred.grid.shape == grid.shape and grid.has_world:
        apart = pred.grid.corner_displacement_mm(grid)
        limit = min(grid.spacing)
        if apart <= REFUSE_FRACTION * limit:
            if apart > PASS_FRACTION * limit:
                message = f"the prediction's corners lie up to {apart:.3g} mm from the {whose}'s"
                add("warning", "grid-nearly-equal", f"{message}; scored as one grid")
            return LabelMap(pred.data, grid)
        got += f"; largest corner displacement {apart:.2f} mm, {REFUSE_FRACTION * limit:.2f} mm is allowed"
    if not resample:
        hint = f"; not scored; write the prediction on the {whose}'s grid"
        if grid.has_world and pred.grid.has_world:
            hint += ", or resample it by --resample-prediction"
        add("error", "grid-mismatch", f"grids differ: {got}{hint}")
        return None
    try:
        resampled = resample_labels(pred, grid)
    except GridMismatchError as error:
        add("error", "grid-mismatch", f"grids differ: {got}; {error}")
        return None
    add("warning", "resampled-prediction", f"prediction resampled by nearest neighbour: {got}")
    return resampled
