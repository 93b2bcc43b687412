"""The files of sample_bundles/spine_ct: three spines with masks and points, and three models that name them.

Called by make_sample_bundles.py. The expected scores are counted by plain code that shares nothing with the package's
metrics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sample_files import manifest_text, packed, rounded

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.phantoms import SpinePhantom, reoriented, roughened, spine_phantom

NAME = "spine_ct"
LIMIT_MM = 20.0
LABELS = {17: "T10", 18: "T11", 19: "T12", 20: "L1", 21: "L2", 22: "L3", 23: "L4", 24: "L5"}
L2, L3, T12, L5, L6 = 21, 22, 19, 24, 25
REGIONS = {**{name: (label,) for label, name in LABELS.items()}, "lumbar": (20, 21, 22, 23, 24)}
MODELS = ("good", "mixed", "shifted")

Points = dict[int, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """One spine, and how its files are stored: axes of the volumes, axes of the two files of points."""

    case_id: str
    seed: int
    labels: tuple[int, ...]
    axcodes: str
    gt_axes: str
    pred_axes: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The part of the id before the slash."""
        return self.case_id.split("/")[0]

    def make(self) -> SpinePhantom:
        """Return the spine."""
        return spine_phantom(self.seed, self.labels, **self.options)


MISSED, FAR, EXTRA = "PHANTOM_SPINE/001", "PHANTOM_SPINE/002", "PHANTOM_LUMBAR/001"
PLANS = (
    Plan(MISSED, 41, tuple(range(17, 25)), "LAS", "LAS", "LAS", {"centre_world": (3.0, -40.0, 610.0)}),
    Plan(
        FAR,
        42,
        tuple(range(17, 25)),
        "PIR",
        "PIR",
        "RAS",
        {"scoliosis_mm": -16.0, "lordosis_mm": 10.0, "centre_world": (-6.0, -30.0, -420.0)},
    ),
    Plan(
        EXTRA,
        43,
        tuple(range(19, 25)),
        "RAS",
        "PIR",
        "RAS",
        {"scoliosis_mm": 5.0, "lordosis_mm": 15.0, "shape": (48, 64, 96), "centre_world": (0.0, -55.0, 1040.0)},
    ),
)

TASK = """\
task:
  id: spine_ct
  name: Spine phantoms, vertebrae labelled and segmented (CT)
  modality: CT
  anatomy: spine
  description: Computer-made CT volumes of lower spines; labels are VerSe's, points are middles of vertebral bodies.
canonical_labels:
  T10: [17]
  T11: [18]
  T12: [19]
  L1: [20]
  L2: [21]
  L3: [22]
  L4: [23]
  L5: [24]
  lumbar: [20, 21, 22, 23, 24]
main_region: macro_avg
label_remap:
  PHANTOM_SPINE: {17: 17, 18: 18, 19: 19, 20: 20, 21: 21, 22: 22, 23: 23, 24: 24}
  PHANTOM_LUMBAR: {19: 19, 20: 20, 21: 21, 22: 22, 23: 23, 24: 24}
"""
SPEC = """\
task_type: vertebra
mode: 3d_volumetric
segmentation_mode: multi_class
eval_regions:
  T10: [17]
  T11: [18]
  T12: [19]
  L1: [20]
  L2: [21]
  L3: [22]
  L4: [23]
  L5: [24]
  lumbar: [20, 21, 22, 23, 24]
partial_label: true
main_region: macro_avg
metrics: [dice, hd95, id_rate, d_mean]
hd95:
  percentile: 95
  spacing: from_header
  unit: mm
landmarks:
  manifest_key: landmarks
  format: verse_ctd_json
  prediction_suffix: _ctd.json
  unit: mm
  max_distance_mm: 20.0
  candidates: all_gt
  denominator: gt
empty_structure:
  dice: {both_empty: 1.0, gt_nonempty_pred_empty: 0.0, gt_empty_pred_nonempty: 0.0}
  hd95: {both_empty: 0.0, gt_nonempty_pred_empty: 200.0, gt_empty_pred_nonempty: 200.0}
aggregation:
  unit: patient
  reduce: mean
  report_by_region: true
  report_by_dataset: true
  headline: {region: macro_avg, metric: id_rate}
prediction_format:
  type: nifti
  label_space: [0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28]
  coordinate_space: input_volume_grid
  note: mask <model>/<case_id>.nii.gz and points <model>/<case_id>_ctd.json
"""
COVERAGE = """\
# Coverage of spine_ct

| case | labelled | not labelled |
|---|---|---|
| PHANTOM_SPINE/001 | T10 to L5 | T9, cut off by the image |
| PHANTOM_SPINE/002 | T10 to L5 | T9, cut off by the image |
| PHANTOM_LUMBAR/001 | T12 to L5 | T11, cut off by the image |

Made by a program from formulas: no patient's data.
"""


