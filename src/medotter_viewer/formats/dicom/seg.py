"""DICOM SEG files: named segments that may overlap, as frames of their own (BINARY) or as ids (LABELMAP).

Read with pydicom alone: highdicom would need another package for what are a dozen elements, and refuses files that
lack what no mask depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.segments import Segment, SegmentPainter, Segments
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.cielab import to_rgb
from medotter_viewer.formats.dicom.decoding import bits_of, frame_count, stored_frames
from medotter_viewer.formats.dicom.files import kind_of, read_header
from medotter_viewer.formats.dicom.seg_layout import FrameLayout, frame_layout
from medotter_viewer.formats.dicom.values import Header, parsing

NAME = "dicom_seg"

_KEYWORDS = (
    "SpecificCharacterSet", "SOPClassUID", "Modality", "SegmentationType", "MaximumFractionalValue", "SegmentSequence",
    "FrameOfReferenceUID", "SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration", "NumberOfFrames",
    "Rows", "Columns", "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation",
    "SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence",
)  # fmt: skip


def read_segments(path: Path) -> tuple[Segments, list[Finding]]:
    """Return the segments of a DICOM SEG on the grid of its frames, and what was noticed.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    segments : Segments
        On a grid from the first to the last slice that has a frame: writers leave empty ones out.
    findings : list of Finding
        Frames of segments that the file does not describe, slices at uneven distances.

    Raises
    ------
    ReadError
        If the file is no SEG, is damaged, or holds fractions: a fractional file is taken only where every voxel is 0
        or the maximum, because no threshold is right for all.
    """
    header = read_header(path, _KEYWORDS, with_pixels=True)
    if kind_of(header) != "seg":
        raise ReadError(f"{path}: not a DICOM segmentation, but {header.text('Modality') or 'DICOM of another kind'}")
    kind = (header.text("SegmentationType") or "").upper()
    if kind not in ("BINARY", "LABELMAP", "FRACTIONAL"):
        raise ReadError(f"{path}: SegmentationType is {kind or 'missing'}, expected BINARY or LABELMAP")
    layout, findings = frame_layout(header)
    listed = _listed(header)
    painter = SegmentPainter(layout.grid)
    paint = _paint_ids if kind == "LABELMAP" else _paint_masks
    used = paint(header, layout, painter, kind)
    for number in sorted(used - listed.keys()):
        listed[number] = Segment(number, f"Segment {number}")
        message = f"frames of segment {number}, which the file does not describe"
        findings.append(Finding("warning", "segment-not-listed", message, file=str(path)))
    if kind == "FRACTIONAL":
        message = "a fractional segmentation whose voxels are all 0 or the maximum: read as a mask"
        findings.append(Finding("info", "fractional-segments", message, file=str(path)))
    segments = painter.segments(listed.values())
    return replace(segments, frame_of_reference_uid=header.text("FrameOfReferenceUID")), findings


def _listed(header: Header) -> dict[int, Segment]:
    """Segments that the file describes; 0, which a label map may describe too, is background."""
    found: dict[int, Segment] = {}
    for item in header.items("SegmentSequence", "segment"):
        number = item.whole("SegmentNumber")
        if number is None:
            raise ReadError(f"{item.place}no Segment Number: nothing says which frames are its own")
        if number in found:
            raise ReadError(f"{item.place}segment number {number} stands twice, expected a number for each segment")
        if number:
            found[number] = Segment(number, item.words("SegmentLabel") or f"Segment {number}", _color(item))
    return found


def _color(item: Header) -> tuple[int, int, int] | None:
    try:
        stored = item.numbers("RecommendedDisplayCIELabValue", 3)
    except ReadError:
        return None  # only a colour
    return None if stored is None else to_rgb(stored)


def _paint_masks(header: Header, layout: FrameLayout, painter: SegmentPainter, kind: str) -> set[int]:
    """One segment a frame; the numbers that occur."""
    most = (header.whole("MaximumFractionalValue") or 255) if kind == "FRACTIONAL" else 1
    used: set[int] = set()
    for frame, pixels in enumerate(_frames(header, layout)):
        number = layout.numbers[frame]
        if number is None:
            raise ReadError(f"{header.path}: frame {frame + 1} does not say of which segment it is")
        used.add(number)
        mask = pixels != 0
        if kind == "FRACTIONAL" and (other := pixels[mask & (pixels != most)]).size:
            raise ReadError(
                f"{header.path}: a fractional segmentation: frame {frame + 1} holds {int(other[0])} of {most}, a part "
                "of a voxel or a probability, expected a mask; choose a threshold, e.g. 0.5, and save it as BINARY"
            )
        painter.add(number, mask.T[:, :, None], _slice(layout, frame))
    return used


def _paint_ids(header: Header, layout: FrameLayout, painter: SegmentPainter, _kind: str) -> set[int]:
    """Ids in every frame; those that occur."""
    used: set[int] = set()
    for frame, pixels in enumerate(_frames(header, layout)):
        for number in np.unique(pixels).tolist():
            if number:
                used.add(number)
                painter.add(number, (pixels == number).T[:, :, None], _slice(layout, frame))
    return used


def _slice(layout: FrameLayout, frame: int) -> tuple[slice, slice, slice]:
    k = int(layout.slices[frame])
    return slice(None), slice(None), slice(k, k + 1)


def _frames(header: Header, layout: FrameLayout) -> Iterator[NDArray[Any]]:
    """(rows, columns) of one frame after the other, as stored."""
    told = frame_count(header)
    if told != len(layout.slices):
        raise ReadError(f"{header.path}: {told} frames, but {len(layout.slices)} are described; export it again")
    if not header.has("PixelData"):
        raise ReadError(f"{header.path}: no pixel data; the file is incomplete")
    if bits_of(header).allocated == 1 and _is_packed(header):
        yield from _unpacked(header, layout)
    else:
        yield from stored_frames(header)


def _is_packed(header: Header) -> bool:
    """Whether bits stand in the file as they are, the first of a byte lowest."""
    from pydicom.uid import UID

    meta = getattr(header.dataset, "file_meta", None)
    syntax = None if meta is None else Header(header.path, meta).text("TransferSyntaxUID")
    with parsing(header.path):
        return bool(header.dataset.original_encoding[1]) and not (syntax and UID(syntax).is_encapsulated)


def _unpacked(header: Header, layout: FrameLayout) -> Iterator[NDArray[np.uint8]]:
    """Frames of one bit a pixel: they follow each other without a gap, also within a byte, which pydicom mistakes."""
    columns, rows, _ = layout.grid.shape
    size, data = rows * columns, np.frombuffer(header.data("PixelData"), dtype=np.uint8)
    needed = (size * len(layout.slices) + 7) // 8
    if len(data) < needed:
        raise ReadError(f"{header.path}: truncated: {len(data)} of {needed} bytes of pixels; copy it again")
    for frame in range(len(layout.slices)):
        first = frame * size
        some = np.unpackbits(data[first // 8 : (first + size + 7) // 8], bitorder="little")
        yield some[first % 8 : first % 8 + size].reshape(rows, columns)
