"""Write sample_bundles/: small benchmark bundles made of phantoms, with predictions that are wrong on purpose.

    python scripts/make_sample_bundles.py            write everything again
    python scripts/make_sample_bundles.py --check    only tell whether the files on disk are what would be written

Every run gives the same bytes. The expected scores are counted here by plain code of its own: the package's metrics
are not imported, so that the two can be held against each other.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sample_scans
import sample_spines
from sample_files import manifest_of, packed, rounded

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.phantoms import (
    Phantom,
    brain_phantom,
    mirrored,
    removed,
    reoriented,
    roughened,
    shifted,
    swapped,
    torso_phantom,
    with_blob,
)

ROOT = Path(__file__).resolve().parent.parent / "sample_bundles"
IN_PLANE = (0, 1)  # an annotator draws slice by slice, and so does our model's error

Make = Callable[[], Phantom]
Wrong = Callable[[LabelMap], LabelMap]


@dataclass(frozen=True)
class Sample:
    """One case: how it is made, how its files are stored, and what each model says of it."""

    case_id: str
    make: Make
    axcodes: str
    patient_uid: str | None
    tier: str
    predictions: Mapping[str, Wrong]
    split: str = "test"

    @property
    def dataset(self) -> str:
        """The part of the id before the slash."""
        return self.case_id.split("/")[0]


@dataclass(frozen=True)
class BundlePlan:
    """Everything that is written for one bundle."""

    name: str
    samples: tuple[Sample, ...]
    models: tuple[str, ...]
    native: Mapping[str, Mapping[int, int]] | None
    regions: Mapping[str, tuple[int, ...]]
    penalty_mm: float
    spacing_mm: tuple[float, ...] | None
    headline: str
    task_yaml: str
    eval_spec_yaml: str


# --- torso_ct --------------------------------------------------------------------------------------------------

# native id -> canonical id. A: a chain (5->4, 4->7, 7->5) and a swap (2<->3), which only a look-up in one step gets
# right; native 9, the vena cava, is not listed and drops. B annotates four organs only.
TORSO_REMAP = {
    "PHANTOM_A": {11: 1, 3: 2, 2: 3, 5: 4, 7: 5, 6: 6, 4: 7},
    "PHANTOM_B": {2: 1, 4: 2, 1: 4, 3: 6},
}
VENA_CAVA, VENA_CAVA_NATIVE = 8, 9

TORSO_TASK = """\
task:
  id: torso_ct
  name: Torso phantom, organs of the upper abdomen (CT)
  modality: CT
  anatomy: abdomen
  description: Computer-made CT volumes with known organs. Two made-up datasets with ids of their own, the second of
    which annotates only four organs.
canonical_labels:
  spleen: [1]
  kidney_right: [2]
  kidney_left: [3]
  kidneys: [2, 3]
  liver: [4]
  stomach: [5]
  aorta: [6]
  gallbladder: [7]
main_region: macro_avg
label_remap:
  PHANTOM_A:
    11: 1
    3: 2
    2: 3
    5: 4
    7: 5
    6: 6
    4: 7
    note: native 9 (inferior vena cava) is not listed and becomes background; 5 -> 4 while 4 -> 7
  PHANTOM_B:
    2: 1
    4: 2
    1: 4
    3: 6
    note: only spleen, right kidney, liver and aorta are annotated
"""

TORSO_SPEC = """\
task_type: seg
mode: 3d_volumetric
segmentation_mode: multi_class
eval_regions:
  spleen: [1]
  kidney_right: [2]
  kidney_left: [3]
  kidneys: [2, 3]
  liver: [4]
  stomach: [5]
  aorta: [6]
  gallbladder: [7]
partial_label: true
main_region: macro_avg
metrics: [dice, iou, hd95]
hd95:
  percentile: 95
  spacing: from_header
  unit: mm
empty_structure:
  dice: {both_empty: 1.0, gt_nonempty_pred_empty: 0.0, gt_empty_pred_nonempty: 0.0}
  iou: {both_empty: 1.0, gt_nonempty_pred_empty: 0.0, gt_empty_pred_nonempty: 0.0}
  hd95: {both_empty: 0.0, gt_nonempty_pred_empty: 400.0, gt_empty_pred_nonempty: 400.0}
aggregation:
  unit: patient
  reduce: mean
  report_by_organ: true
  report_by_dataset: true
  headline: {region: macro_avg, metric: dice}
prediction_format:
  type: nifti
  label_space: [0, 1, 2, 3, 4, 5, 6, 7]
  coordinate_space: input_volume_grid
  note: canonical ids; one file per case, <model>/<case_id>.nii.gz