def files() -> dict[str, bytes]:
    """Return path and content of every file."""
    found: dict[str, bytes] = {}
    scored: dict[str, dict[str, Any]] = {model: {} for model in MODELS}
    for plan in PLANS:
        for path, content, of_case in case_files(plan):
            found[path] = content
            for model, values in of_case.items():
                scored[model][plan.case_id] = values
    texts = {
        "bundle/task.yaml": TASK,
        "bundle/eval_spec.yaml": SPEC,
        "bundle/coverage_report.md": COVERAGE,
        "bundle/manifest_test.json": manifest_text(NAME, {plan.case_id: entry(plan) for plan in PLANS}),
        "expected.json": expected_text(scored),
    }
    found.update({path: text.encode() for path, text in texts.items()})
    return {f"{NAME}/{path}": content for path, content in found.items()}


def entry(plan: Plan) -> dict[str, Any]:
    """Return what the manifest says of a case."""
    stem = plan.case_id.replace("/", "_")
    patient = f"{plan.dataset[8:]}-P{plan.case_id[-1]}"
    known = {"dataset": plan.dataset, "split": "test", "tier": "test", "patient_uid": patient, "series_uid": None}
    paths = {"image": f"images/{stem}.nii.gz", "seg": f"labels/{stem}.nii.gz", "landmarks": f"points/{stem}_ctd.json"}
    return {**known, **paths}


def case_files(plan: Plan) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Yield path and content of the files of a case, and with a model's points what it scores."""
    spine = plan.make()
    truth, grid = spine.phantom.labels, spine.phantom.labels.grid
    points = {label: np.array(point) for label, point in spine.points.points_world.items()}
    paths = entry(plan)
    yield f"data/{paths['image']}", packed(reoriented(spine.phantom.image, plan.axcodes)), {}
    yield f"data/{paths['seg']}", packed(reoriented(truth, plan.axcodes)), {}
    yield f"data/{paths['landmarks']}", centroids(points, grid, plan.gt_axes), {}
    for model in MODELS:
        mask, found = prediction(plan, model, truth, points)
        yield f"predictions/{model}/{plan.case_id}.nii.gz", packed(reoriented(mask, plan.axcodes)), {}
        values = {"regions": dice(plan, truth.data, mask.data), **point_scores(points, found)}
        yield f"predictions/{model}/{plan.case_id}_ctd.json", centroids(found, grid, plan.pred_axes), {model: values}


def prediction(plan: Plan, model: str, truth: LabelMap, points: Points) -> tuple[LabelMap, Points]:
    """Return what a model says of a case: borders rough, points a few mm off, and what is wrong with it besides."""
    mask = roughened(truth, plan.seed + 100, scale_mm=8.0, part=0.5)
    rng = np.random.default_rng([plan.seed, 7])
    found = {label: snapped(point + rng.uniform(-2, 2, 3), truth.grid) for label, point in points.items()}
    if model == "shifted":
        up = np.where(mask.data > 0, mask.data - 1, 0).astype(mask.data.dtype)
        return replace(mask, data=up), {label - 1: point for label, point in found.items()}
    if model == "good":
        return mask, found
    data = mask.data.copy()
    if plan.case_id == MISSED:
        data[data == L2] = 0
        del found[L2]
        # 19 mm towards the vertebra that was missed: nearer to it than to its own, within the limit.
        towards = points[L2] - points[L3]
        found[L3] = snapped(points[L3] + 19 * towards / np.linalg.norm(towards), truth.grid)
    elif plan.case_id == FAR:
        found[T12] = snapped(points[T12] + (0.0, 25.0, 0.0), truth.grid)
    else:
        sacrum = points[L5] + (0.0, -4.0, -36.0)
        found[L6] = snapped(sacrum, truth.grid)
        index = np.moveaxis(np.indices(data.shape), 0, -1)
        near = np.linalg.norm(truth.grid.voxel_to_world(index) - sacrum, axis=-1) < 14
        data[near & (data == 0)] = L6
    return replace(mask, data=data), found


