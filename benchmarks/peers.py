"""What each peer computes and what this package computes for it, on the same arrays.

A check takes one case and yields (quantity, ours, theirs). Peers are imported inside the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import hovernet_definition
from cases import InstanceCase, MaskCase, instance_cases, mask_cases

from medotter_viewer.metrics.hausdorff import assd, hausdorff, nsd
from medotter_viewer.metrics.instances import aji, aji_plus, detections, match_instances
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.surface_distances import surface_distances
from medotter_viewer.metrics.surfel import surfel_hd

Compared = Iterator[tuple[str, float, float]]


@dataclass(frozen=True)
class Peer:
    """A library, or a definition, whose numbers ours must equal.

    Parameters
    ----------
    name : str
        As people call it.
    package : str or None
        The installed distribution; None for a definition that is part of this folder.
    module : str
        What to import.
    allowed : float
        Largest difference, absolute for numbers up to 1, relative for larger ones.
    cases : callable
        Number of cases to the cases.
    check : callable
        One case to (quantity, ours, theirs).
    """

    name: str
    package: str | None
    module: str
    allowed: float
    cases: Callable[[int], Iterable[Any]]
    check: Callable[[Any], Compared]


def medpy(case: MaskCase) -> Compared:
    """Percentile and mean of both directions' distances pooled."""
    from medpy.metric import binary

    gt, pred, spacing = case
    found = surface_distances(gt, pred, spacing=spacing)
    overlap = overlap_table(gt, pred).region([1])
    yield "dice", overlap.dice, binary.dc(pred, gt)
    yield "iou", overlap.iou, binary.jc(pred, gt)
    yield "hd95 pooled", hausdorff(found, variant="pooled"), binary.hd95(pred, gt, voxelspacing=spacing)
    yield "hd", hausdorff(found, percentile=100), binary.hd(pred, gt, voxelspacing=spacing)
    yield "assd pooled", assd(found), binary.assd(pred, gt, voxelspacing=spacing)
    directions = binary.asd(pred, gt, voxelspacing=spacing), binary.asd(gt, pred, voxelspacing=spacing)
    yield "assd mean", assd(found, variant="mean"), sum(directions) / 2


def monai(case: MaskCase) -> Compared:
    """Larger of the directed percentiles, pooled average, counted surface dice; in float32."""
    import torch
    from monai import metrics

    gt, pred, spacing = case
    found = surface_distances(gt, pred, spacing=spacing)
    y, y_pred = (torch.from_numpy(m[None, None].astype("float32")) for m in (gt, pred))
    options = {"include_background": True, "spacing": list(spacing)}
    hd95 = metrics.compute_hausdorff_distance(y_pred, y, percentile=95, **options)
    yield "hd95 directed_max", hausdorff(found), hd95.item()
    hd = metrics.compute_hausdorff_distance(y_pred, y, **options)
    yield "hd", hausdorff(found, percentile=100), hd.item()
    average = metrics.compute_average_surface_distance(y_pred, y, symmetric=True, **options)
    yield "assd pooled", assd(found), average.item()
    tolerance_mm = 1.2345  # between the distances that occur: theirs are rounded to float32
    share = metrics.compute_surface_dice(y_pred, y, [tolerance_mm], **options)
    yield "nsd", nsd(found, tolerance_mm), share.item()
    yield "dice", overlap_table(gt, pred).region([1]).dice, metrics.compute_dice(y_pred, y).item()


def deepmind(case: MaskCase) -> Compared:
    """Surface elements weighted by area."""
    import surface_distance

    gt, pred, spacing = case
    theirs = surface_distance.compute_surface_distances(gt, pred, spacing_mm=spacing)
    for percentile in (50.0, 95.0, 100.0):
        ours = surfel_hd(gt, pred, spacing=spacing, percentile=percentile)
        yield f"surfel {percentile:g}", ours, surface_distance.compute_robust_hausdorff(theirs, percentile)
    yield "dice", overlap_table(gt, pred).region([1]).dice, surface_distance.compute_dice_coefficient(gt, pred)


def stardist(case: InstanceCase) -> Compared:
    """IoU at or above the threshold, most matches first."""
    from stardist.matching import matching

    gt, pred = case
    overlap = match_instances(gt, pred)
    thresholds = (0.3, 0.5, 0.7, 0.9)
    for ours in detections(overlap, thresholds, inclusive=True):
        theirs = matching(gt, pred, thresh=ours.threshold)
        for name in ("tp", "fp", "fn", "f1"):
            yield f"{name} at {ours.threshold:g}", getattr(ours, name), getattr(theirs, name)
        yield f"pq at {ours.threshold:g}", ours.pq, theirs.panoptic_quality
        yield f"sq at {ours.threshold:g}", ours.sq, theirs.mean_matched_score


def hovernet(case: InstanceCase) -> Compared:
    """IoU above the threshold, and both aggregated Jaccard indices."""
    gt, pred = case
    overlap = match_instances(gt, pred)
    for ours in detections(overlap, (0.3, 0.5, 0.7)):
        theirs = hovernet_definition.scores(gt, pred, ours.threshold)
        for name in ("dq", "sq", "pq"):
            yield f"{name} at {ours.threshold:g}", getattr(ours, name), getattr(theirs, name)
    yield "aji", aji(overlap), theirs.aji
    yield "aji+", aji_plus(overlap), theirs.aji_plus


PEERS = (
    Peer("MedPy", "MedPy", "medpy", 1e-12, mask_cases, medpy),
    Peer("MONAI", "monai", "monai", 1e-4, mask_cases, monai),
    Peer("surface-distance", "surface-distance", "surface_distance", 1e-9, mask_cases, deepmind),
    Peer("StarDist matching", "stardist", "stardist", 1e-6, instance_cases, stardist),  # its IoU is float32
    Peer("HoVer-Net definition", None, "hovernet_definition", 1e-12, instance_cases, hovernet),
)
