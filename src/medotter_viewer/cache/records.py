"""The form in which the score of a case is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore

_MAY_GO_AWAY = {"missing-file", "unreadable-file", "unreadable-scan"}
"""What is said of files that may be there, or readable, next time."""


def is_settled(findings: Iterable[Finding]) -> bool:
    """Whether what was read stays the same as long as the files do: none of them failed to be read."""
    return not any(finding.code in _MAY_GO_AWAY for finding in findings)


def to_record(score: CaseScore) -> dict[str, Any]:
    """Return the score of a case as JSON can hold it."""
    return {
        "score": {
            **{name: getattr(score, name) for name in ("dataset", "tier", "patient_uid", "voxel_volume_mm3")},
            "notes": [note.to_dict() for note in score.notes],
            "regions": {name: region.to_dict() for name, region in score.regions.items()},
            "case": {name: value.to_dict() for name, value in score.case.items()},
        }
    }


def parse_record(raw: Mapping[str, Any], case_id: str) -> CaseScore:
    """Return the score of a case from the form in which it is kept.

    Raises
    ------
    KeyError, TypeError, AttributeError
        If it has another form.
    """
    kept = raw["score"]
    return CaseScore(
        case_id,
        "scored",
        notes=tuple(Finding(**note) for note in kept["notes"]),
        regions={name: _region(one) for name, one in kept["regions"].items()},
        case={name: MetricValue(**one) for name, one in kept["case"].items()},
        **{name: kept[name] for name in ("dataset", "tier", "patient_uid", "voxel_volume_mm3")},
    )


def _region(kept: Mapping[str, Any]) -> RegionScore:
    counts = kept["counts"]
    # By place: there are tens of thousands of them in a list of cases.
    metrics = {
        name: MetricValue(one["value"], one["status"], one["rule"]) for name, one in kept.items() if name != "counts"
    }
    return RegionScore(metrics, counts["gt"], counts["pred"], counts["intersection"])
