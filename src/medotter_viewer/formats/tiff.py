"""Decode TIFF pixels as they are stored: one picture, or pages of one size as the slices of a volume."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError

MAGICS = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
_PALETTE = 3  # photometric interpretation
_LISTED, _LONGEST = 3, 150  # remarks of the decoder that are passed on, and their letters


def read_shape(path: Path) -> tuple[int, ...]:
    """Return the shape of the slices, rows and columns of a TIFF file, without its colour axis."""
    with _remarks(), _series(path) as series:
        return tuple(n for n, axis in zip(series.shape, series.axes, strict=True) if axis != "S")


def decode(path: Path, *, as_labels: bool) -> tuple[NDArray[Any], bool, list[Finding]]:
    """Return values with two or three axes or colours with one more, whether they are colours, and what was noticed.

    Parameters
    ----------
    path : Path
        A TIFF file.
    as_labels : bool
        Stored values, the index for a palette; colours and channels are refused.

    Raises
    ------
    ReadError
        If the file is damaged, or holds pictures of several sizes or several channels.
    LabelError
        If labels are asked of colours.
    """
    notes: list[Finding] = []
    with _remarks() as remarks, _series(path) as series:
        samples = series.shape[series.axes.index("S")] if "S" in series.axes else 1
        if as_labels and samples > 1:
            raise LabelError(
                f"{path}: TIFF with {samples} channels of colour or alpha: these are no label ids; write label maps "
                "with one value for each pixel"
            )
        page = series.keyframe
        data: NDArray[Any] = _values(series, path)
        if samples > 1:
            data = np.moveaxis(data, series.axes.index("S"), -1)
        if not as_labels and int(page.photometric) == _PALETTE and page.colormap is not None:
            data, samples = np.moveaxis(np.asarray(page.colormap), 0, -1)[data], 3
            message = "palette TIFF: shown in the palette's colours; as a label map the stored index counts"
            notes.append(Finding("info", "palette-image", message, file=str(path)))
    if remarks:
        listed = "; ".join(one[:_LONGEST] for one in remarks[:_LISTED])
        more = f", and {len(remarks) - _LISTED} more" if len(remarks) > _LISTED else ""
        message = f"damaged or unusual tags, read as far as they make sense: {listed}{more}; look at the picture"
        notes.append(Finding("warning", "unusual-tiff", message, file=str(path)))
    if samples == 1:
        return data, False, notes
    if samples < 3:
        message = "transparent pixels are shown in their stored grey: alpha is left out"
        return data[..., 0], False, [*notes, Finding("info", "alpha-left-out", message, file=str(path))]
    if samples > 4:
        raise ReadError(f"{path}: TIFF with {samples} channels, expected one, or red, green and blue")
    if samples == 4:
        message = "a fourth channel beside red, green and blue is left out"
        notes.append(Finding("info", "alpha-left-out", message, file=str(path)))
    if data.dtype == np.uint16:
        data = (data >> 8).astype(np.uint8)
        notes.append(Finding("info", "reduced-depth", "16-bit colours are shown with 8 bits", file=str(path)))
    elif data.dtype != np.uint8:
        raise ReadError(f"{path}: colours of type {data.dtype}, expected 8 or 16 bits for each channel")
    return data[..., :3], True, notes


class _Remarks(logging.Handler):
    """Keeps what the decoder logs in this thread, each once; without it Python prints that on standard error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        message = " ".join(record.getMessage().split())
        if record.thread == self._thread and message not in self.messages:
            self.messages.append(message)


@contextmanager
def _remarks() -> Iterator[list[str]]:
    """What the decoder remarks about a file while it is read."""
    handler = _Remarks()
    logger = logging.getLogger("tifffile")
    logger.addHandler(handler)
    try:
        yield handler.messages
    finally:
        logger.removeHandler(handler)


@contextmanager
def _series(path: Path) -> Iterator[Any]:
    """Open the one picture or stack of a file; what the decoder makes of a damaged one becomes a ReadError."""
    from tifffile import TiffFile

    _refuse_loops(path)
    try:
        # An OME-TIFF may name further files, which would be opened: only this one is.
        with TiffFile(path, _multifile=False) as tiff:
            if len(tiff.series) != 1:
                shapes = ", ".join(str(tuple(one.shape)) for one in tiff.series[:4]) or "none"
                raise ReadError(f"{path}: TIFF with {len(tiff.series)} different pictures ({shapes}), expected one")
            series = tiff.series[0]
            if "C" in series.axes:
                raise ReadError(
                    f"{path}: TIFF with {series.shape[series.axes.index('C')]} channels (axes {series.axes}); store "
                    "one file for each channel"
                )
            yield series
    except MedotterViewerError:
        raise
    except Exception as error:  # tags and offsets of a damaged file fail anywhere in the decoder
        raise ReadError(f"{path}: damaged or unusual TIFF: {error}") from error


def _refuse_loops(path: Path) -> None:
    """Refuse a file whose list of pages comes back to one it had: the decoder would follow it for minutes."""
    with path.open("rb") as file:
        start = file.read(16)
        order: Literal["little", "big"] = "little" if start[:2] == b"II" else "big"
        is_big = start[2:4] in (b"+\0", b"\0+")
        size, count_size, entry_size = (8, 8, 20) if is_big else (4, 2, 12)
        place = int.from_bytes(start[8:16] if is_big else start[4:8], order)
        seen: set[int] = set()
        while place:
            if place in seen:
                raise ReadError(f"{path}: damaged TIFF: its list of pages runs in a circle; write it anew")
            seen.add(place)
            file.seek(min(place, 1 << 62))
            count = int.from_bytes(file.read(count_size), order)
            file.seek(min(place + count_size + count * entry_size, 1 << 62))
            place = int.from_bytes(file.read(size), order)


def _values(series: Any, path: Path) -> NDArray[Any]:
    """Stored values; by Pillow (libtiff) where the compression, for instance LZW, needs a codec that is not there."""
    try:
        return np.asarray(series.asarray())
    except ValueError as error:
        if "imagecodecs" not in str(error):
            raise
        if "S" in series.axes:
            name = series.keyframe.compression.name
            raise ReadError(f"{path}: TIFF compressed by {name}: pip install imagecodecs") from error
    from PIL.TiffImagePlugin import TiffImageFile

    with TiffImageFile(path) as picture:  # not Image.open: its limit on large pictures is the whole process's
        pages = []
        for page in series.pages:
            picture.seek(page.index)
            pages.append(np.array(picture))
    data = np.stack(pages).reshape(series.shape)
    return data.astype(series.dtype)