"""


def rough(seed: int) -> Wrong:
    """Errors of one voxel along the borders."""
    return lambda truth: roughened(truth, seed, part=0.6, axes=IN_PLANE)


def torso(seed: int, **options: Any) -> Make:
    """A torso of 352 x 282 x 280 mm, unless said otherwise."""
    return lambda: torso_phantom(seed, **options)


def far_liver(truth: LabelMap) -> LabelMap:
    """No spleen, and a ball of liver in the left lower abdomen."""
    middle = truth.grid.voxel_to_world([(n - 1) / 2 for n in truth.grid.shape])
    return with_blob(removed(rough(104)(truth), 1), 4, np.add(middle, (-70.0, 5.0, -95.0)).tolist(), 30.0)


SMALLER = {"shape": (144, 112, 60), "spacing": (2.4, 2.4, 4.5)}
TORSO = BundlePlan(
    name="torso_ct",
    samples=(
        Sample(
            "PHANTOM_A/0001",
            torso(11, centre_world=(2.0, -165.0, 820.0)),
            "RAS",
            "A-P1",
            "test",
            {"mixed": rough(101), "good": rough(201)},
        ),
        Sample(
            "PHANTOM_A/0002",
            torso(11, scan=1, centre_world=(-4.0, -171.0, 64.0)),
            "LPS",
            "A-P1",
            "test",
            {"mixed": lambda truth: swapped(rough(102)(truth), 2, 3), "good": rough(202)},
        ),
        Sample(
            "PHANTOM_A/0003",
            torso(12, centre_world=(0.0, -160.0, -310.0), without=("gallbladder",)),
            "PIR",
            "A-P2",
            "test",
            {"mixed": lambda truth: shifted(rough(103)(truth), (3, 0, 0), 4), "good": rough(203)},
        ),
        Sample(
            "PHANTOM_B/0001",
            torso(13, centre_world=(6.0, -148.0, 1210.0), **SMALLER),
            "LPS",
            "B-P1",
            "near_ood",
            {"mixed": far_liver, "good": rough(204)},
        ),
        Sample(
            "PHANTOM_B/0002",
            torso(14, centre_world=(-3.0, -152.0, 1195.0), **SMALLER),
            "LAS",
            None,
            "near_ood",
            {"mixed": lambda truth: mirrored(rough(105)(truth))},
        ),
        Sample(
            "PHANTOM_A/0004",
            torso(15, shape=(88, 70, 36), spacing=(4.0, 4.0, 7.5)),
            "RAS",
            "A-P3",
            "train",
            {},
            "train",
        ),
    ),
    models=("mixed", "good"),
    native=TORSO_REMAP,
    regions={
        "spleen": (1,),
        "kidney_right": (2,),
        "kidney_left": (3,),
        "kidneys": (2, 3),
        "liver": (4,),
        "stomach": (5,),
        "aorta": (6,),
        "gallbladder": (7,),
    },
    penalty_mm=400.0,
    spacing_mm=None,
    headline="macro_avg",
    task_yaml=TORSO_TASK,
    eval_spec_yaml=TORSO_SPEC,
)

# --- glioma_mr -------------------------------------------------------------------------------------------------

GLIOMA_TASK = """\
# label_remap is in list form: documentary. The files are in canonical ids already.
task:
  id: glioma_mr
  name: Glioma phantom, nested tumour regions (MR in four channels)
  modality: MRI
  anatomy: brain
  description: Computer-made brains with a tumour on one side. Label 1 is the necrotic core, 2 the oedema, 3 the
    enhancing tumour.
canonical_labels:
  WT: [1, 2, 3]
  TC: [1, 3]
  ET: [3]
main_region: WT
label_remap:
  PHANTOM_GLIOMA:
    native: [1, 2, 4]
    to: [1, 2, 3]
"""

GLIOMA_SPEC = """\
task_type: seg
mode: 3d_volumetric
segmentation_mode: multi_class
eval_regions:
  WT: [1, 2, 3]
  TC: [1, 3]
  ET: [3]
partial_label: false
main_region: WT
metrics: [dice, iou, hd95]
hd95:
  percentile: 95
  spacing: [1.8, 1.8, 1.8]
  unit: mm
empty_structure:
  dice: {both_empty: 1.0, gt_nonempty_pred_empty: 0.0, gt_empty_pred_nonempty: 0.0}
  iou: {both_empty: 1.0, gt_nonempty_pred_empty: 0.0, gt_empty_pred_nonempty: 0.0}
  hd95: {both_empty: 0.0, gt_nonempty_pred_empty: 300.0, gt_empty_pred_nonempty: 300.0}
