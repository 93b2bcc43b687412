"""The lines of the score table as values: one for all regions, one for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore, RegionScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.evaluation.aggregate import headline_value
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.reasons import empty_side, hd95_definition, why
from medotter_viewer.ui.widgets.volumes import VolumeUnit, unit_for

SHOWN = ("dice", "iou", "hd95")
KNOWN = (*SHOWN, "hd")
ALL = "all"
_MEAN = "mean over the scored regions"
_WORDS = ("not_labelled", "absent", "error")


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """How the scores of one case are put into words.

    Parameters
    ----------
    score : CaseScore
        What is shown; metrics that are still to come are not in it.
    spec : EvalSpec
        Regions and rules.
    hd95 : str
        Which hd95 is shown.
    coming : bool
        Whether more metrics are on their way.
    """

    score: CaseScore
    spec: EvalSpec
    hd95: str = "directed_max"
    coming: bool = False

    @property
    def regions(self) -> list[str]:
        """Names of the lines below the first."""
        return list(self.score.regions)

    @property
    def shown(self) -> tuple[str, ...]:
        """Metrics of the columns: the three of segmentations (and hd by the specification), or those of this task."""
        found = tuple(dict.fromkeys(m for r in self.score.regions.values() for m in r.metrics))
        if not set(found) <= set(KNOWN):
            return found
        return KNOWN if "hd" in self.spec.metrics else SHOWN

    @property
    def unit(self) -> VolumeUnit:
        """Unit of the volumes."""
        size = self.score.voxel_volume_mm3 or 0.0
        counts = (n for r in self.score.regions.values() for n in (r.gt_voxels, r.pred_voxels) if n is not None)
        return unit_for(n * size for n in counts)

    def columns(self) -> list[Column]:
        """Return the columns; their headers name the units."""
        first = f"The row {ALL} is the {_MEAN}."
        unit = self.unit.name
        return [
            Column("region", stretch=True, least=100),
            *(self._column(metric, first) for metric in self.shown),
            Column(f"gt\n[{unit}]", "volume in the ground truth", numeric=True),
            Column(f"FP\n[{unit}]", "volume predicted only", numeric=True),
            Column(f"FN\n[{unit}]", "volume missed", numeric=True),
            Column(f"pred\n[{unit}]", "volume in the prediction", numeric=True),
            Column(f"TP\n[{unit}]", "volume in both", numeric=True),
            Column("status", "what was not computed, and why", least=60),
        ]

    def _column(self, metric: str, first: str) -> Column:
        tips = {
            "dice": f"2·TP / (gt + pred). {first}",
            "iou": f"TP / (gt + pred − TP). {first}",
            "hd95": f"hd95: {hd95_definition(self.spec, self.hd95)}. {first}",
            "hd": f"hd: Hausdorff distance, the largest between the surfaces. {first}",
        }
        unit = "\n[mm]" if metric in ("hd95", "hd", "d_mean") else ""
        return Column(f"{metric}{unit}", tips.get(metric, f"{metric}. {first}"), numeric=True)

    def mean_cells(self) -> list[Cell]:
        """Return the first line: the means over the scored regions."""
        scored = [r for r in self.score.regions.values() if any(v.counts for v in r.metrics.values())]
        caps = sum(any(v.status == "cap" for v in r.metrics.values()) for r in scored)
        missing = len(self.score.regions) - len(scored)
        failed = sum(_has_failed(region) for region in self.score.regions.values())
        counts = {"not scored": failed, "not labelled": missing - failed}
        remarks = [f"mean of {len(scored)}", *(f"{n} {word}" for word, n in counts.items() if n), _caps(caps)]
        values = [self._mean(metric, caps) for metric in self.shown]
        name = Cell(ALL, f"{_MEAN} ({len(scored)} of {len(self.score.regions)})", bold=True)
        status = Cell(", ".join(r for r in remarks if r), tone="quiet")
        return [name, *values, *[Cell()] * 5, status]

    def region_cells(self, name: str, swatch: Any = None) -> list[Cell]:
        """Return the line of a region."""
        region = self.score.regions[name]
        headline = self.spec.headline.region == name
        ids = ", ".join(map(str, self.spec.regions.get(name, ())))
        title = Cell(name, f"{name}: canonical ids {ids}" + "; the headline region" * headline, bold=headline)
        title = replace(title, swatch=swatch)
        values = [self._value(metric, region) for metric in self.shown]
        words = {v.status for v in region.metrics.values()}
        if words == {"not_labelled"}:
            n_covered = len(values) + 6
            first, covered = replace(values[0], span=n_covered), replace(values[0], span=0)
            return [replace(title, tone="quiet"), first, *[covered] * (n_covered - 1)]
        if words == {"absent"} or _has_failed(region):
            values = [replace(value, span=0 if i else len(values)) for i, value in enumerate(values)]
        return [title, *values, *self._volumes(region), Cell(empty_side(region), tone="quiet")]

    def _mean(self, metric: str, caps: int) -> Cell:
        means = replace(self.spec, headline=replace(self.spec.headline, region=MACRO))
        value = headline_value(replace(self.score, case={}), means, metric)
        if value is None or (self.coming and any(_misses(region, metric) for region in self.score.regions.values())):
            return self._blank(metric)
        why_text = f"{metric}: {_MEAN}" + (f"\nslanted: with {_caps(caps)}, values set by a rule" if caps else "")
        return Cell(number_text(metric, value), why_text, bold=True, italic=bool(caps))

    def _value(self, metric: str, region: RegionScore) -> Cell:
        value = region.metrics.get(metric)
        if value is None:
            return self._blank(metric)
        known = metric in KNOWN
        text, reason = metric_text(metric, value), why(metric, region, self.spec, self.hd95) if known else metric
        if value.status in _WORDS:
            return Cell(text, reason, "error" if value.status == "error" else "quiet", word=True)
        if value.status == "cap":
            short = text if metric in ("hd95", "hd") else text.removesuffix(" (spec)")
            return Cell(short, reason, italic=True)
        return Cell(text, reason)

    def _volumes(self, region: RegionScore) -> Iterator[Cell]:
        gt, pred, both = region.gt_voxels, region.pred_voxels, region.intersection
        size = self.score.voxel_volume_mm3
        if gt is None or pred is None or both is None or size is None:
            yield from [Cell(NOTHING, tone="quiet")] * 5
            return
        for voxels in (gt, pred - both, gt - both, pred, both):
            volume = f"{voxels:,} voxels, {voxels * size:,.1f} mm³"
            yield Cell(self.unit.text(voxels * size), volume)

    def _blank(self, metric: str) -> Cell:
        coming = self.coming and any(_misses(region, metric) for region in self.score.regions.values())
        return Cell("…", "being computed", "quiet") if coming else Cell(NOTHING, tone="quiet")


def _misses(region: RegionScore, metric: str) -> bool:
    """Whether a metric of a region is still to come."""
    return bool(region.metrics) and metric not in region.metrics


def _has_failed(region: RegionScore) -> bool:
    """Whether a region has no number, for one reason."""
    return bool(region.metrics) and {v.status for v in region.metrics.values()} == {"error"}


def _caps(n: int) -> str:
    """Say how many regions carry a cap."""
    return f"{n} cap{'s' * (n > 1)}" if n else ""
