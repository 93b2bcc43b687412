"""The files of sample_bundles/lung_scans: three scans of chests in the lung contest's layout, and two models' contours.

Called by make_sample_bundles.py. The expected scores are counted by plain code that shares nothing with the package.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from plain_areas import Ring, Rings, areas, runs
from sample_files import manifest_text, packed, rounded
from sample_scan_files import THICKNESS_MM, dicom_files, png_files

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.phantoms import ChestScan, Tumour, chest_scan, rasterised, roughened, with_blob

NAME = "lung_scans"
SHIFT_MM = 7.0
L_MM = 10.0


@dataclass(frozen=True)
class Plan:
    """One scan: its tumours, and how its files are written."""

    scan_id: str
    seed: int
    tumours: tuple[Tumour, ...]
    centre_world: tuple[float, float, float]
    from_head: bool
    target: str
    contour_folder: str  # "" is DICOM
    contrast: bool

    def make(self) -> ChestScan:
        """Return the scan."""
        return chest_scan(self.seed, self.tumours, centre_world=self.centre_world, from_head=self.from_head)


NECROTIC, SHIFTED, SPLIT = "PHANTOM_LUNG_1", "PHANTOM_LUNG_2", "PHANTOM_LUNG_3"
PLANS = (
    Plan(
        NECROTIC,
        31,
        (Tumour((66, 2, 86), 24, 19, necrosis=0.45, turn=0.4),),
        (4.0, -160.0, -220.0),
        False,
        "radiomics_gtv",
        "contours",
        True,
    ),
    Plan(
        SHIFTED,
        32,
        (Tumour((-84, -30, 92), 17, 15, turn=1.2), Tumour((72, 30, 78), 11, 11, turn=2.0)),
        (-3.0, -150.0, 310.0),
        True,
        "GTV_Primary",
        "contour",
        False,
    ),
    Plan(
        SPLIT, 33, (Tumour((-72, -14, 100), 15, 13, turn=2.6),), (0.0, -171.5, -88.0), True, "radiomics_gtv", "", True
    ),
)
DICT = "radiomics_gtv|GTV_Primary\nlungs|Lung_Both\n"
NAMES = {SHIFTED: {"lungs": "Lung_Both"}}
JUNK_SLICE = 9
VESSEL, VESSEL_SLICES = (-54.0, 190.0), (11, 12, 13, 14)

TASK = """\
task:
  id: lung_scans
  name: Chest phantoms, contours of lung tumours (CT)
  modality: CT
  anatomy: lung
  description: Computer-made scans of chests in the layouts of the lung contest; outlines of tumours are polygons.
canonical_labels:
  radiomics_gtv: [1]
main_region: radiomics_gtv
"""
SPEC = """\
task_type: lung_contour
mode: 3d_contours
segmentation_mode: contour
eval_regions:
  radiomics_gtv: [1]
partial_label: false
main_region: radiomics_gtv
metrics: [scan_score]
lung_contour:
  target: radiomics_gtv
  structure_dict: structure_dict.dat
  overlap: union
  fill_rule: even_odd
  error_length_mm: 10.0
  submission: submission.csv
  seed_locations: phantom_seed_locations.csv
  clinical: phantom_clinical.csv
aggregation:
  unit: scan
  reduce: mean
  scale: 1000000
  headline: {region: radiomics_gtv, metric: scan_score}
prediction_format:
  type: contour_csv
  label_space: [0, 1]
  coordinate_space: patient_mm
  note: one <model>/submission.csv for all scans, or a label map <model>/<scan_id>.nii.gz for each
"""
COVERAGE = """\
# Coverage of lung_scans

| scan | tumours | target is called | slices |
|---|---|---|---|
| PHANTOM_LUNG_1 | 1, dead in its middle | radiomics_gtv | 12 |
| PHANTOM_LUNG_2 | 2 | GTV_Primary | 13 |
| PHANTOM_LUNG_3 | 1 | radiomics_gtv | 8 |

