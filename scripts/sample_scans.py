"""The files of sample_bundles/lung_scans: three scans of chests in the lung contest's layout, and two models' contours.

Called by make_sample_bundles.py. The expected scores are counted by plain code that shares nothing with the package:
strips between all heights at which an edge begins, ends or meets another, in each of which every width is linear.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sample_files import manifest_text, packed, rounded

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.phantoms import ChestScan, Tumour, chest_scan, rasterised, roughened, with_blob

NAME = "lung_scans"
THICKNESS_MM = 3.0
SHIFT_MM = 7.0
L_MM = 10.0

Ring = NDArray[np.float64]
Rings = dict[int, list[Ring]]


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
VESSEL, VESSEL_SLICES = (-52.0, 196.0), (11, 12, 13, 14)

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
        write = dicom_files if not plan.contour_folder else png_files
        found.update({f"data/{plan.scan_id}/{path}": content for path, content in write(plan, scan, drawn)})
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


# --- files of a scan -------------------------------------------------------------------------------------------


def png_files(plan: Plan, scan: ChestScan, drawn: Mapping[str, Rings]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a scan with PNGs."""
    yield "structures.dat", "|".join(drawn).encode() + b"\n"
    # The first scan stores HU + 1024, the second HU themselves, whose sign is lost in a PNG.
    intercept = -1024 if plan.scan_id == NECROTIC else 0
    for index, number in enumerate(scan.numbers):
        stored = (scan.image.data[:, :, index].T.astype(np.int32) - intercept) & 0xFFFF
        yield f"pngs/{number}.png", png(stored.astype(">u2"))
        yield f"auxiliary/{number}.dat", tags(scan, index, intercept).encode()
    for place, rings in enumerate(drawn.values(), 1):
        for number, here in rings.items():
            z = f"{heights(scan)[number]:g}"
            lines = [",".join(f"{x:g},{y:g},{z}" for x, y in ring.round(2)) for ring in here]
            yield f"{plan.contour_folder}/{number}.{place}.dat", ("\n".join(lines) + "\n").encode()


def heights(scan: ChestScan) -> dict[int, float]:
    """Return the z in mm of each slice."""
    grid = scan.image.grid
    return {n: round(float(grid.voxel_to_world((0, 0, i))[2]), 6) for i, n in enumerate(scan.numbers)}


def origin_lps(scan: ChestScan, index: int) -> tuple[float, float, float]:
    """Return the centre of the first pixel of a slice, mm LPS."""
    x, y, z = scan.image.grid.voxel_to_world((0, 0, index)).tolist()
    return round(-x, 6), round(-y, 6), round(z, 6)


def tags(scan: ChestScan, index: int, intercept: int) -> str:
    """Return the DICOM tags of a slice as the contest lists them."""
    columns, rows, _ = scan.image.grid.shape
    step_x, step_y, _ = scan.image.grid.spacing
    values = {
        "0008.0008": "DERIVED,SECONDARY,AXIAL",
        "0008.0060": "CT",
        "0008.0070": "",
        "0018.0050": f"{THICKNESS_MM:g}",
        "0018.0060": "120",
        "0018.5100": "HFS",
        "0020.0032": ",".join(f"{v:g}" for v in origin_lps(scan, index)),
        "0020.0037": "1,0,0,0,1,0",
        "0028.0002": "1",
        "0028.0004": "MONOCHROME2",
        "0028.0010": str(rows),
        "0028.0011": str(columns),
        "0028.0030": f"{step_y:g},{step_x:g}",
        "0028.1052": str(intercept),
        "0028.1053": "1",
        "0028.1054": "HU",
    }
    return "".join(f"({tag}),{value}\n" for tag, value in values.items())


