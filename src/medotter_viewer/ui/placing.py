"""Where the contours, points and seeds of a case are drawn, and what of them is not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import LandmarkRules, Landmarks
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import (
    PlacedRings,
    displayed,
    pixels_on,
    place_again,
    place_rings,
    undrawn,
)
from medotter_viewer.metrics.vertebrae import compare_vertebrae
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.scoring.lung import target_ids
from medotter_viewer.scoring.vertebra_points import landmarks_of
from medotter_viewer.ui.derived import RegionView
from medotter_viewer.ui.rings import RingsView

Floats = NDArray[np.float64]
Mask = RingsView | RegionView
_SAME_MM = 1e-3
_NO_POINTS = np.zeros((0, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """What of a case is drawn as lines and points, where it is drawn.

    Parameters
    ----------
    case : Case
        What is drawn.
    stack : SliceStack or None
        The slices that contours lie on.
    grid : Grid or None
        On which the case is drawn: that of its arrays, else of its slices, else a box around its points.
    gt, pred, others : PlacedRings or None
        Contours of the target on both sides, and of all other structures.
    masks : mapping of str to RingsView or RegionView
        ``gt`` and ``pred`` as masks, where the ground truth is drawn as contours.
    gt_landmarks, pred_landmarks : Landmarks or None
        The labelled points: those of files, of vertebrae else those that follow from the masks.
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

    case: Case
    stack: SliceStack | None
    grid: Grid | None
    gt: PlacedRings | None
    pred: PlacedRings | None
    others: PlacedRings | None
    masks: Mapping[str, Mask]
    gt_landmarks: Landmarks | None
    pred_landmarks: Landmarks | None
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
    sides = (case.gt_contours, case.pred_contours, _others(case))
    gt, pred, others = (None if side is None or stack is None else place_rings(side, stack) for side in sides)
    landmarks = landmarks_of(case) if spec.is_vertebrae else (case.gt_landmarks, case.pred_landmarks)
    points = [p for side in landmarks if side is not None for p in side.points_world.values()]
    grid = case.grid or (None if stack is None else stack.grid) or _box(points)
    seeds = _seeds(case, stack) if stack is not None else _NO_POINTS
    gt_points = points_on(grid, landmarks[0])
    without_pred = Placed(
        case, stack, grid, gt, pred, others, {}, landmarks[0], None, gt_points, {}, (), (), {}, seeds, ()
    )
    return _with_prediction(without_pred, case, spec, pred, landmarks[1])


def place_prediction(placed: Placed, case: Case, spec: EvalSpec) -> Placed:
    """Return the same case where its prediction is another now; all else stays, the grid too.

    Parameters
    ----------
    placed : Placed
        What was drawn before.
    case : Case
        The same with another prediction: contours, points or label map.
    spec : EvalSpec
        Its rules.
    """
    before, after = placed.case.pred_contours, case.pred_contours
    pred = placed.pred
    if after is not before:
        if after is None or placed.stack is None:
            pred = None
        elif pred is None or before is None:
            pred = place_rings(after, placed.stack)
        else:
            pred = place_again(pred, before, after)
    landmarks = case.pred_landmarks
    if spec.is_vertebrae:
        landmarks = landmarks_of(replace(case, gt_landmarks=placed.gt_landmarks or Landmarks({})))[1]
    return _with_prediction(placed, case, spec, pred, landmarks)


def _with_prediction(
    placed: Placed, case: Case, spec: EvalSpec, pred: PlacedRings | None, landmarks: Landmarks | None
) -> Placed:
    """Put a prediction to what is there of all else."""
    gt, gt_landmarks, pred_points = placed.gt, placed.gt_landmarks, points_on(placed.grid, landmarks)
    kept = [label for label in placed.pred_points if label in pred_points]  # in the order in which they are drawn
    pred_points = {label: pred_points[label] for label in dict.fromkeys([*kept, *pred_points])}
    both = gt_landmarks is not None and landmarks is not None
    gt_labels, labels = (() if side is None else side.points_world for side in (gt_landmarks, landmarks))
    masks: dict[str, Mask] = {}
    if case.gt is None and case.gt_native is None and (case.pred is None or gt is not None):
        if gt is not None:
            masks["gt"] = placed.masks.get("gt") or RingsView(gt)  # with the planes that are filled already
        predicted = None if case.pred is None else _mask(case.pred, placed.stack, spec)
        if predicted is not None:
            masks["pred"] = predicted
        elif pred is not None:
            masks["pred"] = RingsView(pred)
    return replace(
        placed,
        case=case,
        pred=pred,
        masks=masks,
        pred_landmarks=landmarks,
        pred_points=pred_points,
        missed=tuple(i for i in gt_labels if i not in labels) if both else (),
        extra=tuple(i for i in labels if i not in gt_labels) if both else (),
        hits=_hits(gt_landmarks, landmarks, spec.landmarks or LandmarkRules()),
        notes=tuple(_notes(case, placed, pred)),
    )


def _mask(labels: LabelMap, stack: SliceStack | None, spec: EvalSpec) -> RegionView | None:
    """The target in a label map; None where it does not lie on the pixels of the slices."""
    if stack is None:
        return None
    order, slices = display_order(labels.grid), display_order(stack.grid)
    shown = order.apply(labels.data)
    same = np.allclose((order.scale, order.translate), (slices.scale, slices.translate), rtol=0, atol=_SAME_MM)
    if not same or shown.shape != tuple(stack.grid.shape[a] for a in slices.axes):
        return None
    return RegionView(shown, target_ids(spec))


def _notes(case: Case, placed: Placed, pred: PlacedRings | None) -> Iterator[str]:
    """What is not drawn, in words."""
    yield from undrawn("ground truth", case.gt_contours, placed.gt)
    yield from undrawn("prediction", case.pred_contours, pred)
    if len(placed.seeds) < len(case.seeds):
        yield f"{len(case.seeds) - len(placed.seeds)} of {len(case.seeds)} seeds lie on no slice: not drawn"


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


def points_on(grid: Grid | None, landmarks: Landmarks | None) -> dict[int, Floats]:
    """Return the displayed index of points: through the grid's axes, as its arrays are drawn."""
    if grid is None or landmarks is None or not landmarks.points_world:
        return {}
    points = landmarks.points_world
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


def _hits(gt: Landmarks | None, pred: Landmarks | None, rules: LandmarkRules) -> dict[int, bool]:
    """Whether each vertebra of both sides is identified, by the rule of the specification."""
    if gt is None or pred is None:
        return {}
    found = compare_vertebrae(gt.points_world, pred.points_world, max_distance_mm=rules.max_distance_mm)
    return {label: bool(match.hit[rules.candidates]) for label, match in found.matches.items()}