Made by a program from formulas: no patient's data.
"""


def files() -> dict[str, bytes]:
    """Return path and content of every file."""
    found: dict[str, bytes] = {}
    truths: dict[str, Rings] = {}
    mixed: dict[str, Rings] = {}
    masks: dict[str, LabelMap] = {}
    scans: dict[str, ChestScan] = {}
    for plan in PLANS:
        scan = scans[plan.scan_id] = plan.make()
        drawn = structures(plan, scan)
        truths[plan.scan_id] = drawn[plan.target]
        mixed[plan.scan_id] = mixed_rings(plan, scan)
        masks[plan.scan_id] = mask(plan, scan)
        found.update({f"data/{plan.scan_id}/{path}": content for path, content in scan_files(plan, scan, drawn)})
        found[f"predictions/masks/{plan.scan_id}.nii.gz"] = packed(masks[plan.scan_id])
    found["predictions/mixed/submission.csv"] = submission(mixed)
    seeds = [(plan.scan_id, *seed) for plan in PLANS for seed in scans[plan.scan_id].seeds]
    texts = {
        "data/structure_dict.dat": DICT,
        "data/phantom_clinical.csv": "".join(f"{plan.scan_id},{int(plan.contrast)}\n" for plan in PLANS),
        "data/phantom_seed_locations.csv": "".join(f"{i},{n},{x:g},{y:g}\n" for i, n, x, y in seeds),
        "bundle/task.yaml": TASK,
        "bundle/eval_spec.yaml": SPEC,
        "bundle/coverage_report.md": COVERAGE,
        "bundle/manifest_test.json": manifest_text(NAME, {plan.scan_id: entry(plan) for plan in PLANS}),
        "expected.json": expected(
            truths, {"mixed": mixed, "masks": {i: runs(one, scans[i].numbers) for i, one in masks.items()}}
        ),
    }
    found.update({path: text.encode() for path, text in texts.items()})
    return {f"{NAME}/{path}": content for path, content in found.items()}


def scan_files(plan: Plan, scan: ChestScan, drawn: Mapping[str, Rings]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a scan."""
    if not plan.contour_folder:
        yield from dicom_files(scan, drawn, plan.scan_id, plan.target)
        return
    # The first scan stores HU + 1024, the second HU themselves, whose sign is lost in a PNG.
    yield from png_files(scan, drawn, plan.contour_folder, -1024 if plan.scan_id == NECROTIC else 0)


def entry(plan: Plan) -> dict[str, object]:
    """Return what the manifest says of a scan."""
    image, drawn = ("pngs", plan.contour_folder) if plan.contour_folder else ("CT", "RTst")
    paths = {"image": f"{plan.scan_id}/{image}", "seg": f"{plan.scan_id}/{drawn}"}
    known = {"dataset": "PHANTOM_LUNG", "split": "test", "tier": "test", "patient_uid": plan.scan_id}
    return {**known, "series_uid": None, **paths}


# --- what is drawn ---------------------------------------------------------------------------------------------


def structures(plan: Plan, scan: ChestScan) -> dict[str, Rings]:
    """Return the rings of each structure by its name in the scan, with slips of the pen in the second one."""
    renamed = NAMES.get(plan.scan_id, {})
    drawn = {renamed.get(name, name): listed(contours) for name, contours in scan.structures.items()}
    target: Rings = {}
    for tumour in scan.tumours:
        for number, rings in tumour.rings.items():
            target.setdefault(number, []).extend(rings)
    if plan.scan_id == SHIFTED:  # a click without area, and a triangle smaller than a pixel
        target[JUNK_SLICE].append(np.array([(10.0, 140.0), (11.5, 140.0)]))
        target[JUNK_SLICE + 1].append(np.array([(30.0, 150.0), (31.0, 150.0), (30.0, 151.0)]))
    return {plan.target: dict(sorted(target.items())), **drawn}


def listed(contours: ScanContours) -> Rings:
    """Return rings that can be added to."""
    return {number: list(rings) for number, rings in contours.rings.items()}