aggregation:
  unit: patient
  reduce: mean
  report_by_region: true
  headline: {region: WT, metric: dice}
prediction_format:
  type: nifti
  label_space: [0, 1, 2, 3]
  coordinate_space: input_volume_grid
  note: canonical ids; one file per case, <model>/<case_id>.nii.gz
"""

GLIOMA = BundlePlan(
    name="glioma_mr",
    samples=(
        Sample(
            "PHANTOM_GLIOMA/001",
            lambda: brain_phantom(21, side="left", centre_world=(1.0, -18.0, 12.0)),
            "LPS",
            "G-P1",
            "test",
            {"mixed": lambda truth: removed(roughened(truth, 301), 3, into=1)},
        ),
        Sample(
            "PHANTOM_GLIOMA/002",
            lambda: brain_phantom(22, side="right", centre_world=(-2.0, -22.0, 5.0)),
            "RAS",
            "G-P2",
            "test",
            {"mixed": lambda truth: swapped(roughened(truth, 302), 1, 3)},
        ),
    ),
    models=("mixed",),
    native=None,
    regions={"WT": (1, 2, 3), "TC": (1, 3), "ET": (3,)},
    penalty_mm=300.0,
    spacing_mm=(1.8, 1.8, 1.8),
    headline="WT",
    task_yaml=GLIOMA_TASK,
    eval_spec_yaml=GLIOMA_SPEC,
)

PLANS = (TORSO, GLIOMA)

# --- files -----------------------------------------------------------------------------------------------------


def native_labels(plan: BundlePlan, sample: Sample, truth: LabelMap) -> LabelMap:
    """Return the truth in the ids of the sample's dataset."""
    if plan.native is None:
        return truth
    data = np.zeros_like(truth.data)
    for native, canonical in plan.native[sample.dataset].items():
        data[truth.data == canonical] = native
    if sample.dataset == "PHANTOM_A":
        data[truth.data == VENA_CAVA] = VENA_CAVA_NATIVE
    return LabelMap(data, truth.grid)


def data_paths(sample: Sample, channels: list[str]) -> tuple[dict[str, str], str]:
    """Return the paths of channels and labels under data/."""
    stem = sample.case_id.replace("/", "_")
    images = {name: f"images/{stem}.nii.gz" if name == "image" else f"images/{stem}_{name}.nii.gz" for name in channels}
    return images, f"labels/{stem}.nii.gz"


