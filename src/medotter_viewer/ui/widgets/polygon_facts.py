"""What is known of the polygons of a scan: its numbers, seeds, structures and odd rings. Pure, without Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin, ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import GridMismatchError, LabelError, MetricInputError
from medotter_viewer.export.painted_rings import with_painted_rings
from medotter_viewer.geometry.ring_faults import RingFault, ring_faults
from medotter_viewer.metrics.lung import SliceAreas
from medotter_viewer.scoring.lung import LungScanScore, contours_score, predicted_contours
from medotter_viewer.ui.widgets.scan_places import (
    SeedPlace,
    StructureFacts,
    middle_of_rings,
    seed_place,
    structure_facts,
)


@dataclass(frozen=True, slots=True, eq=False)
class PolygonFacts:
    """What is known of the polygons of a scan, as they are edited.

    Parameters
    ----------
    case : Case
        The scan.
    pred : ScanContours or None
        The predicted polygons and who made them; None without a prediction.
    numbers : LungScanScore or None
        Score, volumes and areas.
    why_not : str
        Why there are no numbers.
    seeds : tuple of SeedPlace
        In the order of their list.
    structures : tuple of StructureFacts
        In the order of the scan's files.
    gt_faults, pred_faults : sequence of RingFault
        Odd rings of the target and of the prediction.
    """

    case: Case
    pred: ScanContours | None = None
    numbers: LungScanScore | None = None
    why_not: str = ""
    seeds: tuple[SeedPlace, ...] = ()
    structures: tuple[StructureFacts, ...] = ()
    gt_faults: Sequence[RingFault] = ()
    pred_faults: Sequence[RingFault] = ()

    @property
    def merged(self) -> tuple[str, ...]:
        """Names of the structures that are the target together."""
        return tuple(one.name for one in self.structures if one.is_target)

    @property
    def seeds_outside(self) -> tuple[SeedPlace, ...]:
        """Seeds that no ring of the ground truth encloses: either is wrong."""
        return tuple(one for one in self.seeds if one.in_gt is False)

    def middle_of(self, number: int) -> tuple[float, float]:
        """Return x, y in mm LPS of the middle of all contours of a slice, else of the scan: where to look at it."""
        case = self.case
        sides = [side for side in (case.gt_contours, self.pred, *case.structures.values()) if side is not None]
        here = [ring for side in sides for ring in side.rings.get(number, ())]
        found = middle_of_rings(here)
        if found is None and case.stack is not None:
            columns, rows, _ = case.stack.grid.shape
            x, y, _ = case.stack.to_lps(np.array([[(columns - 1) / 2, (rows - 1) / 2]]), len(case.stack) // 2)[0]
            found = float(x), float(y)
        return (
            found
            or middle_of_rings([ring for side in sides for rings in side.rings.values() for ring in rings])
            or (0, 0)
        )

    def origins(self, number: int | None = None) -> dict[Origin, int]:
        """Return how many predicted polygons each made, on a slice or on all."""
        if self.pred is None:
            return {}
        numbers = self.pred.rings if number is None else [number]
        return dict(Counter(who for n in numbers for who in self.pred.origins_of(n)))


def polygon_facts(
    case: Case, spec: EvalSpec, *, from_file: LabelMap | None = None, before: PolygonFacts | None = None
) -> PolygonFacts:
    """Return what is known of the polygons of a scan.

    Parameters
    ----------
    case : Case
        As it is edited.
    spec : EvalSpec
        Target and rules.
    from_file : LabelMap, optional
        Its predicted label map as it was read: tells which rings of a painted one a person changed.
    before : PolygonFacts, optional
        As this was before: where it is of the same scan, what no edit changes is taken from it.
    """
    if before is not None and (before.case.entry is not case.entry or before.case.gt_contours is not case.gt_contours):
        before = None
    numbers: LungScanScore | None = None
    pred: ScanContours | None = None
    try:
        case = with_painted_rings(case, from_file, (spec.contours.target if spec.contours else ""), spec)
        pred = predicted_contours(case, spec)
        why = "; ".join(dict.fromkeys(finding.message for finding in case.errors))
        if not why and pred is None:
            why = "no prediction, no score"
        if not why:
            scored = replace(case, pred_contours=pred)  # not traced a second time
            numbers = contours_score(scored, spec, known=_known(pred, before))
    except (MetricInputError, LabelError, GridMismatchError) as error:
        why = str(error)
    numbered = _numbers(case)
    pixel = 0.0 if case.stack is None else case.stack.grid.spacing[0] * case.stack.grid.spacing[1]
    return PolygonFacts(
        case,
        pred,
        numbers,
        why,
        tuple(seed_place(seed, case.gt_contours, pred, numbered) for seed in case.seeds),
        structure_facts(case) if before is None else before.structures,
        _faults(case.gt_contours, numbered, pixel) if before is None else before.gt_faults,
        _faults(pred, numbered, pixel, before),
    )


def _known(pred: ScanContours | None, before: PolygonFacts | None) -> Mapping[int, SliceAreas]:
    """Areas of the slices on which nothing has changed."""
    if before is None or before.numbers is None:
        return {}
    return {n: areas for n, areas in before.numbers.slices.items() if _unchanged(n, pred, before.pred)}


def _unchanged(number: int, now: ScanContours | None, before: ScanContours | None) -> bool:
    """Whether a slice has the same rings as before."""
    one, other = (() if side is None else side.rings.get(number, ()) for side in (now, before))
    same_length = len(one) == len(other)
    return one is other or (same_length and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True)))


def _numbers(case: Case) -> Collection[int] | None:
    """The slices of a scan; None where no file says which there are."""
    if case.stack is not None and any(number is not None for number in case.stack.numbers):
        return {number for number in case.stack.numbers if number is not None}
    return case.slice_thickness_mm.keys() or None


def _faults(
    contours: ScanContours | None,
    numbers: Collection[int] | None,
    pixel_mm2: float,
    before: PolygonFacts | None = None,
) -> list[RingFault]:
    """Odd rings; those of slices on which nothing has changed are taken from `before`."""
    if contours is None:
        return []
    kept = {n for n in contours.rings if before is not None and _unchanged(n, contours, before.pred)}
    changed = ScanContours({n: rings for n, rings in contours.rings.items() if n not in kept})
    old = [] if before is None else [fault for fault in before.pred_faults if fault.number in kept]
    found = ring_faults(changed, numbers=numbers, pixel_mm2=pixel_mm2)
    return sorted([*old, *found], key=lambda fault: (fault.number, fault.place))
