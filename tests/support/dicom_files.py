"""Write small DICOM files with any fault in them: pydicom writes what it is given, and texts go in as they are."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CT, MR, PET = "1.2.840.10008.5.1.4.1.1.2", "1.2.840.10008.5.1.4.1.1.4", "1.2.840.10008.5.1.4.1.1.128"
ENHANCED_CT = "1.2.840.10008.5.1.4.1.1.2.1"
SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7"
EXPLICIT, IMPLICIT = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2"
BIG_ENDIAN, DEFLATED = "1.2.840.10008.1.2.2", "1.2.840.10008.1.2.1.99"
AXIAL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def uid_of(*words: object) -> str:
    """A UID that is always the same for the same words."""
    return "2.25." + str(int.from_bytes(hashlib.sha256(repr(words).encode()).digest()[:12], "big"))


def write_slice(
    path: Path,
    pixels: NDArray[Any],
    *,
    position: Sequence[float] | None = (0.0, 0.0, 0.0),
    orientation: Sequence[float] | None = AXIAL,
    spacing: Sequence[float] | None = (1.0, 1.0),
    number: int | None = 1,
    thickness: float | None = None,
    series: str = "series",
    frame: str | None = "frame of reference",
    sop_uid: str | None = None,
    modality: str = "CT",
    sop_class: str = CT,
    rescale: tuple[float, float] | None = None,
    syntax: str = EXPLICIT,
    preamble: bool = True,
    texts: Mapping[str, str] = {},
    more: Mapping[str, Any] = {},
) -> Path:
    """Write one image.

    Parameters
    ----------
    path : Path
        Where; its folder is made.
    pixels : (rows, columns) or (rows, columns, 3) ndarray of 8, 16 or 32-bit whole numbers
        Stored values.
    position, orientation, spacing
        Image Position and Orientation (Patient), LPS; mm between rows and between columns. None leaves one out.
    number, thickness
        Instance Number, Slice Thickness; None leaves it out.
    series, frame, sop_uid : str
        Words from which UIDs are made (`uid_of`); by default every file has its own SOP Instance UID.
    rescale : (float, float), optional
        Slope and intercept.
    syntax : str
        Transfer syntax; a compressed one is encoded by pydicom.
    preamble : bool
        False writes no preamble, no ``DICM`` and no file meta information.
    texts : mapping of keyword to str
        Numbers written as they stand, whether valid or not, e.g. ``{"PixelSpacing": "0,9\\0,9"}``.
    more : mapping of keyword to value
        Other elements; None removes one.
    """
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = sop_class
    meta.MediaStorageSOPInstanceUID = uid_of("sop", sop_uid or str(path))
    native = {EXPLICIT, IMPLICIT, BIG_ENDIAN, DEFLATED}
    meta.TransferSyntaxUID = syntax if syntax in native else EXPLICIT
    image = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    image.SOPClassUID, image.SOPInstanceUID = sop_class, meta.MediaStorageSOPInstanceUID
    image.SeriesInstanceUID, image.StudyInstanceUID = uid_of("series", series), uid_of("study")
    image.Modality, image.PatientName, image.PatientID = modality, "SECRET^NAME", "SECRET-ID"
    if frame is not None:
        image.FrameOfReferenceUID = uid_of("frame", frame)
    if number is not None:
        image.InstanceNumber = number
    if position is not None:
        image.ImagePositionPatient = [_short(v) for v in position]
    if orientation is not None:
        image.ImageOrientationPatient = [_short(v) for v in orientation]
    if spacing is not None:
        image.PixelSpacing = [_short(v) for v in spacing]
    if thickness is not None:
        image.SliceThickness = _short(thickness)
    if rescale is not None:
        image.RescaleSlope, image.RescaleIntercept = (_short(v) for v in rescale)
    colours = pixels.ndim == 3
    image.Rows, image.Columns = pixels.shape[:2]
    image.SamplesPerPixel = 3 if colours else 1
    image.PhotometricInterpretation = "RGB" if colours else "MONOCHROME2"
    if colours:
        image.PlanarConfiguration = 0
    bits = pixels.dtype.itemsize * 8
    image.BitsAllocated = image.BitsStored = bits
    image.HighBit = bits - 1
    image.PixelRepresentation = int(pixels.dtype.kind == "i")
    order = ">" if syntax == BIG_ENDIAN else "<"
    image.PixelData = pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    image["PixelData"].VR = "OB" if bits == 8 else "OW"
    for keyword, value in more.items():
        if value is None:
            delattr(image, keyword)
        else:
            setattr(image, keyword, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for keyword, text in texts.items():
            _put_text(image, keyword, text)
        if syntax not in native:
            image.compress(syntax, generate_instance_uid=False)
        if preamble:
            pydicom.dcmwrite(path, image, enforce_file_format=False)
        else:
            image.preamble, image.file_meta = None, FileMetaDataset()
            pydicom.dcmwrite(path, image, implicit_vr=syntax == IMPLICIT, little_endian=True)
    return path


def write_series(
    folder: Path,
    pixels: Sequence[NDArray[Any]],
    *,
    step: Sequence[float] = (0.0, 0.0, 1.0),
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    names: Sequence[str] | None = None,
    numbers: Sequence[int | None] | None = None,
    **same: Any,
) -> list[Path]:
    """Write slices at ``origin + index * step`` (mm LPS) and return their files.

    Parameters
    ----------
    folder : Path
        Where; it is made.
    pixels : sequence of (rows, columns) ndarray
        One for each slice.
    names, numbers
        Of the files (by default ``0.dcm``, ``1.dcm``, ...) and Instance Numbers (1, 2, ...).
    **same
        As for `write_slice`, for every slice.
    """
    return [
        write_slice(
            folder / (names[index] if names else f"{index}.dcm"),
            one,
            position=[o + index * s for o, s in zip(origin, step, strict=True)],
            number=numbers[index] if numbers else index + 1,
            **same,
        )
        for index, one in enumerate(pixels)
    ]


def ramp(count: int, shape: tuple[int, int] = (3, 4)) -> list[NDArray[np.int16]]:
    """Slices whose values are their index."""
    return [np.full(shape, index, dtype=np.int16) for index in range(count)]


def _short(value: float) -> str:
    """A decimal string of at most 16 characters."""
    text = f"{float(value):.10g}"
    return text if len(text) <= 16 else f"{float(value):.8g}"


def _put_text(image: Any, keyword: str, text: str) -> None:
    """Write bytes that pydicom would refuse, under the element's own kind."""
    from pydicom.datadict import dictionary_VR, tag_for_keyword
    from pydicom.dataelem import RawDataElement
    from pydicom.tag import Tag

    tag = Tag(tag_for_keyword(keyword))
    raw = text.encode("latin-1")
    raw += b" " * (len(raw) % 2)
    image._dict[tag] = RawDataElement(tag, dictionary_VR(tag), len(raw), raw, 0, False, True)
