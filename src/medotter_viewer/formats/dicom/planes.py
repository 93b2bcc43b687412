"""One image plane of a header: where it lies, how large it is, and what it is called in messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.scaling import Scaling, scaling_of
from medotter_viewer.formats.dicom.values import Header

_DIMENSIONS = (
    "TemporalPositionIdentifier", "AcquisitionNumber", "EchoNumbers", "EchoTime", "TriggerTime", "DiffusionBValue",
    "ImageType",
)  # fmt: skip
_SQUARE = 0.01  # how far the direction cosines may be from unit length and a right angle
MAX_SIDE = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A slice, or a frame of a multi-frame image.

    Parameters
    ----------
    header : Header
        Of the file.
    frame : int
        Index of the frame in the file, from 0.
    name : str
        For messages: the file's name, with the frame where there are several.
    size : (int, int, int)
        Rows, columns, samples per pixel.
    spacing_mm : (float, float) or None
        Between rows, between columns; None where the file does not say.
    origin_lps : (3,) ndarray or None
        Centre of the first pixel, mm LPS.
    axes_lps : (2, 3) ndarray or None
        Unit vectors in which the column index and the row index grow, LPS.
    number : int or None
        Instance Number, or the number of the frame.
    thickness_mm, between_mm : float or None
        Slice Thickness, Spacing Between Slices.
    sop_uid, frame_of_reference_uid : str or None
        SOP Instance UID, Frame of Reference UID.
    scaling : Scaling
        How stored values become intensities.
    marks : mapping of str to str or None
        What may tell apart two volumes in one series: phase, echo, b-value.
    """

    header: Header
    frame: int
    name: str
    size: tuple[int, int, int]
    spacing_mm: tuple[float, float] | None
    origin_lps: NDArray[np.float64] | None
    axes_lps: NDArray[np.float64] | None
    number: int | None
    thickness_mm: float | None
    between_mm: float | None
    sop_uid: str | None
    frame_of_reference_uid: str | None
    scaling: Scaling
    marks: Mapping[str, str | None]


def plane_of(header: Header) -> Plane:
    """Return the plane of a single-frame image.

    Raises
    ------
    ReadError
        If a number is malformed, or a position is given without the orientation or spacing that belongs to it.
    """
    origin, axes, spacing = origin_of(header), axes_of(header), spacing_of(header)
    if origin is not None and axes is None:
        raise ReadError(f"{header.place}it has (0020,0032) ImagePositionPatient but no (0020,0037) orientation")
    if origin is not None and spacing is None:
        raise ReadError(f"{header.place}it has (0020,0032) ImagePositionPatient but no (0028,0030) PixelSpacing")
    return Plane(
        header,
        0,
        header.path.name,
        size_of(header),
        spacing,
        origin,
        axes if origin is not None else None,
        tolerant_whole(header, "InstanceNumber"),
        length_of(header, "SliceThickness"),
        length_of(header, "SpacingBetweenSlices"),
        header.text("SOPInstanceUID"),
        header.text("FrameOfReferenceUID"),
        scaling_of(header),
        {keyword: header.text(keyword) for keyword in _DIMENSIONS},
    )


def size_of(header: Header) -> tuple[int, int, int]:
    """Return rows, columns and samples per pixel.

    Raises
    ------
    ReadError
        If one is missing, zero or beyond what an image can have.
    """
    rows, columns = header.whole("Rows"), header.whole("Columns")
    samples = header.whole("SamplesPerPixel") or 1
    if rows is None or columns is None or not (0 < rows <= MAX_SIDE and 0 < columns <= MAX_SIDE):
        raise ReadError(f"{header.place}{rows} rows and {columns} columns, expected two positive numbers")
    if samples not in (1, 3):
        raise ReadError(f"{header.place}{samples} samples per pixel, expected 1 (grey) or 3 (colour)")
    return rows, columns, samples


def spacing_of(header: Header) -> tuple[float, float] | None:
    """Return mm between rows and between columns, None where the file does not say.

    Raises
    ------
    ReadError
        If they are malformed or not positive.
    """
    for keyword in ("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing"):
        found = header.numbers(keyword, 2)
        if found is None:
            continue
        if min(found) <= 0:
            raise ReadError(
                f"{header.place}{keyword} is {found[0]:g}\\{found[1]:g}, expected two positive lengths in mm"
            )
        return found[0], found[1]
    return None


def origin_of(header: Header) -> NDArray[np.float64] | None:
    """Return Image Position (Patient), mm LPS; None where the file has none.

    Raises
    ------
    ReadError
        If it is malformed.
    """
    found = header.numbers("ImagePositionPatient", 3)
    return None if found is None else np.array(found)


def axes_of(header: Header) -> NDArray[np.float64] | None:
    """Return (2, 3) unit vectors along which column and row index grow; None where the file has none.

    Raises
    ------
    ReadError
        If they are malformed, of no length, or not at right angles.
    """
    found = header.numbers("ImageOrientationPatient", 6)
    if found is None:
        return None
    axes = np.array(found).reshape(2, 3)
    lengths = np.linalg.norm(axes, axis=1)
    if np.abs(lengths - 1).max() > _SQUARE or abs(float(axes[0] @ axes[1])) > _SQUARE:
        shown = "\\".join(f"{v:g}" for v in found)
        raise ReadError(
            f"{header.place}(0020,0037) ImageOrientationPatient is {shown}, expected two unit vectors at a right angle"
        )
    return np.asarray(axes / lengths[:, None])


def length_of(header: Header, keyword: str) -> float | None:
    """Return a length in mm that no position depends on; None where it is absent, malformed or not positive."""
    try:
        found = header.number(keyword)
    except ReadError:
        return None
    return abs(found) if found else None


def tolerant_whole(header: Header, keyword: str) -> int | None:
    """Return a number that only names something; None where it is absent or malformed."""
    try:
        return header.whole(keyword)
    except ReadError:
        return None
