"""Dice, IoU, counts and hd95 of every region of a pair of label maps: this package and its peers.

Masks that a peer's interface asks for are made before its time is taken; masks that it makes itself are its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from measuring import Step
from numpy.typing import NDArray
from side import OUR_PACKAGES, OURS, PLAIN, Side, Values
from work import Work


def some(work: Work, parts: int | None) -> Mapping[str, tuple[int, ...]]:
    """Return the regions, or the first few."""
    return dict(islice(work.regions.items(), parts))


def masks(work: Work, parts: int | None) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield region by region its name and both masks, in the memory order of the label maps."""
    for name, ids in some(work, parts).items():
        found = []
        for labels in (work.gt, work.pred):
            lut = np.zeros(256, dtype=np.bool_)
            lut[list(ids)] = True
            found.append(np.take(lut, labels.T).T)
        yield name, found[0], found[1]


def spec_of(work: Work) -> Any:
    from medotter_viewer.core.spec import EvalSpec, Headline

    return EvalSpec("seg", dict(work.regions), ("dice", "iou", "hd95"), Headline("macro_avg", "dice"))


def case_of(work: Work) -> Any:
    from medotter_viewer.core.case import Case, CaseEntry
    from medotter_viewer.core.grid import Grid
    from medotter_viewer.core.labels import LabelMap

    grid = Grid(work.gt.shape, np.diag([*work.spacing, 1.0]))
    return Case(CaseEntry(work.name), gt=LabelMap(work.gt, grid), pred=LabelMap(work.pred, grid))


def our_steps(work: Work, _parts: int | None = None) -> list[Step]:
    """One call, the one of viewer and command line: all regions, all metrics, tp, fp and fn from the counts."""
    from medotter_viewer.scoring.options import ScoreOptions
    from medotter_viewer.scoring.segmentation import score_segmentation

    case, spec, options = case_of(work), spec_of(work), ScoreOptions()
    return [lambda: score_segmentation(case, spec, options)]


def our_values(work: Work, results: list[Any]) -> Values:
    """With the other definitions of hd95, so that every peer finds its own."""
    from medotter_viewer.scoring.arrays import label_scores

    values: Values = {}
    for name, score in results[0].regions.items():
        tp = score.intersection
        counts = {"tp": tp, "fp": score.pred_voxels - tp, "fn": score.gt_voxels - tp}
        numbers = {metric: value.value for metric, value in score.metrics.items()}
        values[name] = {"dice": numbers["dice"], "iou": numbers["iou"], **counts, "hd95 directed_max": numbers["hd95"]}
    for variant in ("pooled", "surfel"):
        more = label_scores(
            work.gt, work.pred, spacing=work.spacing, regions=work.regions, metrics="hd95", hd95=variant
        )
        for name, found in more.items():
            values[name][f"hd95 {variant}"] = found["hd95"].value
    return values


def table_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.metrics.overlap import overlap_table

    def step() -> dict[str, float | None]:
        table = overlap_table(work.gt, work.pred)
        return {name: table.region(ids).dice for name, ids in work.regions.items()}

    return [step]


def merged(_work: Work, results: list[Any]) -> Values:
    """Each step gives one region's name and numbers."""
    return dict(results)


def deepmind_steps(work: Work, parts: int | None) -> Iterator[Step]:
    import surface_distance

    for name, gt, pred in masks(work, parts):

        def step(name: str = name, gt: Any = gt, pred: Any = pred) -> tuple[str, dict[str, float]]:
            found = surface_distance.compute_surface_distances(gt, pred, spacing_mm=work.spacing)
            hd95 = surface_distance.compute_robust_hausdorff(found, 95)
            return name, {"dice": surface_distance.compute_dice_coefficient(gt, pred), "hd95 surfel": float(hd95)}

        yield step


def medpy_steps(work: Work, parts: int | None) -> Iterator[Step]:
    from medpy.metric import binary

    for name, gt, pred in masks(work, parts):

        def step(name: str = name, gt: Any = gt, pred: Any = pred) -> tuple[str, dict[str, float]]:
            hd95 = binary.hd95(pred, gt, voxelspacing=work.spacing)
            return name, {"dice": binary.dc(pred, gt), "iou": binary.jc(pred, gt), "hd95 pooled": float(hd95)}

        yield step


