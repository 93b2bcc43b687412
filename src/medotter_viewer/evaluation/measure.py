"""One pass over samples and predictions: from arrays to the values of every class, with the faults in their order.

No array is kept: a sample leaves behind its table of overlaps and its distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.labels import IntArray
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.errors import CaseNotFoundError, LabelError, MetricInputError, UsageError
from medotter_viewer.evaluation.sample import Sample, arrays_of, sample_key, steps_of, whole_ids
from medotter_viewer.evaluation.schema import ClassTable
from medotter_viewer.evaluation.score_report import ScoreReport, summarise
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.overlap import OverlapTable, id_mask, overlap_table
from medotter_viewer.metrics.surface import bounding_box
from medotter_viewer.metrics.surface_distances import surface_distances
from medotter_viewer.scoring.empty import empty_value, situation
from medotter_viewer.scoring.segmentation import COMMON as METRICS
from medotter_viewer.scoring.segmentation import NOT_LABELLED

Find = Callable[[str, Any], Any]
"""Key and sample to the prediction; CaseNotFoundError where there is none."""
_FAULTS: tuple[type[Exception], ...] = (UsageError, CaseNotFoundError, MetricInputError, LabelError)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is kept of one sample.

    Parameters
    ----------
    key : str
        Of the sample.
    table : OverlapTable
        Voxels of every pair of ids.
    hd95 : mapping of int to float
        Distance of every class that is on both sides, where distances are asked for.
    diagonal : float
        Of the array, in the unit of the distances.
    in_mm : bool
        Whether that is mm; else voxels.
    labelled_ids : frozenset of int or None
        Ids that the sample annotates; None for all.
    """

    key: str
    table: OverlapTable
    hd95: Mapping[int, float]
    diagonal: float
    in_mm: bool
    labelled_ids: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked for: metrics, and the classes where somebody names them."""

    metrics: tuple[str, ...]
    classes: ClassTable | None

    def on(self, dataset: Any) -> Run:
        """Return the run with the classes that the dataset names, unless the caller named some."""
        return self if self.classes is not None else replace(self, classes=ClassTable.of_dataset(dataset))

    def measure(self, samples: Iterable[Sample], find: Find, *, given: Sized | None = None) -> list[Measured]:
        """Return what is kept of every sample.

        Parameters
        ----------
        samples : iterable of Sample
            Gone through once.
        find : callable
            Returns the prediction of a key and its sample.
        given : sized, optional
            All predictions. Then faults are raised at the end, by their order; else each where it is met.

        Raises
        ------
        UsageError, CaseNotFoundError, MetricInputError, LabelError
            As `medotter_viewer.score`.
        """
        try:
            one_by_one = iter(samples)
        except TypeError as error:
            raise UsageError(f"dataset: got {type(samples).__name__}, expected samples") from error
        faults: dict[type[Exception], Exception] = {}
        keys: set[str] = set()
        cases = []
        for index, sample in enumerate(one_by_one):
            key = sample_key(sample, index)
            try:
                if key in keys:
                    raise UsageError(
                        f"sample {index}: got key {key!r} a second time, expected each once; slices of one case differ "
                        "by slice_idx in their meta"
                    )
                keys.add(key)
                if (measured := self._sample(sample, find(key, sample), key, check_only=bool(faults))) is not None:
                    cases.append(measured)
            except _FAULTS as error:
                if given is None:
                    raise
                faults.setdefault(next(kind for kind in _FAULTS if isinstance(error, kind)), error)
        for kind in _FAULTS:
            if kind is MetricInputError and given is not None and len(given) != len(keys):
                raise UsageError(_surplus(given, keys))
            if kind in faults:
                raise faults[kind]
        return cases

    def report(self, cases: Sequence[Measured], *, per_case: bool, present_only: bool) -> ScoreReport:
        """Return the report of all samples.

        Raises
        ------
        LabelError
            If the classes are those of the ground truth, and a prediction holds another id.
        """
        classes = self.classes
        if classes is None:
            classes = ClassTable.found_in(case.table for case in cases)
            for case in cases:
                classes.check(case.table, case.key)
        values, present = {}, {}
        for case in cases:
            values[case.key], present[case.key] = self._values(case, classes)
        no_mm = sum(not case.in_mm for case in cases) if "hd95" in self.metrics else 0
        notes = [f"hd95: {no_mm} of {len(cases)} samples have no spacing: in voxels"] if no_mm else []
        for i, name in classes.names.items():
            if without := sum(not _is_labelled(case, i) for case in cases):
                notes.append(f"{name}: not labelled in {without} of {len(cases)} samples, left out there")
        return summarise(
            values,
            present,
            classes.names,
            self.metrics,
            per_case=per_case,
            present_only=present_only,
            hd95_unit="mm" if not no_mm else "voxels" if no_mm == len(cases) else "mm or voxels",
            notes=notes,
        )

    def _sample(self, sample: Sample, pred: Any, key: str, *, check_only: bool) -> Measured | None:
        """Check a sample and measure it; after a fault nothing is measured any more."""
        gt_array, pred_array = arrays_of(sample, pred, key)
        measured = "hd95" in self.metrics
        steps = steps_of(sample, gt_array.ndim, key, measured=measured)
        if check_only:
            return None
        gt = whole_ids(gt_array, f"label of {key!r}")
        found = whole_ids(pred_array, f"prediction for {key!r}")
        table = overlap_table(gt, found)
        if self.classes is not None:
            self.classes.check(table, key)
        spacing = np.ones(gt.ndim) if steps is None or not measured else steps
        labelled = (getattr(sample, "meta", None) or {}).get("labelled_ids")
        return Measured(
            key,
            table,
            _distances(gt, found, table, self.classes or ClassTable.found_in([table]), spacing) if measured else {},
            float(np.linalg.norm(np.multiply(gt.shape, spacing))),
            steps is not None,
            None if labelled is None else frozenset(labelled),
        )

    def _values(self, case: Measured, classes: ClassTable) -> tuple[dict[str, dict[str, MetricValue]], frozenset[str]]:
        """Values of every class of a sample, and the classes that its ground truth has."""
        counted = classes.counted(case.table)
        values, present = {}, set()
        for i, name in classes.names.items():
            if not _is_labelled(case, i):
                values[name] = dict.fromkeys(self.metrics, NOT_LABELLED)
                continue
            overlap = counted.region([i])
            if overlap.gt:
                present.add(name)
            if (empty := situation(overlap.gt, overlap.pred)) is not None:
                values[name] = {m: empty_value(m, empty, {}, case.diagonal) for m in self.metrics}
            else:
                found = {"dice": overlap.dice, "iou": overlap.iou, "hd95": case.hd95.get(i)}
                values[name] = {m: MetricValue(found[m]) for m in self.metrics}
        return values, frozenset(present)


def checked_metrics(metrics: Any) -> tuple[str, ...]:
    """Return the metrics that are asked for, each once.

    Raises
    ------
    UsageError
        If there is none, or one is not known.
    """
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise UsageError(f"metrics: got {metrics!r}, expected some of {', '.join(METRICS)}, as ('dice', 'iou')")
    chosen = list(metrics)
    unknown = [m for m in chosen if m not in METRICS]
    if unknown or not chosen:
        got = ", ".join(map(repr, unknown)) or "none"
        raise UsageError(f"metrics: got {got}, expected some of {', '.join(METRICS)}")
    return tuple(dict.fromkeys(chosen))


def _is_labelled(case: Measured, class_id: int) -> bool:
    return case.labelled_ids is None or class_id in case.labelled_ids


def _distances(
    gt: IntArray, pred: IntArray, table: OverlapTable, classes: ClassTable, spacing: NDArray[np.float64]
) -> dict[int, float]:
    """Return hd95 of every class that is on both sides."""
    counted = classes.counted(table)
    both = [i for i in classes.names if (overlap := counted.region([i])).gt and overlap.pred]
    if classes.background_id not in classes.names and both:  # a class that is everywhere needs the whole array
        box = bounding_box((gt != classes.background_id) | (pred != classes.background_id)) or ()
        gt, pred = gt[box], pred[box]
    ignored = id_mask(gt, classes.ignore_ids) if classes.ignore_ids else None
    found = {}
    for i in both:
        true_ids = [g for g in table.gt_ids.tolist() if g not in classes.ignore_ids and classes.meaning(g) == i]
        gt_mask, pred_mask = id_mask(gt, true_ids), id_mask(pred, [i])
        if ignored is not None:
            pred_mask &= ~ignored
        found[i] = hausdorff(surface_distances(gt_mask, pred_mask, spacing=spacing.tolist()))
    return found


def _surplus(given: Any, keys: set[str]) -> str:
    more = [key for key in given if key not in keys]
    listed = ", ".join(map(repr, more[:5])) + (", ..." if len(more) > 5 else "")
    return f"predictions: got {len(given)}, expected {len(keys)}, one for each sample; no sample has the key {listed}"
