"""Scores of two label maps that are plain arrays: no case, no file, no specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from medotter_viewer.core.scores import MetricValue
from medotter_viewer.core.spec import Hd95Name
from medotter_viewer.engine.choice import get_ready
from medotter_viewer.errors import LabelError, UsageError
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.metrics.region_surfaces import RegionSurfaces
from medotter_viewer.metrics.surface import check_spacing
from medotter_viewer.scoring.empty import empty_value, situation
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import COMMON, DISTANCES, METRICS


def label_scores(
    gt: ArrayLike,
    pred: ArrayLike,
    *,
    spacing: Sequence[float],
    regions: Mapping[str, int | Iterable[int]] | None = None,
    metrics: str | Iterable[str] = COMMON,
    hd95: Hd95Name = "directed_max",
) -> dict[str, dict[str, MetricValue]]:
    """Return dice, iou and hd95 of every label, or of regions, in one call.

    Parameters
    ----------
    gt, pred : array_like of int or bool
        Label maps of one shape; the types may differ. Nothing is broadcast, converted or clipped: what is not such a
        pair is refused.
    spacing : sequence of float
        mm per step along each array axis, in axis order; whatever metrics are asked for.
    regions : mapping of str to int or iterable of int, optional
        Name to the ids whose union is one mask. None takes every id but 0 that occurs on either side, named by its
        number.
    metrics : iterable of {"dice", "iou", "hd95", "hd"}
        What to compute; by default the first three.
    hd95 : {"directed_max", "pooled", "mean", "surfel"}
        Which of the quantities called HD95; ``surfel`` is defined for 2 and 3 axes.

    Returns
    -------
    dict
        Region to metric to `MetricValue`; empty when no id occurs and no region is named. Dice and iou lie in 0..1,
        hd95 and hd are in mm, and none is NaN. A region that is empty in both is ``absent`` (dice and iou 1, distances
        0); empty in one, dice and iou are 0 and distances the image's diagonal, ``cap`` by the rule
        ``image_diagonal``.

    Raises
    ------
    MetricInputError
        If the shapes differ (axes of length 1 included), the ids are not whole numbers by type, there are more than a
        table can hold, or the spacing is not one positive finite number for each axis.
    LabelError
        If an id is negative, or a region lists no ids or something else than ids of 0 or more.
    UsageError
        For an unknown metric or hd95 name.

    Examples
    --------
    >>> scores = label_scores([[1, 1, 2, 0]], [[1, 0, 2, 0]], spacing=(1, 1))
    >>> scores["2"]["dice"], scores["1"]["hd95"]
    (MetricValue(value=1.0, status='ok', rule=None), MetricValue(value=0.95, status='ok', rule=None))
    >>> label_scores([0, 0], [0, 3], spacing=[2.0], metrics=["hd95"])["3"]["hd95"]
    MetricValue(value=4.0, status='cap', rule='image_diagonal')
    """
    names = _metric_names(metrics)
    get_ready()
    ScoreOptions(hd95=hd95)  # refuses unknown names
    gt, pred = np.asarray(gt), np.asarray(pred)
    table = overlap_table(gt, pred)
    steps = check_spacing(spacing, gt.ndim)
    _refuse_negative(table)
    chosen = _all_ids(table) if regions is None else {name: _ids(name, ids) for name, ids in regions.items()}
    diagonal_mm = float(np.linalg.norm(np.multiply(gt.shape, steps)))
    wanted = not set(DISTANCES).isdisjoint(names)
    surfaces = RegionSurfaces(gt, pred, chosen.values(), table.occupied) if wanted else None
    scores: dict[str, dict[str, MetricValue]] = {}
    for region, ids in chosen.items():
        overlap = table.region(ids)
        empty = situation(overlap.gt, overlap.pred)
        values = scores[region] = {}
        for metric in names:
            if empty is not None:
                values[metric] = empty_value(metric, empty, {}, diagonal_mm)
            elif metric == "hd95" and surfaces is not None:
                values[metric] = MetricValue(surfaces.hd95(ids, spacing=spacing, percentile=95.0, variant=hd95))
            elif metric == "hd" and surfaces is not None:
                values[metric] = MetricValue(surfaces.hd(ids, spacing=spacing))
            else:
                values[metric] = MetricValue(overlap.dice if metric == "dice" else overlap.iou)
    return scores


def _metric_names(metrics: str | Iterable[str]) -> tuple[str, ...]:
    names = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    if unknown := [m for m in names if m not in METRICS]:
        raise UsageError(f"metrics: {', '.join(map(str, unknown))} not known for label maps, expected {METRICS}")
    return names


def _refuse_negative(table: OverlapTable) -> None:
    for side, voxels in (("gt", table.gt_voxels()), ("pred", table.pred_voxels())):
        if negative := [i for i in voxels if i < 0]:
            raise LabelError(f"{side}: negative ids {negative[:10]}; ids start at 0 (background)")


def _all_ids(table: OverlapTable) -> dict[str, tuple[int, ...]]:
    return {str(i): (i,) for i in np.union1d(table.gt_ids, table.pred_ids).tolist() if i}


def _ids(name: str, ids: Any) -> tuple[int, ...]:
    """Return the ids of a region, or raise LabelError unless they are whole numbers of 0 or more."""
    try:
        listed = tuple(ids) if isinstance(ids, Iterable) else (ids,)
        whole = tuple(int(i) for i in listed)
    except (TypeError, ValueError, OverflowError):
        listed, whole = (), ()
    if not whole or any(w != i or not 0 <= w < 1 << 63 for w, i in zip(whole, listed, strict=True)):
        raise LabelError(f"region {name!r}: got {ids!r}, expected label ids of 0 or more, at least one")
    return whole
