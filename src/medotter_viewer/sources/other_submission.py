"""The same cases with another model's polygons: what importing a submission opens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import UsageError
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.scan_source import ScanSource
from medotter_viewer.sources.source import CaseSource

_UNUSABLE = ("malformed-submission", "unreadable-file", "ambiguous-prediction")


def with_submission(source: CaseSource, path: Path) -> CaseSource:
    """Return a source of scans with a submission as its predictions.

    Parameters
    ----------
    source : CaseSource
        Scans, or a bundle of them.
    path : Path
        The submission, CSV or zip.

    Raises
    ------
    UsageError
        If the file is not there, the cases have no polygons, or the bundle gives its submissions another name.
    """
    if not path.is_file():
        raise UsageError(f"submission: no such file: {path}")
    if isinstance(source, ScanSource):
        return replace(source, predictions=path, model_name=None)
    if isinstance(source, BundleSource) and (rules := source.spec.contours) is not None:
        stem = rules.submission.rsplit(".", 1)[0]
        if path.stem != stem:
            raise UsageError(
                f"{path}: this task's submissions are called {stem}.csv or {stem}.zip; give the file that name, in a "
                "folder named after the model"
            )
        return replace(source, predictions=PredictionFolder(path.parent, path.resolve().parent.name))
    raise UsageError(f"{source.target}: its cases have no polygons: a submission cannot be shown on them")


def submission_faults(source: CaseSource, case_id: str) -> list[Finding]:
    """Return why the submission of a source cannot be used, line by line; empty where it can."""
    spoilt = [f for f in source.entry(case_id).findings if f.severity == "error" and f.code in _UNUSABLE]
    if not spoilt:
        return []
    lines = [f for f in source.check() if f.severity == "error" and f.file == spoilt[0].file and f.where != case_id]
    return lines or spoilt
