"""What a structure is worth that is empty in ground truth, prediction or both: the only place that decides."""

from __future__ import annotations

from collections.abc import Mapping

from medotter_viewer.core.reprs import IMAGE_DIAGONAL
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.core.spec import EMPTY_SITUATIONS

BOTH, PRED_EMPTY, GT_EMPTY = EMPTY_SITUATIONS
_PERFECT: Mapping[str, float] = {"dice": 1.0, "iou": 1.0, "hd95": 0.0, "hd": 0.0}
_OVERLAPS = frozenset({"dice", "iou"})


def situation(gt_voxels: int, pred_voxels: int) -> str | None:
    """Return which side is empty, as a key of ``empty_structure``; None when neither is."""
    if gt_voxels and pred_voxels:
        return None
    if gt_voxels:
        return PRED_EMPTY
    return GT_EMPTY if pred_voxels else BOTH


def empty_value(metric: str, where: str, table: Mapping[str, Mapping[str, float]], diagonal_mm: float) -> MetricValue:
    """Return the value of a metric for a structure that is empty somewhere.

    Parameters
    ----------
    metric : {"dice", "iou", "hd95", "hd"}
        Which.
    where : str
        From `situation`.
    table : mapping
        The specification's ``empty_structure``.
    diagonal_mm : float
        Physical diagonal of the grid: what a distance is capped at where the table says nothing.

    Returns
    -------
    MetricValue
        ``absent`` when both are empty (by default dice and iou 1, hd95 and hd 0). With one side empty ``cap`` with the
        table's value and its key as rule; without one an overlap is 0 by its formula (``ok``), and a distance the
        diagonal (``cap``, rule ``image_diagonal``).
    """
    listed = table.get(metric, {}).get(where)
    if where == BOTH:
        return MetricValue(_PERFECT[metric] if listed is None else listed, "absent", BOTH)
    if listed is not None:
        return MetricValue(listed, "cap", where)
    if metric in _OVERLAPS:
        return MetricValue(0.0)
    return MetricValue(diagonal_mm, "cap", IMAGE_DIAGONAL)


def empty_instances(metric: str, where: str, table: Mapping[str, Mapping[str, float]]) -> MetricValue:
    """Return the value of an instance metric (f1, dq, sq, pq, aji, aji_plus) where a mask holds no object.

    Parameters
    ----------
    metric : str
        Which.
    where : str
        From `situation`, of numbers of objects.
    table : mapping
        The specification's ``empty_structure``.

    Returns
    -------
    MetricValue
        ``absent`` when both are empty (by default 1: an empty tile predicted empty is right). With one side empty
        ``cap`` with the table's value and its key as rule, else 0 by the formula (``ok``).
    """
    listed = table.get(metric, {}).get(where)
    if where == BOTH:
        return MetricValue(1.0 if listed is None else listed, "absent", BOTH)
    return MetricValue(0.0) if listed is None else MetricValue(listed, "cap", where)