def case_files(plan: BundlePlan, sample: Sample) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of images, labels and predictions of one case."""
    phantom = sample.make()
    images, labels = data_paths(sample, list(phantom.channels))
    for name, volume in phantom.channels.items():
        yield f"{plan.name}/data/{images[name]}", packed(reoriented(volume, sample.axcodes))
    truth = native_labels(plan, sample, phantom.labels)
    yield f"{plan.name}/data/{labels}", packed(reoriented(truth, sample.axcodes))
    canonical = removed(phantom.labels, VENA_CAVA)
    for model, wrong in sample.predictions.items():
        pred = reoriented(wrong(canonical), sample.axcodes)
        yield f"{plan.name}/predictions/{model}/{sample.case_id}.nii.gz", packed(pred)


def manifest(plan: BundlePlan) -> dict[str, Any]:
    """Return manifest_test.json."""
    per_case = {}
    for sample in plan.samples:
        channels = ["image"] if plan is TORSO else ["t1", "t1c", "t2", "flair"]
        images, labels = data_paths(sample, channels)
        per_case[sample.case_id] = {
            "dataset": sample.dataset,
            "split": sample.split,
            "tier": sample.tier,
            "patient_uid": sample.patient_uid,
            "series_uid": None,
            **({"image": images["image"]} if channels == ["image"] else {"chan": images}),
            "seg": labels,
        }
    return manifest_of(plan.name, per_case)


def coverage_report(plan: BundlePlan, written: Mapping[str, bytes]) -> str:
    """Return coverage_report.md: what is annotated where."""
    lines = [
        f"# Coverage of {plan.name}",
        "",
        "Voxels of each region in the ground truth after the label remap; `-` where the",
    ]
    lines += ["dataset does not annotate the region.", "", "| case | split | " + " | ".join(plan.regions) + " |"]
    lines.append("|---|---|" + "---:|" * len(plan.regions))
    for sample in plan.samples:
        gt, _ = read_truth(plan, sample, written)
        cells = [str(count(gt, ids)) if labelled(plan, sample, ids) else "-" for ids in plan.regions.values()]
        lines.append(f"| {sample.case_id} | {sample.split} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "Made by a program from formulas: no patient's data.", ""])


# --- expected scores, by plain counting ------------------------------------------------------------------------


def unpacked(content: bytes) -> tuple[np.ndarray, tuple[float, ...]]:
    """Return voxels and spacing per array axis of a file."""
    import nibabel

    nifti = nibabel.Nifti1Image.from_bytes(gzip.decompress(content))
    return np.asarray(nifti.dataobj), tuple(float(z) for z in nifti.header.get_zooms())


def read_truth(plan: BundlePlan, sample: Sample, written: Mapping[str, bytes]) -> tuple[np.ndarray, tuple[float, ...]]:
    """Return the ground truth in canonical ids, and the spacing."""
    native, spacing = unpacked(written[f"{plan.name}/data/{data_paths(sample, [])[1]}"])
    if plan.native is None:
        return native, spacing
    canonical = np.zeros_like(native)
    for voxel_id, target in plan.native[sample.dataset].items():
        canonical[native == voxel_id] = target
    return canonical, spacing


def labelled(plan: BundlePlan, sample: Sample, ids: tuple[int, ...]) -> bool:
    """Tell whether the dataset annotates every id of a region."""
    return plan.native is None or all(i in plan.native[sample.dataset].values() for i in ids)


def mask_of(data: np.ndarray, ids: tuple[int, ...]) -> np.ndarray:
    """Return the voxels that hold one of the ids."""
    mask = np.zeros(data.shape, dtype=bool)
    for i in ids:
        mask |= data == i
    return mask


def count(data: np.ndarray, ids: tuple[int, ...]) -> int:
    """Return how many voxels hold one of the ids."""
    return int(mask_of(data, ids).sum())


def boundary_mm(mask: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    """Return the positions in mm of voxels with a background neighbour across a face; outside is background."""
    padded = np.pad(mask, 1)
    points = []
    for i, j, k in np.argwhere(padded):
        for di, dj, dk in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
            if not padded[i + di, j + dj, k + dk]:
                points.append((i * spacing[0], j * spacing[1], k * spacing[2]))
                break
    return np.array(points)


def percentile95(distances: np.ndarray) -> float:
    """Return the 95th percentile, linear between order statistics."""
    ordered = sorted(float(d) for d in distances)
    place = 0.95 * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def hd95(gt: np.ndarray, pred: np.ndarray, spacing: tuple[float, ...]) -> dict[str, float]:
    """Return the three ways to combine the two directions."""
    from scipy.spatial import cKDTree

    gt_points, pred_points = boundary_mm(gt, spacing), boundary_mm(pred, spacing)
    to_pred = cKDTree(pred_points).query(gt_points)[0]
    to_gt = cKDTree(gt_points).query(pred_points)[0]
    first, second = percentile95(to_pred), percentile95(to_gt)
    return {
        "directed_max": max(first, second),
        "pooled": percentile95(np.concatenate([to_pred, to_gt])),
        "mean": (first + second) / 2,
    }


def region_scores(
    plan: BundlePlan, gt: np.ndarray, pred: np.ndarray, spacing: tuple[float, ...], ids: tuple[int, ...]
) -> dict[str, Any]:
    """Return counts, status and metrics of one region."""
    a, b = mask_of(gt, ids), mask_of(pred, ids)
    n_gt, n_pred, both = int(a.sum()), int(b.sum()), int((a & b).sum())
    counts = {"gt": n_gt, "pred": n_pred, "intersection": both}
    if n_gt == 0 and n_pred == 0:
        same = dict.fromkeys(HD95_NAMES, 0.0)
        return {"status": "absent", **counts, "dice": 1.0, "iou": 1.0, "hd95": same}
    if n_gt == 0 or n_pred == 0:
        worst = dict.fromkeys(HD95_NAMES, plan.penalty_mm)
        return {"status": "cap", **counts, "dice": 0.0, "iou": 0.0, "hd95": worst}
    dice, iou = 2 * both / (n_gt + n_pred), both / (n_gt + n_pred - both)
    return {"status": "ok", **counts, "dice": dice, "iou": iou, "hd95": hd95(a, b, spacing)}


HD95_NAMES = ("directed_max", "pooled", "mean")
METRICS = {"dice": ("dice",), "iou": ("iou",), **{f"hd95_{name}": ("hd95", name) for name in HD95_NAMES}}


def looked_up(scores: Mapping[str, Any], path: tuple[str, ...]) -> float:
    """Return the number at a path of keys."""
    value: Any = scores
    for key in path:
        value = value[key]
    return float(value)


def averaged(plan: BundlePlan, cases: Mapping[str, Any]) -> dict[str, Any]:
    """Return by_region (cases within a patient first, then patients), and the mean over regions."""
    by_region: dict[str, Any] = {}
    for region in plan.regions:
        by_region[region] = {}
        for metric, path in METRICS.items():
            patients: dict[str, list[float]] = {}
            for case_id, case in cases.items():
                if case["status"] == "scored" and case["regions"][region]["status"] != "not_labelled":
                    unit = case["patient_uid"] or f"case {case_id}"
                    patients.setdefault(unit, []).append(looked_up(case["regions"][region], path))
            means = [sum(values) / len(values) for values in patients.values()]
            by_region[region][metric] = {"value": sum(means) / len(means) if means else None, "n": len(means)}
    macro = {}
    for metric in METRICS:
        values = [by_region[r][metric]["value"] for r in plan.regions if by_region[r][metric]["n"]]
        macro[metric] = {"value": sum(values) / len(values), "n": len(values)}
    chosen = macro if plan.headline == "macro_avg" else by_region[plan.headline]
    headline = {"region": plan.headline, "metric": "dice", **chosen["dice"]}
    return {"by_region": by_region, "macro": macro, "headline": headline}


def expected(plan: BundlePlan, written: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the scores of every model on the test split."""
    models = {}
    for model in plan.models:
        cases: dict[str, Any] = {}
        for sample in plan.samples:
            if sample.split != "test":
                continue
            gt, spacing = read_truth(plan, sample, written)
            entry = {"dataset": sample.dataset, "patient_uid": sample.patient_uid}
            path = f"{plan.name}/predictions/{model}/{sample.case_id}.nii.gz"
            if path not in written:
                cases[sample.case_id] = {"status": "missing_prediction", **entry}
                continue
            pred, _ = unpacked(written[path])
            regions = {
                name: region_scores(plan, gt, pred, plan.spacing_mm or spacing, ids)
                if labelled(plan, sample, ids)
                else {"status": "not_labelled"}
                for name, ids in plan.regions.items()
            }
            cases[sample.case_id] = {"status": "scored", **entry, "regions": regions}
        complete = all(case["status"] == "scored" for case in cases.values())
        models[model] = {"complete": complete, "cases": cases, "aggregate": averaged(plan, cases)}
    definitions = {
        "boundary": "voxels with a background neighbour across a face; outside the volume is background",
        "percentile": "95, linear between order statistics, in mm",
        "unit": "patient: mean over the cases of one patient, then over patients",
        "macro": "mean of the region means over all regions, unions included",
        "absent": "empty in gt and pred: dice 1, iou 1, hd95 0",
        "cap": f"empty on one side: dice 0, iou 0, hd95 {plan.penalty_mm:g}",
        "not_labelled": "the dataset does not annotate the region: no number, in no mean",
    }
    return {"task": plan.name, "split": "test", "definitions": definitions, "models": rounded(models)}