def snapped(point: np.ndarray, grid: Grid) -> np.ndarray:
    """Return a point on hundredths of a voxel, which the files hold exactly."""
    return grid.voxel_to_world(np.round(grid.world_to_voxel(point), 2))


def centroids(points: Points, grid: Grid, axes: str) -> bytes:
    """Return VerSe's JSON: voxels along the axes of the image turned as `axes` says."""
    turned = reoriented(LabelMap(np.zeros(grid.shape, dtype=np.uint8), grid), axes).grid
    content: list[dict[str, Any]] = [{"direction": list(axes)}]
    for label in sorted(points):
        x, y, z = (round(float(v), 2) + 0.0 for v in turned.world_to_voxel(points[label]))
        content.append({"label": label, "X": x, "Y": y, "Z": z})
    return (json.dumps(content) + "\n").encode()


# --- expected scores, by plain counting ------------------------------------------------------------------------


def dice(plan: Plan, truth: np.ndarray, pred: np.ndarray) -> dict[str, Any]:
    """Return voxel counts and dice of each region that the dataset labels."""
    found: dict[str, Any] = {}
    for name, ids in REGIONS.items():
        if not set(ids) <= set(plan.labels):
            found[name] = {"status": "not_labelled"}
            continue
        a, b = np.isin(truth, ids), np.isin(pred, ids)
        n_gt, n_pred, both = int(a.sum()), int(b.sum()), int((a & b).sum())
        found[name] = {"gt": n_gt, "pred": n_pred, "intersection": both, "dice": 2 * both / (n_gt + n_pred)}
    return found


def point_scores(gt: Points, pred: Points) -> dict[str, Any]:
    """Return rates, distances, and which vertebrae are missing, extra or no hit."""
    common = [label for label in gt if label in pred]
    distance = {label: math.dist(gt[label], pred[label]) for label in common}
    hits = {"all_gt": [], "common": []}
    for label in common:
        by_rule = {"all_gt": list(gt), "common": common}
        for rule, competing in by_rule.items():
            nearest = min(competing, key=lambda other: math.dist(gt[other], pred[label]))
            near = distance[label] < LIMIT_MM if rule == "all_gt" else distance[label] <= LIMIT_MM
            if nearest == label and near:
                hits[rule].append(label)
    return {
        "id_rate": len(hits["all_gt"]) / len(gt),
        "id_rate_all_gt": len(hits["all_gt"]) / len(gt),
        "id_rate_official": len(hits["common"]) / len(gt),
        "d_mean": sum(distance.values()) / len(distance),
        "n_missing": len(gt) - len(common),
        "n_extra": len(pred) - len(common),
        "no_hit": {rule: [label for label in gt if label not in labels] for rule, labels in hits.items()},
    }


def expected_text(scored: Mapping[str, Mapping[str, Any]]) -> str:
    """Return expected.json."""
    models = {}
    for model, cases in scored.items():
        means = {
            name: sum(case[name] for case in cases.values()) / len(cases)
            for name in ("id_rate", "id_rate_official", "d_mean")
        }
        models[model] = {"cases": cases, "mean": means}
    definitions = {
        "id_rate": "hits over vertebrae of the ground truth; all_gt: nearest of all its points and < 20 mm; official: "
        "nearest of the points on both sides and <= 20 mm",
        "d_mean": "mm, mean over the vertebrae on both sides",
        "mean": "over the cases, each of which is one patient",
    }
    return (
        json.dumps({"task": NAME, "split": "test", "definitions": definitions, "models": rounded(models)}, indent=1)
        + "\n"
    )
