"""Which adapter scores which task type, and what happens around every adapter: missing files, errors, identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import INSTANCE_TASKS, EvalSpec
from medotter_viewer.errors import LabelError, MetricInputError, UnsupportedTaskError
from medotter_viewer.scoring import lung, segmentation, vertebrae
from medotter_viewer.scoring.instances import METRICS as INSTANCE_METRICS
from medotter_viewer.scoring.instances import score_instances
from medotter_viewer.scoring.lung import score_lung_contour
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import score_segmentation
from medotter_viewer.scoring.vertebrae import score_vertebrae


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one task type is scored.

    Parameters
    ----------
    score : callable
        Case, specification and options to scores.
    metrics : tuple of str
        What the window computes of every case.
    more : tuple of str
        What it computes only where the specification names it.
    fast : tuple of str
        Those that are shown at once, while the others are still being computed.
    needs_masks : bool
        Whether a case without a predicted label map has no prediction.
    """

    score: Callable[[Case, EvalSpec, ScoreOptions], CaseScore]
    metrics: tuple[str, ...]
    fast: tuple[str, ...] = ()
    needs_masks: bool = True
    more: tuple[str, ...] = ()

    def shown(self, spec: EvalSpec) -> tuple[str, ...]:
        """Return what the window computes of the cases of a specification."""
        return (*self.metrics, *(m for m in dict.fromkeys(spec.metrics) if m in self.more))


ADAPTERS: Mapping[str, Adapter] = {
    "seg": Adapter(score_segmentation, segmentation.COMMON, fast=("dice", "iou"), more=("hd",)),
    **dict.fromkeys(INSTANCE_TASKS, Adapter(score_instances, INSTANCE_METRICS)),
    "lung_contour": Adapter(score_lung_contour, lung.METRICS, needs_masks=False),
    "vertebra": Adapter(
        score_vertebrae, vertebrae.METRICS, ("dice", "iou", *vertebrae.CASE_METRICS), needs_masks=False
    ),
}


def adapter_of(task_type: str) -> Adapter:
    """Return the adapter of a task type.

    Raises
    ------
    UnsupportedTaskError
        If there is none; it is also a NotImplementedError.
    """
    if task_type not in ADAPTERS:
        raise UnsupportedTaskError(
            f"task_type {task_type!r}: no scoring adapter; cases can be shown but not scored "
            f"(adapters: {', '.join(ADAPTERS)})"
        )
    return ADAPTERS[task_type]


def score_case(case: Case, spec: EvalSpec, options: ScoreOptions | None = None) -> CaseScore:
    """Return the scores of one case; what is wrong with its data is its status and message, not an exception.

    Parameters
    ----------
    case : Case
        From `load_case`.
    spec : EvalSpec
        Task type, regions and rules.
    options : ScoreOptions, optional
        Metrics, hd95 definition, what to do without a prediction.

    Raises
    ------
    UnsupportedTaskError
        If no adapter handles the task type.
    BundleError, UsageError
        If specification or options cannot be used for any case.
    """
    options = options or ScoreOptions()
    score = _score(case, spec, options, adapter_of(spec.task_type))
    entry = case.entry
    return replace(score, dataset=entry.dataset, tier=entry.tier, patient_uid=entry.patient_uid)


def _score(case: Case, spec: EvalSpec, options: ScoreOptions, adapter: Adapter) -> CaseScore:
    notes = tuple(f for f in case.findings if f.severity != "error")
    if case.errors:
        message = "; ".join(dict.fromkeys(f.message for f in case.errors))
        return CaseScore.unscored(case.case_id, "error", message, notes)
    gt = case.gt
    if gt is None and adapter.needs_masks:
        return CaseScore.unscored(
            case.case_id, "error", f"case {case.case_id}: no ground truth to score against", notes
        )
    if case.pred is None and gt is not None and adapter.needs_masks:
        if options.missing == "skip":
            sought = case.entry.pred_sought
            message = f"case {case.case_id}: no prediction found" + (f", looked for {sought}" if sought else "")
            return CaseScore.unscored(case.case_id, "missing_prediction", message, notes)
        case = replace(case, pred=LabelMap(np.zeros_like(gt.data), gt.grid))
    ready = case
    return scored_or_error(case.entry, case.findings, lambda: adapter.score(ready, spec, options))


def scored_or_error(entry: CaseEntry, findings: tuple[Finding, ...], score: Callable[[], CaseScore]) -> CaseScore:
    """Return what `score` gives with the remarks of the case, or its error as the case's status and message."""
    notes = tuple(f for f in findings if f.severity != "error")
    try:
        found = score()
    except (LabelError, MetricInputError) as error:
        found = CaseScore.unscored(entry.case_id, "error", f"case {entry.case_id}: {error}")
    return replace(
        found,
        notes=(*notes, *found.notes),
        dataset=entry.dataset,
        tier=entry.tier,
        patient_uid=entry.patient_uid,
    )
