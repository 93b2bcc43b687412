"""Numbers that carry their status and the rule that produced them; never a bare float."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.reprs import html_pairs, html_table, metric_header, metric_text, to_dataframe

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["ok", "absent", "cap", "not_labelled", "error"]
CaseStatus = Literal["scored", "missing_prediction", "error"]
OTHER_OVERLAP = {"dice": "iou", "iou": "dice"}
"""Both are 0 together, and 1 together."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number.

    Parameters
    ----------
    value : float or None
        The value; None for ``not_labelled`` and ``error``.
    status : {"ok", "absent", "cap", "not_labelled", "error"}
        ``ok`` computed; ``absent`` empty in gt and pred; ``cap`` taken from a rule for one-sided emptiness;
        ``not_labelled`` this dataset does not annotate the region.
    rule : str or None
        The rule that set the value: a key of ``empty_structure``, ``image_diagonal``, or None. With status ``error``
        why there is none: ``uneven_slices`` (no distance can be given), ``not_placed``, ``no_pixel_centre`` or
        ``no_outline`` (the region is drawn, and yet has no voxel), ``not_remembered`` (a what-if knows no distance).
    """

    value: float | None
    status: Status = "ok"
    rule: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the value enters a mean."""
        return self.value is not None

    def to_dict(self) -> dict[str, Any]:
        """Return value, status and rule by name."""
        return {"value": self.value, "status": self.status, "rule": self.rule}


@dataclass(frozen=True, slots=True)
class RegionScore:
    """All metrics of one region of one case; voxel counts are None where the region is not labelled."""

    metrics: Mapping[str, MetricValue]
    gt_voxels: int | None = None
    pred_voxels: int | None = None
    intersection: int | None = None

    def shown(self, metric: str) -> MetricValue | None:
        """Return a value as it is put into words; None for a metric that is not there.

        Dice and iou are 0 together where one side alone is empty. Where ``empty_structure`` has a rule for one of them,
        the 0 of the other is called a cap by that rule too; the number stays what it is.

        Examples
        --------
        >>> cap = MetricValue(0.0, "cap", "gt_nonempty_pred_empty")
        >>> RegionScore({"dice": cap, "iou": MetricValue(0.0)}).shown("iou") == cap
        True
        """
        value, other = self.metrics.get(metric), self.metrics.get(OTHER_OVERLAP.get(metric, ""))
        if value is None or other is None or value.status != "ok" or other.status != "cap":
            return value
        return replace(value, status="cap", rule=other.rule) if value.value == other.value == 0 else value

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and every metric by name."""
        counts = {"gt": self.gt_voxels, "pred": self.pred_voxels, "intersection": self.intersection}
        return {"counts": counts, **{name: value.to_dict() for name, value in self.metrics.items()}}


@dataclass(frozen=True, slots=True)
class CaseScore:
    """All numbers of one case.

    Parameters
    ----------
    case_id : str
        Full id.
    status : {"scored", "missing_prediction", "error"}
        Whether there are numbers.
    message : str or None
        Why there are none.
    regions : mapping of str to RegionScore
        By region name, in the specification's order.
    case : mapping of str to MetricValue
        Metrics of the case as a whole.
    voxel_volume_mm3 : float or None
        Turns voxel counts into volumes.
    """

    case_id: str
    status: CaseStatus
    message: str | None = None
    dataset: str | None = None
    tier: str | None = None
    patient_uid: str | None = None
    notes: tuple[Finding, ...] = ()
    regions: Mapping[str, RegionScore] = field(default_factory=dict)
    case: Mapping[str, MetricValue] = field(default_factory=dict)
    voxel_volume_mm3: float | None = None

    @classmethod
    def unscored(cls, case_id: str, status: CaseStatus, message: str, notes: tuple[Finding, ...] = ()) -> CaseScore:
        """Return the entry of a case that has no numbers, and why."""
        return cls(case_id, status, message, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of one case."""
        return {
            "status": self.status,
            "message": self.message,
            "dataset": self.dataset,
            "notes": [note.to_dict() for note in self.notes],
            "regions": {name: region.to_dict() for name, region in self.regions.items()},
            "case": {name: value.to_dict() for name, value in self.case.items()},
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each region and metric, and for each metric of the case as a whole."""
        identity = {"case": self.case_id, "dataset": self.dataset, "case_status": self.status}
        rows: list[dict[str, Any]] = []
        for name, region in self.regions.items():
            counts = {
                "gt_voxels": region.gt_voxels,
                "pred_voxels": region.pred_voxels,
                "intersection": region.intersection,
            }
            of_region = region.metrics.items()
            rows += [{**identity, "region": name, "metric": m, **v.to_dict(), **counts} for m, v in of_region]
        rows += [{**identity, "region": None, "metric": m, **v.to_dict()} for m, v in self.case.items()]
        return rows or [{**identity, "message": self.message}]

    def to_dataframe(self) -> pd.DataFrame:
        """Return `rows` as a table (needs pandas)."""
        return to_dataframe(self.rows())

    def _repr_html_(self) -> str:
        notes = [f"{note.severity}: {note.message}" for note in self.notes]
        if self.status != "scored":
            pairs = {"status": self.status.replace("_", " "), "message": self.message or ""}
            return html_pairs(pairs, self.case_id, notes)
        metrics = list(dict.fromkeys(m for region in self.regions.values() for m in region.metrics))
        rows = [
            [name, *(metric_text(m, r.shown(m)) if m in r.metrics else "" for m in metrics)]
            + ["" if n is None else f"{n:,}" for n in (r.gt_voxels, r.pred_voxels)]
            for name, r in self.regions.items()
        ]
        notes = [*(f"{metric_header(m)}: {metric_text(m, v)}" for m, v in self.case.items()), *notes]
        header = ["region", *map(metric_header, metrics), "gt (voxels)", "pred (voxels)"]
        return html_table(header, rows, self.case_id, notes)