def monai_steps(work: Work, parts: int | None) -> Iterator[Step]:
    """One channel at a time: all of W2 as one-hot tensors would be 2.4 GB."""
    import torch
    from monai import metrics

    for name, gt, pred in masks(work, parts):
        # Batch, channel, and the array as it lies in memory.
        y, y_pred = (torch.from_numpy(mask.T[None, None].view(np.uint8)) for mask in (gt, pred))

        def step(name: str = name, y: Any = y, y_pred: Any = y_pred) -> tuple[str, dict[str, float]]:
            hd95 = metrics.compute_hausdorff_distance(
                y_pred, y, include_background=True, percentile=95, spacing=list(work.spacing[::-1])
            )
            iou = metrics.compute_iou(y_pred, y)
            counts = metrics.get_confusion_matrix(y_pred, y).flatten().tolist()
            numbers = dict(zip(("tp", "fp", "tn", "fn"), counts, strict=True))
            dice = metrics.compute_dice(y_pred, y).item()
            return name, {"dice": dice, "iou": iou.item(), "hd95 directed_max": hd95.item(), **numbers}

        yield step


def mikan_steps(work: Work, parts: int | None) -> list[Step]:
    """As its own evaluator of SimpleITK images does it: arrays z, y, x, spacing x, y, z."""
    import mikan

    if all(len(ids) == 1 for ids in work.regions.values()):
        names = {ids[0]: name for name, ids in some(work, parts).items()}
        gt, pred = work.gt.T, work.pred.T

        def step() -> list[tuple[str, dict[str, float]]]:
            evaluator = mikan.ArrayEvaluator(gt, pred, list(work.spacing))
            return [(names[found["label"]], _mikan(found)) for found in evaluator._get_results([*names], True)]

        return [step]
    steps = []
    for name, gt, pred in masks(work, parts):
        pair = gt.T.view(np.uint8), pred.T.view(np.uint8)

        def one(name: str = name, pair: Any = pair) -> list[tuple[str, dict[str, float]]]:
            evaluator = mikan.ArrayEvaluator(*pair, list(work.spacing))
            return [(name, _mikan(evaluator._get_results([1], True)[0]))]

        steps.append(one)
    return steps


def _mikan(found: Any) -> dict[str, float]:
    numbers = {"dice": found["dice"], "iou": found["jaccard_score"], "hd95 (its own)": found["hausdorff_distance_95"]}
    return {**numbers, **{name: found[name] for name in ("tp", "fp", "fn")}}


def flattened(_work: Work, results: list[Any]) -> Values:
    return dict(pair for result in results for pair in result)


def mesh_steps(work: Work, parts: int | None) -> list[Step]:
    """SimpleITK images, as its documentation shows."""
    import meshmetrics
    import SimpleITK

    def image(array: NDArray[Any]) -> Any:
        made = SimpleITK.GetImageFromArray(array.T)
        made.SetSpacing(work.spacing)
        return made

    options: Any = {"metrics": ["hd", "dsc", "iou"], "percentiles": (95,)}
    if all(len(ids) == 1 for ids in work.regions.values()):
        names = {ids[0]: name for name, ids in some(work, parts).items()}
        gt, pred = image(work.gt), image(work.pred)

        def step() -> list[tuple[str, dict[str, float]]]:
            found = meshmetrics.compute_metrics_multilabel(gt, pred, labels=[*names], **options)
            return [(name, _mesh(found[label])) for label, name in names.items()]

        return [step]
    steps = []
    for name, gt_mask, pred_mask in masks(work, parts):
        pair = image(gt_mask.view(np.uint8)), image(pred_mask.view(np.uint8))

        def one(name: str = name, pair: Any = pair) -> list[tuple[str, dict[str, float]]]:
            return [(name, _mesh(meshmetrics.compute_metrics(*pair, **options)))]

        steps.append(one)
    return steps


def _mesh(found: Any) -> dict[str, float]:
    return {"dice": found["DSC"], "iou": found["IoU"], "hd95 (its own)": found["HD_95"]}


def panoptica_steps(work: Work, _parts: int | None) -> list[Step]:
    """Labels are instances that match by their id; regions that overlap are groups of merged labels."""
    from panoptica import InputType, Panoptica_Evaluator
    from panoptica.metrics import Metric, MetricMode
    from panoptica.utils.label_group import LabelMergeGroup
    from panoptica.utils.segmentation_class import SegmentationClassGroups

    every = MetricMode.ALL
    wanted = {"dice": Metric.DSC, "iou": Metric.IOU, "hd95 pooled": Metric.HD95}
    overlapping = any(len(ids) > 1 for ids in work.regions.values())
    groups = {name: LabelMergeGroup([*ids]) for name, ids in work.regions.items()}
    evaluator = Panoptica_Evaluator(
        expected_input=InputType.MATCHED_INSTANCE,
        segmentation_class_groups=SegmentationClassGroups(groups) if overlapping else None,
        instance_metrics=[*wanted.values()],
        global_metrics=[],
    )

    def step() -> list[tuple[str, dict[str, float]]]:
        found = evaluator.evaluate(work.pred, work.gt, result_all=False, voxelspacing=work.spacing)
        if overlapping:
            return [
                (name, {q: float(found[name.lower()].get_list_metric(m, every)[0]) for q, m in wanted.items()})
                for name in work.regions
            ]
        columns = {q: found["ungrouped"].get_list_metric(m, every) for q, m in wanted.items()}
        return [
            (name, {q: float(column[place]) for q, column in columns.items()})
            for place, name in enumerate(work.regions)
        ]

    return [step]


