"""Everything that is wrong, or may be, with a bundle and its predictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError, UnsupportedTaskError
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.scoring.registry import adapter_of
from medotter_viewer.scoring.segmentation import check_ids
from medotter_viewer.sources.bundle import EVAL_SPEC, TASK
from medotter_viewer.sources.bundle_source import BundleSource


def check_bundle(source: BundleSource) -> Iterator[Finding]:
    """Yield what was noticed about task, specification, every case of both splits and unused predictions.

    Files of ground truth and prediction are read one case after the other; images are looked at by their header.
    """
    directory = source.bundle.directory
    usable = True
    for name, read in ((TASK, lambda: source.task), (EVAL_SPEC, lambda: _spec_alone(source))):
        try:
            read()
        except MedotterViewerError as error:
            yield Finding("error", "bad-configuration", str(error), file=str(directory / name))
            usable = False
    if not usable:
        return  # what each case's ids mean is not known
    spec = source.spec
    yield from _check_spec(spec, directory / EVAL_SPEC)
    used: list[Path] = []
    for case_id in source.case_ids("all"):
        entry = source.entry(case_id)
        found = [path for path in (entry.pred_path, entry.pred_landmarks_path) if path is not None]
        used += found
        if not found and source.predictions is not None and entry.split == "test":
            message = f"case {case_id}: no prediction of {source.predictions.name}"
            yield Finding("warning", "no-prediction", message, where=case_id)
        case = source.load(case_id, images=False)
        yield from case.findings
        if case.gt is not None and case.pred is not None:
            try:
                check_ids(overlap_table(case.gt.data, case.pred.data), spec, entry)
            except MedotterViewerError as error:
                yield Finding("error", "ids-outside-label-space", str(error), where=case_id)
    yield from _unlisted_entries(source)
    if source.predictions is not None:
        for path in source.predictions.unused(used):
            message = f"no case of this bundle uses the prediction file {path.name}"
            yield Finding("warning", "unused-prediction", message, file=str(path))


def _spec_alone(source: BundleSource) -> EvalSpec | None:
    """Return eval_spec.yaml without what it takes from task.yaml, so that each is blamed for its own faults."""
    path = source.bundle.directory / EVAL_SPEC
    return EvalSpec.from_mapping(source.bundle.eval_spec(), where=str(path)) if path.is_file() else None


def _check_spec(spec: EvalSpec, path: Path) -> Iterator[Finding]:
    try:
        known = adapter_of(spec.task_type).metrics
    except UnsupportedTaskError as error:
        yield Finding("warning", "unsupported-task", str(error), file=str(path), where="task_type")
        return
    if not spec.regions:
        message = "no regions: neither eval_regions nor task.yaml's canonical_labels names any; nothing can be scored"
        yield Finding("error", "no-regions", message, file=str(path), where="eval_regions")
    unknown = [m for m in spec.metrics if m not in known]
    if unknown:
        message = f"metrics not known for {spec.task_type}: {', '.join(unknown)}"
        yield Finding("error", "unknown-metric", message, file=str(path), where="metrics")
    if spec.headline.metric not in spec.metrics:
        message = f"the headline's metric {spec.headline.metric!r} is not among metrics {list(spec.metrics)}"
        yield Finding("warning", "headline-metric", message, file=str(path), where="aggregation.headline")


def _unlisted_entries(source: BundleSource) -> Iterator[Finding]:
    listed = set(source.case_ids("all"))
    for case_id in source.bundle.manifest["per_case"]:
        if case_id not in listed:
            message = f"case {case_id} has an entry in per_case but is in neither train nor test"
            yield Finding("warning", "unlisted-case", message, where=case_id)
