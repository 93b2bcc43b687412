"""What the dock of vertebrae shows of a case, gathered away from the main thread. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from medotter_viewer.core.case import Case
from medotter_viewer.core.landmarks import Candidates, LandmarkRules, Landmarks
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import in_anatomical_order, is_scored, moved_along_spine
from medotter_viewer.metrics.vertebrae import VertebraComparison, compare_vertebrae
from medotter_viewer.scoring.vertebra_points import labels_there, landmarks_of


@dataclass(frozen=True, slots=True, eq=False)
class VertebraFacts:
    """Points of a case, and how they compare.

    Parameters
    ----------
    case : Case
        As it is on the screen.
    gt, pred : Landmarks or None
        Points of both sides.
    found : VertebraComparison or None
        Where both sides have points.
    labels : tuple of int
        Vertebrae of either side, from the head to the feet.
    rules : LandmarkRules
        When one is identified.
    level_shift : int
        The what-if that is on: by how many levels towards the feet all predicted labels are moved.
    left_out : tuple of int
        Labels that it moves beyond the end of the spine, as they are called without it.
    rate_without : float or None
        The identification rate without it.
    """

    case: Case
    gt: Landmarks | None
    pred: Landmarks | None
    found: VertebraComparison | None
    labels: tuple[int, ...]
    rules: LandmarkRules
    level_shift: int = 0
    left_out: tuple[int, ...] = ()
    rate_without: float | None = None

    @property
    def candidates(self) -> Candidates:
        """Rule by which a vertebra is identified."""
        return self.rules.candidates

    @property
    def derived(self) -> tuple[str, ...]:
        """Sides whose points were taken from a mask."""
        sides = {"ground truth": self.gt, "prediction": self.pred}
        return tuple(name for name, side in sides.items() if side is not None and side.derived)

    @property
    def swapped_with(self) -> dict[int, int]:
        """Each of two vertebrae that are predicted where the other is, and that other one."""
        pairs = () if self.found is None else self.found.swapped
        return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


def vertebra_facts(case: Case, spec: EvalSpec, *, level_shift: int = 0, unshifted: Case | None = None) -> VertebraFacts:
    """Return what is shown of a case.

    Parameters
    ----------
    case : Case
        As it is on the screen.
    spec : EvalSpec
        Rules of a hit.
    level_shift : int
        The what-if that is in `case`.
    unshifted : Case, optional
        The same without it.
    """
    rules = spec.landmarks or LandmarkRules()
    gt, pred = landmarks_of(case)
    sides = [{} if side is None else side.points_world for side in (gt, pred)]
    left_out: tuple[int, ...] = ()
    rate = None
    if level_shift and unshifted is not None:
        before = landmarks_of(unshifted)[1]
        points = {} if before is None else before.points_world
        moved = moved_along_spine(labels_there(unshifted), level_shift)
        left_out = tuple(in_anatomical_order(i for i in points if is_scored(i) and i not in moved))
        without = compare_vertebrae(sides[0], points, max_distance_mm=rules.max_distance_mm)
        rate = without.id_rate(rules.candidates)
    both = gt is not None and pred is not None
    return VertebraFacts(
        case,
        gt,
        pred,
        compare_vertebrae(*sides, max_distance_mm=rules.max_distance_mm) if both else None,
        tuple(i for i in in_anatomical_order([*sides[0], *sides[1]]) if is_scored(i)),
        rules,
        level_shift,
        left_out,
        rate,
    )