def bundle_files(plan: BundlePlan) -> dict[str, bytes]:
    """Return path and content of every file of a bundle."""
    files: dict[str, bytes] = {}
    for sample in plan.samples:
        files.update(case_files(plan, sample))
    texts = {
        "bundle/manifest_test.json": json.dumps(manifest(plan), indent=2) + "\n",
        "bundle/task.yaml": plan.task_yaml,
        "bundle/eval_spec.yaml": plan.eval_spec_yaml,
        "bundle/coverage_report.md": coverage_report(plan, files),
        "expected.json": json.dumps(expected(plan, files), indent=1) + "\n",
    }
    files.update({f"{plan.name}/{path}": text.encode() for path, text in texts.items()})
    return files


def main() -> int:
    """Write the bundles, or compare them with what would be written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument("--only", choices=list(BUNDLES), help="one bundle only")
    options = parser.parse_args()
    different = 0
    for name, make in BUNDLES.items():
        if options.only not in (None, name):
            continue
        files = make()
        for path, content in files.items():
            target = ROOT / path
            if target.is_file() and target.read_bytes() == content:
                continue
            different += 1
            print(f"{'differs' if options.check else 'written'}: {path} ({len(content)} bytes)")
            if not options.check:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        print(f"{name}: {len(files)} files, {sum(map(len, files.values())) / 1e6:.2f} MB")
    return 1 if options.check and different else 0


BUNDLES: Mapping[str, Callable[[], dict[str, bytes]]] = {
    **{plan.name: partial(bundle_files, plan) for plan in PLANS},
    sample_scans.NAME: sample_scans.files,
    sample_spines.NAME: sample_spines.files,
}

if __name__ == "__main__":
    sys.exit(main())