def png(pixels: NDArray[np.uint16]) -> bytes:
    """Return a 16-bit grey PNG; each byte is stored as its difference from the pixel to the left."""
    rows, columns = pixels.shape
    raw = np.ascontiguousarray(pixels).view(np.uint8).reshape(rows, 2 * columns)
    left = np.pad(raw, ((0, 0), (2, 0)))[:, :-2]
    lines = np.concatenate([np.ones((rows, 1), dtype=np.uint8), raw - left], axis=1)
    header = struct.pack(">IIBBBBB", columns, rows, 16, 0, 0, 0, 0)
    content = {b"IHDR": header, b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in content.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def dicom_files(plan: Plan, scan: ChestScan, drawn: Mapping[str, Rings]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a scan with DICOM files."""
    uids = {number: uid(plan, f"image {number}") for number in scan.numbers}
    for index, number in enumerate(scan.numbers):
        yield f"CT/{number:02d}.dcm", stored(ct_slice(plan, scan, index, uids[number]))
    yield "RTst/structures.dcm", stored(structure_set(plan, scan, drawn, uids))


def uid(plan: Plan, what: str) -> str:
    """Return an identifier that is the same in every run."""
    return f"2.25.{int(hashlib.sha256(f'{NAME} {plan.scan_id} {what}'.encode()).hexdigest()[:31], 16)}"


def common(plan: Plan, modality: str, sop_class: str, sop_uid: str, series: str):
    """Return a dataset with what images and structures both have."""
    from pydicom.dataset import Dataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = sop_class, sop_uid
    meta.TransferSyntaxUID = "1.2.840.10008.1.2.1"
    meta.ImplementationClassUID, meta.ImplementationVersionName = uid(plan, "writer"), "PHANTOM"
    one = Dataset()
    one.file_meta = meta
    one.SOPClassUID, one.SOPInstanceUID, one.Modality = sop_class, sop_uid, modality
    one.PatientID = one.PatientName = plan.scan_id
    one.PatientBirthDate = one.PatientSex = one.StudyDate = one.StudyTime = ""
    one.AccessionNumber = one.ReferringPhysicianName = one.Manufacturer = one.StudyID = ""
    one.StudyInstanceUID, one.SeriesInstanceUID = uid(plan, "study"), uid(plan, series)
    one.FrameOfReferenceUID = uid(plan, "frame")
    return one


CT_CLASS, RT_CLASS = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.481.3"


def ct_slice(plan: Plan, scan: ChestScan, index: int, sop_uid: str):
    """Return the image of one slice."""
    one = common(plan, "CT", CT_CLASS, sop_uid, "images")
    columns, rows, _ = scan.image.grid.shape
    step_x, step_y, _ = scan.image.grid.spacing
    one.ImageType = ["DERIVED", "SECONDARY", "AXIAL"]
    one.SeriesNumber, one.InstanceNumber = 1, scan.numbers[index]
    one.PatientPosition, one.KVP, one.SliceThickness = "HFS", "120", f"{THICKNESS_MM:g}"
    one.ImagePositionPatient = [f"{v:g}" for v in origin_lps(scan, index)]
    one.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    one.PixelSpacing = [f"{step_y:g}", f"{step_x:g}"]
    one.SamplesPerPixel, one.PhotometricInterpretation = 1, "MONOCHROME2"
    one.Rows, one.Columns, one.BitsAllocated, one.BitsStored, one.HighBit = rows, columns, 16, 16, 15
    one.PixelRepresentation, one.RescaleIntercept, one.RescaleSlope, one.RescaleType = 0, "-1024", "1", "HU"
    one.PixelData = (scan.image.data[:, :, index].T.astype(np.int32) + 1024).astype("<u2").tobytes()
    return one


def structure_set(plan: Plan, scan: ChestScan, drawn: Mapping[str, Rings], uids: Mapping[int, str]):
    """Return the structures as an RTSTRUCT."""
    from pydicom.dataset import Dataset

    def item(**values: object):
        made = Dataset()
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def referenced(number: int):
        return item(ReferencedSOPClassUID=CT_CLASS, ReferencedSOPInstanceUID=uids[number])

    one = common(plan, "RTSTRUCT", RT_CLASS, uid(plan, "structures"), "drawings")
    one.SeriesNumber, one.InstanceNumber = 2, 1
    one.StructureSetLabel, one.StructureSetDate, one.StructureSetTime = "PHANTOM", "", ""
    series = item(
        SeriesInstanceUID=uid(plan, "images"), ContourImageSequence=[referenced(n) for n in sorted(scan.numbers)]
    )
    study = item(
        ReferencedSOPClassUID="1.2.840.10008.3.1.2.3.1",
        ReferencedSOPInstanceUID=uid(plan, "study"),
        RTReferencedSeriesSequence=[series],
    )
    frame = item(FrameOfReferenceUID=uid(plan, "frame"), RTReferencedStudySequence=[study])
    one.ReferencedFrameOfReferenceSequence = [frame]
    rois, shapes, meanings = [], [], []
    for place, (name, rings) in enumerate(drawn.items(), 1):
        frame_uid = uid(plan, "frame")
        rois.append(
            item(
                ROINumber=place, ReferencedFrameOfReferenceUID=frame_uid, ROIName=name, ROIGenerationAlgorithm="MANUAL"
            )
        )
        contours = [
            item(
                ContourImageSequence=[referenced(number)],
                ContourGeometricType="CLOSED_PLANAR",
                NumberOfContourPoints=len(ring),
                ContourData=[f"{v:g}" for x, y in ring.round(2) for v in (x, y, heights(scan)[number])],
            )
            for number, here in rings.items()
            for ring in here
        ]
        shapes.append(item(ReferencedROINumber=place, ContourSequence=contours))
        meaning = "GTV" if name == plan.target else "ORGAN"
        meanings.append(
            item(ObservationNumber=place, ReferencedROINumber=place, RTROIInterpretedType=meaning, ROIInterpreter="")
        )
    one.StructureSetROISequence, one.ROIContourSequence, one.RTROIObservationsSequence = rois, shapes, meanings
    return one


def stored(dataset) -> bytes:
    """Return a DICOM file."""
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


# --- expected scores, by plain counting ------------------------------------------------------------------------

Point = tuple[float, float]
Edge = tuple[Point, Point]


def runs(labels: LabelMap, numbers: Sequence[int]) -> Rings:
    """Return a label map as rectangles: one for each run of pixels in a row."""
    found: Rings = {}
    columns, rows, slices = labels.data.shape
    step_x, step_y, _ = labels.grid.spacing
    for k in range(slices):
        x0, y0 = (-labels.grid.voxel_to_world((0, 0, k))[:2]).tolist()
        for j in range(rows):
            i = 0
            while i < columns:
                start = i
                while i < columns and labels.data[i, j, k]:
                    i += 1
                if i > start:
                    left, right = x0 + (start - 0.5) * step_x, x0 + (i - 0.5) * step_x
                    top, bottom = y0 + (j - 0.5) * step_y, y0 + (j + 0.5) * step_y
                    box = [(left, top), (right, top), (right, bottom), (left, bottom)]
                    found.setdefault(numbers[k], []).append(np.array(box))
                i += 1
    return found


def edges_of(ring: Ring) -> list[Edge]:
    """Return the edges that are not level."""
    points = [(float(x), float(y)) for x, y in ring]
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return [(a, b) for a, b in pairs if a[1] != b[1]]


def crossing(a: Edge, b: Edge) -> float | None:
    """Return the height at which two edges cross, None where they do not."""
    (ax, ay), (bx, by) = a
    (cx, cy), (dx, dy) = b
    turn = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if turn == 0:
        return None
    t = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / turn
    u = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / turn
    return ay + t * (by - ay) if 0 <= t <= 1 and 0 <= u <= 1 else None


def spans(rings: Iterable[list[Edge]], y: float) -> list[tuple[float, float]]:
    """Return what the rings cover at a height: each by the even-odd rule, then united."""
    found = []
    for edges in rings:
        at = sorted(
            ax + (y - ay) * (bx - ax) / (by - ay) for (ax, ay), (bx, by) in edges if min(ay, by) <= y < max(ay, by)
        )
        found += list(zip(at[::2], at[1::2], strict=True))
    united: list[tuple[float, float]] = []
    for low, high in sorted(found):
        if united and low <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], high))
        else:
            united.append((low, high))
    return united


def areas(gt: Sequence[Ring], pred: Sequence[Ring]) -> tuple[float, float, float]:
    """Return the areas in mm2 that are in both, in the second only, and in the first only."""
    sides = [[edges_of(ring) for ring in rings] for rings in (gt, pred)]
    everything = [edge for side in sides for edges in side for edge in edges]
    cuts = {point[1] for edge in everything for point in edge}
    for i, one in enumerate(everything):
        for other in everything[i + 1 :]:
            y = crossing(one, other)
            if y is not None:
                cuts.add(y)
    both, first, second = [], [], []
    ordered = sorted(cuts)
    for low, high in pairwise(ordered):
        covered = [spans(side, (low + high) / 2) for side in sides]
        widths = [math.fsum(b - a for a, b in side) for side in covered]
        common = math.fsum(max(0.0, min(b, d) - max(a, c)) for a, b in covered[0] for c, d in covered[1])
        both.append(common * (high - low))
        first.append((widths[0] - common) * (high - low))
        second.append((widths[1] - common) * (high - low))
    return math.fsum(both), math.fsum(second), math.fsum(first)


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
