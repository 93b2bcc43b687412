"""The table beside a submission: who made each polygon, its area, and what the case scores against the ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from medotter_viewer.core.contours import ContourRules, Origin, Ring
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.export.case_rings import CaseRings
from medotter_viewer.scoring.lung import LungScanScore, lung_scan_score

COLUMNS = (
    *("scan_id", "slice_id", "kind", "polygon", "region", "source", "area_mm2"),
    *("tp_mm2", "fp_mm2", "fn_mm2", "thickness_mm"),
    *("tp_mm3", "fp_mm3", "fn_mm3", "t_mm3", "e_mm3", "a_mm2", "score"),
)
Row = dict[str, object]
"""Column to value; what does not apply is left out."""


def polygon_row(case_id: str, number: int, line: int, region: str, source: Origin, area_mm2: float) -> Row:
    """Return the row of one polygon; `line` is that of the submission."""
    return {
        "scan_id": case_id,
        "slice_id": number,
        "kind": "polygon",
        "polygon": line,
        "region": region,
        "source": source,
        "area_mm2": area_mm2,
    }


def rings_score(rings: CaseRings, pred: Mapping[int, Sequence[Ring]], rules: ContourRules) -> LungScanScore | None:
    """Return the numbers of a case for some predicted rings; None without ground truth.

    Raises
    ------
    MetricInputError
        If a slice has no thickness, or a ring no area that can be computed.
    """
    if rings.gt is None:
        return None
    return lung_scan_score(
        rings.gt,
        pred,
        thickness_mm=rings.thickness_mm,
        overlap=rules.overlap,
        error_length_mm=rules.error_length_mm,
    )


def score_rows(case_id: str, found: LungScanScore, region: str) -> Iterator[Row]:
    """Yield a row for every slice with a ring and one for the scan."""
    shared: Row = {"scan_id": case_id, "region": region}
    for number, areas in found.slices.items():
        yield {
            **shared,
            "slice_id": number,
            "kind": "slice",
            **asdict(areas),
            "thickness_mm": found.thickness_mm[number],
        }
    volumes = found.volumes
    score: MetricValue = found.score
    yield {
        **shared,
        "kind": "scan",
        "tp_mm3": volumes.tp_mm3,
        "fp_mm3": volumes.fp_mm3,
        "fn_mm3": volumes.fn_mm3,
        "t_mm3": volumes.t_mm3,
        "e_mm3": volumes.e_mm3,
        "a_mm2": volumes.a_mm2,
        "score": score.value,
    }
