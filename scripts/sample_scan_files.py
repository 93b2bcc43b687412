"""One scan in the lung contest's two layouts: PNGs with tags and contours as text, or DICOM CT and RTSTRUCT.

Called by sample_scans.py.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.phantoms import ChestScan

THICKNESS_MM = 3.0

Ring = NDArray[np.float64]
Rings = dict[int, list[Ring]]


def png_files(
    scan: ChestScan, drawn: Mapping[str, Rings], contour_folder: str, intercept: int
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a scan with PNGs; stored values are HU less the intercept, unsigned."""
    yield "structures.dat", "|".join(drawn).encode() + b"\n"
    for index, number in enumerate(scan.numbers):
        stored = (scan.image.data[:, :, index].T.astype(np.int32) - intercept) & 0xFFFF
        yield f"pngs/{number}.png", png(stored.astype(">u2"))
        yield f"auxiliary/{number}.dat", tags(scan, index, intercept).encode()
    for place, rings in enumerate(drawn.values(), 1):
        for number, here in rings.items():
            z = f"{heights(scan)[number]:g}"
            lines = [",".join(f"{x:g},{y:g},{z}" for x, y in ring.round(2)) for ring in here]
            yield f"{contour_folder}/{number}.{place}.dat", ("\n".join(lines) + "\n").encode()


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


def dicom_files(scan: ChestScan, drawn: Mapping[str, Rings], scan_id: str, target: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a scan with DICOM files."""
    uids = {number: uid(scan_id, f"image {number}") for number in scan.numbers}
    for index, number in enumerate(scan.numbers):
        yield f"CT/{number:02d}.dcm", stored(ct_slice(scan_id, scan, index, uids[number]))
    yield "RTst/structures.dcm", stored(structure_set(scan_id, scan, drawn, uids, target))


def uid(scan_id: str, what: str) -> str:
    """Return an identifier that is the same in every run."""
    return f"2.25.{int(hashlib.sha256(f'lung_scans {scan_id} {what}'.encode()).hexdigest()[:31], 16)}"


def common(scan_id: str, modality: str, sop_class: str, sop_uid: str, series: str):
    """Return a dataset with what images and structures both have."""
    from pydicom.dataset import Dataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = sop_class, sop_uid
    meta.TransferSyntaxUID = "1.2.840.10008.1.2.1"
    meta.ImplementationClassUID, meta.ImplementationVersionName = uid(scan_id, "writer"), "PHANTOM"
    one = Dataset()
    one.file_meta = meta
    one.SOPClassUID, one.SOPInstanceUID, one.Modality = sop_class, sop_uid, modality
    one.PatientID = one.PatientName = scan_id
    one.PatientBirthDate = one.PatientSex = one.StudyDate = one.StudyTime = ""
    one.AccessionNumber = one.ReferringPhysicianName = one.Manufacturer = one.StudyID = ""
    one.StudyInstanceUID, one.SeriesInstanceUID = uid(scan_id, "study"), uid(scan_id, series)
    one.FrameOfReferenceUID = uid(scan_id, "frame")
    return one


CT_CLASS, RT_CLASS = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.481.3"


def ct_slice(scan_id: str, scan: ChestScan, index: int, sop_uid: str):
    """Return the image of one slice."""
    one = common(scan_id, "CT", CT_CLASS, sop_uid, "images")
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


def structure_set(scan_id: str, scan: ChestScan, drawn: Mapping[str, Rings], uids: Mapping[int, str], target: str):
    """Return the structures as an RTSTRUCT."""
    from pydicom.dataset import Dataset

    def item(**values: object):
        made = Dataset()
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def referenced(number: int):
        return item(ReferencedSOPClassUID=CT_CLASS, ReferencedSOPInstanceUID=uids[number])

    one = common(scan_id, "RTSTRUCT", RT_CLASS, uid(scan_id, "structures"), "drawings")
    one.SeriesNumber, one.InstanceNumber = 2, 1
    one.StructureSetLabel, one.StructureSetDate, one.StructureSetTime = "PHANTOM", "", ""
    series = item(
        SeriesInstanceUID=uid(scan_id, "images"), ContourImageSequence=[referenced(n) for n in sorted(scan.numbers)]
    )
    study = item(
        ReferencedSOPClassUID="1.2.840.10008.3.1.2.3.1",
        ReferencedSOPInstanceUID=uid(scan_id, "study"),
        RTReferencedSeriesSequence=[series],
    )
    frame = item(FrameOfReferenceUID=uid(scan_id, "frame"), RTReferencedStudySequence=[study])
    one.ReferencedFrameOfReferenceSequence = [frame]
    rois, shapes, meanings = [], [], []
    for place, (name, rings) in enumerate(drawn.items(), 1):
        frame_uid = uid(scan_id, "frame")
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
        meaning = "GTV" if name == target else "ORGAN"
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
