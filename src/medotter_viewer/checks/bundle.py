"""What is wrong, or may be, with the specification of a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError, UnsupportedTaskError
from medotter_viewer.scoring.registry import adapter_of
from medotter_viewer.sources.bundle import EVAL_SPEC, TASK
from medotter_viewer.sources.bundle_source import BundleSource


def check_rules(source: BundleSource) -> Iterator[Finding]:
    """Yield what is wrong with task.yaml and eval_spec.yaml; an error keeps every case from being looked at."""
    directory = source.bundle.directory
    usable = True
    for name, read in ((TASK, lambda: source.task), (EVAL_SPEC, lambda: _spec_alone(source))):
        try:
            read()
        except MedotterViewerError as error:
            yield Finding("error", "bad-configuration", str(error), file=str(directory / name))
            usable = False
    if usable:
        yield from _check_spec(source.spec, directory / EVAL_SPEC)


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