def mixed_rings(plan: Plan, scan: ChestScan) -> Rings:
    """Return what the model `mixed` draws, each scan wrong in its own way."""
    if plan.scan_id == NECROTIC:
        return {n: [thinned(outer_of(ring)) for ring in rings] for n, rings in scan.tumours[0].rings.items()}
    if plan.scan_id == SHIFTED:
        first, second = scan.tumours
        found = {
            n: [np.add(thinned(ring), (SHIFT_MM, 0.0)).round(2) for ring in rings] for n, rings in first.rings.items()
        }
        lower = sorted(second.rings)[len(second.rings) // 2 :]  # numbered from the head: the half nearer to the feet
        for number in lower:
            found.setdefault(number, []).extend(thinned(ring) for ring in second.rings[number])
        return found
    found = {n: [part for ring in rings for part in halves(ring)] for n, rings in scan.tumours[0].rings.items()}
    for number, ring in vessel().items():
        found.setdefault(number, []).append(ring)
    return found


def outer_of(ring: Ring) -> Ring:
    """Return a ring without its keyhole: what lies between the two visits of the bridge's foot is the hole."""
    seen: dict[tuple[float, ...], int] = {}
    for place, point in enumerate(map(tuple, ring.tolist())):
        if point in seen and place - seen[point] > 4:
            return np.delete(ring, np.s_[seen[point] : place + 1], axis=0)
        seen.setdefault(point, place)
    return ring


def thinned(ring: Ring) -> Ring:
    """Return every second point: corners cut off, so a little too small."""
    return ring[::2]


def halves(ring: Ring, overlap_mm: float = 5.0) -> Iterator[Ring]:
    """Yield the left and the right part of a ring; they share a band in the middle."""
    middle = (ring[:, 0].min() + ring[:, 0].max()) / 2
    for side in (1.0, -1.0):
        yield clipped(ring, side, middle - side * overlap_mm / 2)


def clipped(ring: Ring, side: float, limit: float) -> Ring:
    """Return the part of a ring where ``side * x >= side * limit``."""
    kept: list[tuple[float, float]] = []
    for (ax, ay), (bx, by) in zip(ring.tolist(), np.roll(ring, -1, axis=0).tolist(), strict=True):
        if side * ax >= side * limit:
            kept.append((ax, ay))
        if (side * ax >= side * limit) != (side * bx >= side * limit):
            kept.append((limit, ay + (limit - ax) / (bx - ax) * (by - ay)))
    return np.round(np.array(kept), 2)


def vessel() -> dict[int, Ring]:
    """Return a vessel of the right lung that is taken for a tumour on four slices, a ring of radius 6 mm."""
    angle = 2 * np.pi * np.arange(16) / 16
    ring = np.column_stack([VESSEL[0] + 6 * np.cos(angle), VESSEL[1] + 6 * np.sin(angle)]).round(2)
    return dict.fromkeys(VESSEL_SLICES, ring)


def mask(plan: Plan, scan: ChestScan) -> LabelMap:
    """Return the label map of the model `masks`: rough borders, and something missed or invented."""
    tumours = scan.tumours[:1] if plan.scan_id == SHIFTED else scan.tumours  # the second tumour is missed
    data = np.zeros(scan.image.grid.shape, dtype=np.uint8)
    for tumour in tumours:
        data[rasterised(scan, tumour)] = 1
    rough = roughened(LabelMap(data, scan.image.grid), plan.seed, scale_mm=6.0, part=0.4, axes=(0, 1))
    if plan.scan_id != SPLIT:
        return rough
    place = scan.image.grid.voxel_to_world((33, 40, scan.numbers.index(14)))
    return with_blob(rough, 1, place.tolist(), 8.0)


def submission(model: Mapping[str, Rings]) -> bytes:
    """Return a submission: a polygon on each line."""
    lines = []
    for scan_id, rings in model.items():
        for number, here in sorted(rings.items()):
            lines += [f"{scan_id},{number},{','.join(f'{v:g}' for v in ring.ravel().round(2))}" for ring in here]
    return ("\n".join(lines) + "\n").encode()


# --- expected scores ---------------------------------------------------------------------------------------------


def expected(truths: Mapping[str, Rings], models: Mapping[str, Mapping[str, Rings]]) -> str:
    """Return expected.json."""
    scored: dict[str, object] = {}
    for model, scans in models.items():
        cases = {}
        for scan_id, truth in truths.items():
            pred = scans[scan_id]
            sums = [0.0, 0.0, 0.0]
            for number in sorted({*truth, *pred}):
                for place, area in enumerate(areas(truth.get(number, []), pred.get(number, []))):
                    sums[place] += area * THICKNESS_MM
            tp, fp, fn = sums
            volume = tp + fn
            error = fn * volume / tp + fp
            surface = (36 * math.pi * volume**2) ** (1 / 3)
            score = math.exp(-(error / volume + error / (L_MM * surface)) / 2)
            cases[scan_id] = {"scan_score": score, "tp_mm3": tp, "fp_mm3": fp, "fn_mm3": fn}
        mean = sum(case["scan_score"] for case in cases.values()) / len(cases)
        scored[model] = {"cases": cases, "mean": mean, "points": 1_000_000 * mean}
    definitions = {
        "areas": "union of the rings of a slice, each by the even-odd rule; a label map's are those of its pixels",
        "scan_score": "exp(-(E / T + E / (L A)) / 2), T = TP + FN, E = FN T / TP + FP, A = (36 pi T^2)^(1/3), L = 10",
    }
    content = {"task": NAME, "split": "test", "definitions": definitions, "models": rounded(scored)}
    return json.dumps(content, indent=1) + "\n"
