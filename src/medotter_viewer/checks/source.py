"""Everything that is wrong, or may be, with a source of cases and its predictions."""

from __future__ import annotations

from collections.abc import Iterator

from medotter_viewer.checks.bundle import check_rules
from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, MedotterViewerError
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.scoring.lung import predicted_contours
from medotter_viewer.scoring.segmentation import check_ids
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.other_predictions import meant_text
from medotter_viewer.sources.source import CaseSource


def check_source(source: CaseSource) -> Iterator[Finding]:
    """Yield what was noticed about the rules, every case of both splits, and files that no case uses.

    Files of ground truth and prediction are read one case after the other; images are looked at by their header.
    """
    if isinstance(source, BundleSource):
        broken = False
        for finding in check_rules(source):
            broken = broken or finding.code == "bad-configuration"
            yield finding
        if broken:
            return  # what each case's ids mean is not known
    if meant := meant_text(source):
        message = f"no case has a prediction of {source.model}; {meant}"
        yield Finding("warning", "no-prediction", message, where=source.target)
    spec = source.spec
    for case_id in source.case_ids("all"):
        entry = source.entry(case_id)
        if source.model is not None and entry.split == "test" and "prediction" in entry.missing:
            sought = f", looked for {entry.pred_sought}" if entry.pred_sought else ""
            message = f"case {case_id}: no prediction of {source.model}{sought}"
            yield Finding("warning", "no-prediction", message, where=case_id)
        case = source.load(case_id, images=False)
        yield from case.findings
        if case.gt is not None and case.pred is not None:
            try:
                check_ids(overlap_table(case.gt.data, case.pred.data), spec, entry)
            except MedotterViewerError as error:
                yield Finding("error", "ids-outside-label-space", str(error), where=case_id)
        elif spec.contours is not None and case.pred is not None:
            try:
                predicted_contours(case, spec)
            except LabelError as error:
                yield Finding("error", "ids-outside-label-space", str(error), where=case_id)
            except MedotterViewerError as error:
                yield Finding("error", "grid-mismatch", str(error), where=case_id)
    yield from source.check()
