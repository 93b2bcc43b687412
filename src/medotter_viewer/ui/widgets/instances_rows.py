"""What the dock of instances says: cells, numbers and reasons as text. No Qt but colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.metrics.instances.table import MatchKind
from medotter_viewer.scoring.instance_matches import COLUMNS, InstanceMatches, MatchRow
from medotter_viewer.scoring.instance_matches import Column as SortColumn
from medotter_viewer.ui.widgets.cells import Cell, Column

KIND_NAMES: Mapping[MatchKind, str] = {
    "tp": "match",
    "fn": "missed",
    "split": "split",
    "fp": "invented",
    "merge": "merge",
}
_COUNTED = {"tp": "TP", "fn": "FN", "split": "FN", "fp": "FP", "merge": "FP"}
_WHY = {
    "kind": "what became of the object at this threshold; click to sort",
    "gt": "id in ground truth; in grey the object of highest IoU, without being a match",
    "pred": "id in the prediction; in grey the object of highest IoU, without being a match",
    "iou": "intersection over union of the two",
    "gt_area": "size of the object in ground truth",
    "pred_area": "size of the predicted object",
    "loss": "what the line costs of AJI, in hundredths: all lines sum to 100 (1 - AJI)",
}
_SUMMARY = ("f1", "pq", "sq", "tp", "fp", "fn")
SUMMARY_COLUMNS = (
    Column("", "an object matches where the IoU is above this", stretch=True, least=60),
    Column("F1", "TP / (TP + FP/2 + FN/2), also called DQ", numeric=True),
    Column("PQ", "panoptic quality: SQ times F1", numeric=True),
    Column("SQ", "mean IoU of the matches", numeric=True),
    Column("TP", "matches", numeric=True),
    Column("FP", "predicted objects without a match; merges are among them", numeric=True),
    Column("FN", "ground-truth objects without a match; splits are among them", numeric=True),
)


def columns(sorted_by: SortColumn | None, *, descending: bool, unit: str) -> list[Column]:
    """Return the columns of the table; the one it is sorted by is marked.

    Parameters
    ----------
    sorted_by : str or None
        Column of `COLUMNS`.
    descending : bool
        Which way.
    unit : str
        Of sizes: ``px``, ``voxels`` or ``mm³``.
    """
    names = {
        "kind": "",
        "gt": "gt",
        "pred": "pred",
        "iou": "IoU",
        "gt_area": f"gt\n[{unit}]",
        "pred_area": f"pred\n[{unit}]",
        "loss": "AJI loss\n[1/100]",
    }
    mark = " ▼" if descending else " ▲"
    found = []
    for column in COLUMNS:
        first, *rest = names[column].split("\n")
        header = "\n".join([first + mark * (column == sorted_by), *rest]).strip(" ")
        found.append(
            Column(
                header, _WHY[column], numeric=column != "kind", stretch=column == "kind", least=60 * (column == "kind")
            )
        )
    return found


def cells(row: MatchRow, union: int, *, swatch: Any, voxel_mm3: float | None) -> list[Cell]:
    """Return the line of an object or of a matching pair.

    Parameters
    ----------
    row : MatchRow
        The line.
    union : int
        What losses are parts of, in voxels.
    swatch : QColor
        Of what became of it.
    voxel_mm3 : float or None
        Size of a voxel; None counts pixels.
    """
    quiet_gt, quiet_pred = not row.is_match and not row.is_of_gt, not row.is_match and row.is_of_gt
    gt_ids = row.others if row.kind == "merge" else (row.gt_id,)
    pred_ids = row.others if row.kind == "split" else (row.pred_id,)
    return [
        Cell(kind_text(row), kind_reason(row), swatch=swatch),
        _ids(gt_ids, quiet=quiet_gt),
        _ids(pred_ids, quiet=quiet_pred),
        Cell(f"{row.iou:.3f}", tone="plain" if row.is_match else "quiet"),
        _size(row.gt_area, voxel_mm3, quiet=quiet_gt),
        _size(row.pred_area, voxel_mm3, quiet=quiet_pred),
        Cell(f"{100 * row.share:.2f}", loss_reason(row, union), tone="plain" if row.loss else "quiet"),
    ]


def kind_text(row: MatchRow) -> str:
    """Return what an object is called."""
    if row.detail in ("merged", "fragment"):
        return row.detail
    return KIND_NAMES[row.kind] + f" + {row.detail}" * bool(row.detail)


def kind_reason(row: MatchRow) -> str:
    """Return why an object is what it is called."""
    ids = ", ".join(map(str, row.others))
    if row.kind == "tp":
        more = {
            "merge": f"; the prediction holds more than half of each of the ground-truth objects {ids}",
            "split": f"; more than half of each of the predictions {ids} lies in it",
        }.get(row.detail, "")
        return f"TP: ground truth {row.gt_id} and prediction {row.pred_id} match{more}"
    if row.kind == "merge":
        return f"FP: prediction {row.pred_id} holds more than half of each of the ground-truth objects {ids}"
    if row.kind == "split":
        return f"FN: ground truth {row.gt_id} holds more than half of each of the predictions {ids}"
    side, other, partner = (
        ("ground truth", "prediction", row.pred_id) if row.kind == "fn" else ("prediction", "ground truth", row.gt_id)
    )
    own = row.gt_id if row.kind == "fn" else row.pred_id
    near = f"its best, {other} {partner}, has IoU {row.iou:.3f}" if partner is not None else f"no {other} overlaps it"
    more = {
        "merged": "; most of it lies in that prediction, as of another object",
        "fragment": "; most of it lies in that object, as of another prediction",
    }.get(row.detail, "")
    return f"{_COUNTED[row.kind]}: {side} {own} has no match; {near}{more}"


def loss_reason(row: MatchRow, union: int) -> str:
    """Return where the loss of a line comes from, in voxels."""
    if not row.loss:
        words = "the loss is counted with the ground-truth objects that take this prediction"
        return "exact: both have the same voxels" if row.is_of_gt else words
    if row.is_of_gt and row.pred_id is not None:
        what = f"voxels in ground truth {row.gt_id} or in the prediction it takes, but not in both"
    else:
        what = "voxels of an object that nothing takes"
    return f"{row.loss} of {union} ({row.loss / max(union, 1):.5f}): {what}; {union} are all that count in AJI"


def summary_cells(title: str, values: Mapping[str, MetricValue], *, bold: bool) -> list[Cell]:
    """Return the scores at one threshold as a line."""
    return [Cell(title, bold=bold), *(_number(metric, values[metric], bold=bold) for metric in _SUMMARY)]


def summary_titles(threshold: float, spec_threshold: float) -> list[str]:
    """Return what the lines of scores are called: one at the specification's threshold, else two.

    Examples
    --------
    >>> summary_titles(0.5, 0.5), summary_titles(0.7, 0.5)
    (['IoU > 0.5 (spec)'], ['IoU > 0.7', 'IoU > 0.5 (spec)'])
    """
    spec = f"IoU > {spec_threshold:g} (spec)"
    return [spec] if threshold == spec_threshold else [f"IoU > {threshold:g}", spec]


def whole_text(found: InstanceMatches) -> str:
    """Return what no threshold changes, and how many objects are merged or split."""
    values, overlap = found.values(), found.matcher.overlap
    parts = [f"AJI {metric_text('aji', values['aji'])}", f"AJI+ {metric_text('aji_plus', values['aji_plus'])}"]
    parts += [f"{overlap.n_gt} gt, {overlap.n_pred} predicted"]
    merges, splits = (int((n > 1).sum()) for n in (found.matcher.n_covers, found.matcher.n_parts))
    parts += [f"{merges} merge{'s' * (merges != 1)}, {splits} split{'s' * (splits != 1)}"]
    return " · ".join(parts)


def _ids(ids: Sequence[int | None], *, quiet: bool) -> Cell:
    there = [i for i in ids if i is not None]
    if not there:
        return Cell(NOTHING, "nothing overlaps it", "quiet")
    more = f" +{len(there) - 2}" if len(there) > 2 else ""
    text = ", ".join(map(str, there[:2])) + more
    return Cell(text, ", ".join(map(str, there)) if more else "", "quiet" if quiet else "plain")


def _size(voxels: int | None, voxel_mm3: float | None, *, quiet: bool) -> Cell:
    if voxels is None:
        return Cell(NOTHING, tone="quiet")
    tone: Any = "quiet" if quiet else "plain"
    if voxel_mm3 is None:
        return Cell(str(voxels), tone=tone)
    volume = voxels * voxel_mm3
    return Cell(f"{volume:.4g}" if volume < 1000 else f"{volume:.0f}", f"{voxels} voxels", tone)


def _number(metric: str, value: MetricValue, *, bold: bool) -> Cell:
    if value.status == "ok":
        return Cell(number_text(metric, value.value), bold=bold)
    return Cell(number_text(metric, value.value), metric_text(metric, value), "quiet", italic=True)