def histogram_steps(work: Work, _parts: int | None) -> list[Step]:
    import cv2

    n = int(max(work.gt.max(), work.pred.max())) + 1
    pair = [labels.T.reshape(-1, labels.shape[0]) for labels in (work.gt, work.pred)]

    def step() -> dict[str, float]:
        return _dices(cv2.calcHist(pair, [0, 1], None, [n, n], [0, n, 0, n]), work)

    return [step]


def bincount_steps(work: Work, _parts: int | None = None) -> list[Step]:
    n = int(max(work.gt.max(), work.pred.max())) + 1
    g, p = work.gt.ravel(order="K"), work.pred.ravel(order="K")

    def step() -> dict[str, float]:
        return _dices(np.bincount(g * np.uint16(n) + p, minlength=n * n).reshape(n, n), work)

    return [step]


def maximum_steps(work: Work, _parts: int | None) -> list[Step]:
    return [lambda: (work.gt.max(), work.pred.max())]


def no_values(_work: Work, _results: list[Any]) -> Values:
    return {}


def _dices(table: NDArray[Any], work: Work) -> dict[str, float]:
    counts = table.astype(np.float64)
    gt, pred, both = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
    return {name: float(2 * both[i] / (gt[i] + pred[i])) for name, (i,) in work.regions.items()}


def dice_values(_work: Work, results: list[Any]) -> Values:
    return {name: {"dice": value} for name, value in results[0].items()}


EXACT = {"dice": 1e-12, "iou": 1e-12}
SCORES: tuple[Side, ...] = (
    Side(OURS, OUR_PACKAGES, (), our_steps, our_values, engine="compiled"),
    Side(PLAIN, ("medotter-viewer", "scipy"), (), our_steps, our_values, engine="plain"),
    Side(
        "surface-distance",
        ("surface-distance",),
        ("surface_distance",),
        deepmind_steps,
        merged,
        {"dice": 1e-12, "hd95 surfel": 1e-9},
    ),
    Side(
        "panoptica",
        ("panoptica",),
        ("panoptica",),
        panoptica_steps,
        flattened,
        EXACT | {"hd95 pooled": 0.0},
        environment="panoptica",
    ),
    Side(
        "pymeshmetrics",
        ("pymeshmetrics", "vtk"),
        ("meshmetrics",),
        mesh_steps,
        flattened,
        EXACT,
        told={"hd95 (its own)": "hd95 directed_max"},
        remark="its hd95 is measured between meshes",
    ),
    Side(
        "mikan",
        ("mikan-rs",),
        ("mikan",),
        mikan_steps,
        flattened,
        EXACT | {"tp": 0.0, "fp": 0.0, "fn": 0.0},
        told={"hd95 (its own)": "hd95 directed_max"},
        remark="its hd95 is nearest to directed_max",
    ),
    Side(
        "MONAI",
        ("monai", "torch"),
        ("monai", "torch"),
        monai_steps,
        merged,
        {"dice": 1e-6, "iou": 1e-6, "hd95 directed_max": 1e-4, "tp": 0.0},
        told={"fp": "fp", "fn": "fn"},
        parts={"W2": 5, "W3": 5},
        remark="float32: counts and the rank of the percentile, too",
    ),
    Side(
        "MedPy",
        ("MedPy",),
        ("medpy",),
        medpy_steps,
        merged,
        EXACT | {"hd95 pooled": 0.0},
        parts={"W2": 1, "W3": 1},
    ),
)
DICE: tuple[Side, ...] = (
    Side(OURS, OUR_PACKAGES, (), table_steps, dice_values, engine="compiled"),
    Side(PLAIN, ("medotter-viewer", "numpy"), (), table_steps, dice_values, engine="plain"),
    Side("floor: gt.max(), pred.max()", ("numpy",), (), maximum_steps, no_values, remark="no dice: reads both arrays"),
    Side("cv2.calcHist", ("opencv-python-headless",), ("cv2",), histogram_steps, dice_values, {"dice": 1e-12}),
    Side("numpy.bincount", ("numpy",), (), bincount_steps, dice_values, {"dice": 1e-12}),
)
