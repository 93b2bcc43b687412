"""Where the contours, points and seeds of a case are drawn, and what of them is not. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.landmarks import LandmarkRules
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import PlacedRings, displayed, pixels_on, place_rings, undrawn
from medotter_viewer.metrics.vertebrae import compare_vertebrae
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.ui.rings import RingsView

Floats = NDArray[np.float64]
_NO_POINTS = np.zeros((0, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """What of a case is drawn as lines and points, where it is drawn; worked out once for a case.

    Parameters
    ----------
    grid : Grid or None
        On which the case is drawn: that of its arrays, else of its slices, else a box around its points.
    gt, pred, others : PlacedRings or None
        Contours of the target on both sides, and of all other structures.
    masks : mapping of str to RingsView
        ``gt`` and ``pred`` as masks, where there are contours and no label maps.
    gt_points, pred_points : mapping of int to (3,) ndarray
        Label to displayed index on `grid`.
    missed, extra : tuple of int
        Labels of one side only, where both sides have points.
    hits : mapping of int to bool
        Whether a label of both sides is identified.
    seeds : (n, 3) ndarray
        Displayed index on the grid of the slices.
    notes : tuple of str
        What is not drawn, in words.
    """

    grid: Grid | None
    gt: PlacedRings | None
    pred: PlacedRings | None
    others: PlacedRings | None
    masks: Mapping[str, RingsView]
    gt_points: Mapping[int, Floats]
    pred_points: Mapping[int, Floats]
    missed: tuple[int, ...]
    extra: tuple[int, ...]
    hits: Mapping[int, bool]
    seeds: Floats
    notes: tuple[str, ...]

    @property
    def has_contours(self) -> bool:
        """Whether either side has contours that lie on a slice."""
        return self.gt is not None or self.pred is not None

    @property
    def has_points(self) -> bool:
        """Whether either side has a labelled point."""
        return bool(self.gt_points or self.pred_points)


def place(case: Case, spec: EvalSpec) -> Placed:
    """Return where the contours, points and seeds of a case are drawn."""
    stack = contour_stack(case)
    notes: list[str] = []
    sides: list[PlacedRings | None] = []
    others = _others(case)
    for name, contours in (("ground truth", case.gt_contours), ("prediction", case.pred_contours), ("", others)):
        sides.append(None if contours is None or stack is None else place_rings(contours, stack))
        notes += undrawn(name, contours, sides[-1]) if name else ()
    gt, pred, other = sides
    seeds = _seeds(case, stack) if stack is not None else _NO_POINTS
    if len(seeds) < len(case.seeds):
        notes.append(f"{len(case.seeds) - len(seeds)} of {len(case.seeds)} seeds lie on no slice: not drawn")
    points = [side.points_world if side is not None else {} for side in (case.gt_landmarks, case.pred_landmarks)]
    grid = case.grid or (None if stack is None else stack.grid) or _box([p for side in points for p in side.values()])
    masks = {}
    if case.gt is None and case.gt_native is None and case.pred is None:
        masks = {role: RingsView(side) for role, side in (("gt", gt), ("pred", pred)) if side is not None}
    both = case.gt_landmarks is not None and case.pred_landmarks is not None
    missed = tuple(i for i in points[0] if i not in points[1]) if both else ()
    extra = tuple(i for i in points[1] if i not in points[0]) if both else ()
    gt_points, pred_points = (_on(grid, side) for side in points)
    hits = _hits(case, spec.landmarks or LandmarkRules())
    return Placed(grid, gt, pred, other, masks, gt_points, pred_points, missed, extra, hits, seeds, tuple(notes))


def _others(case: Case) -> ScanContours | None:
    """Rings of all structures that are not the target."""
    target = set() if case.entry.scan is None else case.entry.scan.names.names_of(case.entry.scan.rules.target)
    scored = set() if case.gt_contours is None else {id(r) for rings in case.gt_contours.rings.values() for r in rings}
    found: dict[int, list[Floats]] = {}
    for name, contours in case.structures.items():
        if name in target:
            continue
        for number, rings in contours.rings.items():
            found.setdefault(number, []).extend(ring for ring in rings if id(ring) not in scored)
    return ScanContours(found) if any(found.values()) else None


def _seeds(case: Case, stack: SliceStack) -> Floats:
    """Displayed index of every seed that lies on a slice."""
    index_of, order = slice_indices(stack), display_order(stack.grid)
    found = [_NO_POINTS]
    for number, x, y in case.seeds:
        index = index_of.get(number)
        if index is not None and np.isfinite([x, y]).all():
            found.append(displayed(pixels_on(np.array([[x, y]]), stack, index), stack, order, index))
    return np.concatenate(found)


def _on(grid: Grid | None, points: Mapping[int, tuple[float, float, float]]) -> dict[int, Floats]:
    """Displayed index of points: through the grid's axes, as its arrays are drawn."""
    if grid is None or not points:
        return {}
    shown = display_order(grid).displayed_index(grid.world_to_voxel(list(points.values())), grid.shape)
    return dict(zip(points, shown, strict=True))


def _box(points_world: list[tuple[float, float, float]], margin_mm: float = 40.0) -> Grid | None:
    """A grid of 1 mm, or coarser, around points; None without any."""
    if not points_world:
        return None
    low, high = (f(points_world, axis=0) for f in (np.min, np.max))
    step = max(1.0, float((high - low).max()) / 512)
    shape = tuple(int(n) + 1 for n in np.ceil((high - low + 2 * margin_mm) / step))
    affine = np.diag([step, step, step, 1.0])
    affine[:3, 3] = low - margin_mm
    return Grid(shape, affine)


def _hits(case: Case, rules: LandmarkRules) -> dict[int, bool]:
    """Whether each vertebra of both sides is identified, by the rule of the specification."""
    gt, pred = case.gt_landmarks, case.pred_landmarks
    if gt is None or pred is None:
        return {}
    found = compare_vertebrae(gt.points_world, pred.points_world, max_distance_mm=rules.max_distance_mm)
    return {label: bool(match.hit[rules.candidates]) for label, match in found.matches.items()}
