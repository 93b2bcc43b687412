"""The lines of the score table as values: one for all regions, one for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore, RegionScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.evaluation.aggregate import headline_value
from medotter_viewer.scoring.segmentation import DISTANCES
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.reasons import empty_side, hd95_definition, why
from medotter_viewer.ui.widgets.volumes import VolumeUnit, unit_for
from medotter_viewer.ui.widgets.why_means import MEAN, by_rule, mean_parts, mean_why
from medotter_viewer.ui.widgets.why_objects import objects_why

SHOWN = ("dice", "iou", "hd95")
KNOWN = (*SHOWN, "hd")
ALL = "all"
MOST_STRIPES = 6
"""Ids of a union whose colours can be told apart in a swatch."""
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
    def is_alone(self) -> bool:
        """Whether no second model's numbers stand beside these."""
        return True

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
        first = f"The row {ALL} is the {MEAN}; what is absent in both enters with the value of its rule."
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
        unit = "\n[mm]" if metric in (*DISTANCES, "d_mean") else ""
        return Column(f"{metric}{unit}", tips.get(metric, f"{metric}. {first}"), numeric=True)

    def mean_cells(self) -> list[Cell]:
        """Return the first line: the means over the scored regions."""
        scored = [r for r in self.score.regions.values() if any(v.counts for v in r.metrics.values())]
        n_caps, n_absent = (sum(_has(status, region) for region in scored) for status in ("cap", "absent"))
        missing = len(self.score.regions) - len(scored)
        failed = sum(_has_failed(region) for region in self.score.regions.values())
        counts = {"not scored": failed, "not labelled": missing - failed}
        remarks = [f"mean of {len(scored)}", *(f"{n} {word}" for word, n in counts.items() if n)]
        remarks += [f"{n_absent} absent in both" * bool(n_absent), _caps(n_caps)]
        values = [self._mean(metric) for metric in self.shown]
        name = Cell(ALL, f"{MEAN} ({len(scored)} of {len(self.score.regions)})", bold=True)
        status = Cell(", ".join(r for r in remarks if r), tone="quiet")
        return [name, *values, *[Cell()] * 5, status]

    def region_cells(self, name: str, swatch: Any = None) -> list[Cell]:
        """Return the line of a region."""
        region = self.score.regions[name]
        headline = self.spec.headline.region == name
        ids = self.spec.regions.get(name, ())
        told = f"{name}: canonical ids {', '.join(map(str, ids))}" + "; the headline region" * headline
        if 1 < len(ids) <= MOST_STRIPES:
            told += "\nstripes: the colours of these ids in turn, as ground truth is drawn while all regions are shown"
        title = Cell(name, told, bold=headline)
        title = replace(title, swatch=swatch)
        values = [self._value(metric, region) for metric in self.shown]
        words = {v.status for v in region.metrics.values()}
        title = replace(title, tone="quiet") if words == {"not_labelled"} else title
        status = Cell(empty_side(region), tone="quiet")
        if words == {"absent"}:
            counted = self._absent_text(region)
            told = "\n".join(f"{m}: {c.why}" for m, c in zip(self.shown, values, strict=True) if c.why)
            values = [replace(c, text=counted if self.is_alone else c.text, why=told) for c in values]
            status = replace(status, text=counted)
        if words == {"not_labelled"} or (words == {"absent"} and self.is_alone):
            n_covered = len(values) + 6
            first, covered = replace(values[0], span=n_covered), replace(values[0], span=0)
            return [title, first, *[covered] * (n_covered - 1)]
        if words == {"absent"} or _has_failed(region):
            values = [replace(value, span=0 if i else len(values)) for i, value in enumerate(values)]
        return [title, *values, *self._volumes(region), status]

    def _absent_text(self, region: RegionScore) -> str:
        """Say what a region that is empty on both sides counts as, metric by metric as their columns stand."""
        found = [(metric, region.metrics[metric].value) for metric in self.shown if metric in region.metrics]
        values = [f"{value:g}" + " mm" * (metric in DISTANCES) for metric, value in found if value is not None]
        return f"absent in both: counts as {', '.join(values)}" if values else "absent in both"

    def _mean(self, metric: str) -> Cell:
        means = replace(self.spec, headline=replace(self.spec.headline, region=MACRO))
        value = headline_value(replace(self.score, case={}), means, metric)
        if value is None or (self.coming and any(_misses(region, metric) for region in self.score.regions.values())):
            return self._blank(metric)
        slanted = bool(by_rule(mean_parts(self.score, metric)))
        return Cell(number_text(metric, value), mean_why(self.score, self.spec, metric), bold=True, italic=slanted)

    def _value(self, metric: str, region: RegionScore) -> Cell:
        value = region.shown(metric)
        if value is None:
            return self._blank(metric)
        of_objects = metric not in KNOWN and value.value is not None
        reason = objects_why(metric, region, self.spec) if of_objects else why(metric, region, self.spec, self.hd95)
        text = metric_text(metric, value)
        if value.status in _WORDS:
            return Cell(text, reason, "error" if value.status == "error" else "quiet", word=True)
        if value.status == "cap":
            short = text if metric in DISTANCES else text.removesuffix(" (spec)")
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


def _has(status: str, region: RegionScore) -> bool:
    """Whether a value of a region has a status."""
    return any(value.status == status for value in region.metrics.values())


def _has_failed(region: RegionScore) -> bool:
    """Whether a region has no number, for one reason."""
    return bool(region.metrics) and {v.status for v in region.metrics.values()} == {"error"}


def _caps(n: int) -> str:
    """Say how many regions carry a cap."""
    return f"{n} cap{'s' * (n > 1)}" if n else ""
