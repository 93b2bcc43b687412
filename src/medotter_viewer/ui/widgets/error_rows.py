"""The lines of the table of errors, and of the what-if below it, as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.evaluation.aggregate import headline_value
from medotter_viewer.scoring.error_items import ErrorItem
from medotter_viewer.ui.error_words import LONG, SHORT, label_text, slice_number, volume_text
from medotter_viewer.ui.widgets.cells import Cell, Column

_PLANES = ("axial", "coronal", "sagittal")
_COMING = Cell("…", "being computed", "quiet")


def error_columns(axis: int) -> list[Column]:
    """Return the columns of the list; `axis` is the displayed axis that is looked along."""
    return [
        Column("#", "place in the list, which is ranked by volume; after an edit the order stays", numeric=True),
        Column("kind", "FP invented, FN missed, wrong: another label than the ground truth's"),
        Column("label", "a wrong label is written as ground truth → prediction", stretch=True, least=90),
        Column("volume\n[mm³]", "of the connected piece (voxels that share a face)", numeric=True),
        Column("voxels", numeric=True),
        Column(
            "reach\n[mm]",
            "how far the piece's farthest voxel is from the other side: missed ones from the label in the prediction, "
            "others from the predicted label in the ground truth",
            numeric=True,
        ),
        Column("slice", f"{_PLANES[axis]} slice through the middle of the piece", numeric=True),
    ]


def error_cells(item: ErrorItem, number: int, grid: Grid, axis: int, *, coming: bool, swatch: Any = None) -> list[Cell]:
    """Return the line of an error.

    Parameters
    ----------
    number : int
        Its place in the list, from 1.
    grid : Grid
        Of the label maps.
    axis : int
        Displayed axis that is looked along.
    coming : bool
        Whether distances are still being measured.
    swatch : QColor, optional
        Colour of its kind.
    """
    piece, text = item.piece, label_text(item)
    if piece.farthest_mm is not None:
        reach = Cell(f"{piece.farthest_mm:.1f}", f"{piece.farthest_mm:.2f} mm, at voxel {piece.farthest_voxel}")
    else:
        reach = _COMING if coming and not item.why_no_distance else Cell(NOTHING, item.why_no_distance, "quiet")
    return [
        Cell(str(number), f"number {piece.id} by volume"),
        Cell(SHORT[item.kind], LONG[item.kind], swatch=swatch),
        Cell(text, f"ground truth {item.gt_name}, prediction {item.pred_name}"),
        Cell(volume_text(item.volume_mm3).removesuffix(" mm³"), f"{item.volume_mm3:,.2f} mm³"),
        Cell(f"{piece.voxels:,}"),
        reach,
        Cell(str(slice_number(grid, piece.voxel, axis)), f"voxel {piece.voxel} of the file's array"),
    ]


def without_metrics(score: CaseScore, spec: EvalSpec) -> list[str]:
    """Return the metrics of the what-if's columns: dice, the distances that are scored, and the headline's."""
    there = dict.fromkeys(m for region in score.regions.values() for m in region.metrics)
    wanted: list[str] = [m for m in ("dice", "hd95", "hd") if m in there or m == "hd95"]
    head = spec.headline.metric
    return wanted if head in wanted or head == "iou" else [*wanted, head]


def without_columns(metrics: Iterable[str]) -> list[Column]:
    """Return the columns of the what-if."""
    units = {"hd95": " [mm]", "hd": " [mm]", "d_mean": " [mm]"}
    return [
        Column("without it", stretch=True, least=90),
        *(Column(f"{m}{units.get(m, '')}", "as it is → without the error", numeric=True) for m in metrics),
    ]


def without_rows(
    before: CaseScore, after: CaseScore | None, spec: EvalSpec, metrics: list[str], *, coming: bool
) -> list[list[Cell]]:
    """Return the lines of the what-if: the headline, and every region in which a number changes or may change yet.

    Parameters
    ----------
    before, after : CaseScore
        As the case is, and without the error; None while nothing of it is known.
    spec : EvalSpec
        Names the headline.
    metrics : list of str
        Of the columns.
    coming : bool
        Whether more numbers are on their way.
    """
    head = spec.headline.region
    name = "mean over the scored regions" if head == MACRO else f"headline: {head}"
    rows = [[Cell(name, name, bold=True), *(_of_case(before, after, spec, m, coming=coming) for m in metrics)]]
    for region, values in before.regions.items():
        other = None if after is None else after.regions.get(region)
        if other is None or not any(_differs(values, other, m) for m in metrics):
            continue
        if region == head:
            continue
        rows.append([Cell(region, region), *(_of_region(values, other, m, coming=coming) for m in metrics)])
    return rows


def _of_case(before: CaseScore, after: CaseScore | None, spec: EvalSpec, metric: str, *, coming: bool) -> Cell:
    old = headline_value(before, spec, metric) if _is_whole(before, spec, metric) else None
    new = None if after is None or not _is_whole(after, spec, metric) else headline_value(after, spec, metric)
    if new is None or old is None:
        return _COMING if coming else Cell(NOTHING, tone="quiet")
    return _change(number_text(metric, old), number_text(metric, new), bold=True)


def _is_whole(score: CaseScore, spec: EvalSpec, metric: str) -> bool:
    """Whether nothing of the headline is still to come: a mean over some regions only would mislead."""
    if metric in score.case:
        return True
    names = score.regions if spec.headline.region == MACRO else [spec.headline.region]
    return all(not r.metrics or metric in r.metrics for r in (score.regions[n] for n in names if n in score.regions))


def _differs(one: RegionScore, other: RegionScore, metric: str) -> bool:
    old, new = one.metrics.get(metric), other.metrics.get(metric)
    changed = one.intersection != other.intersection or one.pred_voxels != other.pred_voxels
    return changed if old is None or new is None else old != new


def _of_region(before: RegionScore, after: RegionScore, metric: str, *, coming: bool) -> Cell:
    old, new = before.shown(metric), after.shown(metric)
    if old is None or new is None:
        return _COMING if coming else Cell(NOTHING, tone="quiet")
    return _change(_short(metric, old), _short(metric, new))


def _short(metric: str, value: MetricValue) -> str:
    return metric_text(metric, value).removesuffix(" (spec)")


def _change(old: str, new: str, *, bold: bool = False) -> Cell:
    if old == new:
        return Cell(old, "no change", "quiet", bold=bold)
    return Cell(f"{old} → {new}", f"{old} as it is, {new} without the error", bold=bold)
