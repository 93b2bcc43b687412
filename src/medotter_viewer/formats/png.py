"""Decode PNG pixels as they are stored: a palette's index, grey of every depth; colours only for images."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError

MAGIC = b"\x89PNG\r\n\x1a\n"
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6  # colour types
_KINDS = {_GREY: "grey", _RGB: "RGB", _PALETTE: "palette", _GREY_ALPHA: "grey with alpha", _RGBA: "RGBA"}
_SAMPLES = {_GREY: 1, _RGB: 3, _PALETTE: 1, _GREY_ALPHA: 2, _RGBA: 4}
_DEFLATE_RATIO = 1040  # deflate cannot expand further
_STRETCH = {2: 85, 4: 17}  # what Pillow multiplies grey of fewer bits by


@dataclass(frozen=True, slots=True)
class PngHeader:
    """What the first chunk says."""

    width: int
    height: int
    depth: int
    colour: int

    @property
    def kind(self) -> str:
        """Colour type in words."""
        return _KINDS[self.colour]


def read_header(path: Path) -> PngHeader:
    """Return the header of a PNG file.

    Raises
    ------
    ReadError
        If it is damaged, or promises more pixels than the file can hold.
    """
    with path.open("rb") as file:
        start = file.read(26)
    if len(start) < 26 or start[12:16] != b"IHDR":
        raise ReadError(f"{path}: damaged PNG: no header; copy the file again")
    header = PngHeader(*struct.unpack(">IIBB", start[16:26]))
    if header.colour not in _KINDS or header.depth not in (1, 2, 4, 8, 16) or not header.width * header.height:
        raise ReadError(f"{path}: damaged PNG header: {header}")
    needed = header.width * header.height * header.depth * _SAMPLES[header.colour] // 8
    if needed > path.stat().st_size * _DEFLATE_RATIO:
        raise ReadError(f"{path}: truncated: the header promises {needed} bytes of pixels, the file cannot hold them")
    return header


def decode(path: Path, *, as_labels: bool) -> tuple[NDArray[Any], bool, list[Finding]]:
    """Return (rows, columns) values or (rows, columns, 3) colours, whether they are colours, and what was noticed.

    Parameters
    ----------
    path : Path
        A PNG file.
    as_labels : bool
        Stored values, the index for a palette; colours are refused. Otherwise the picture: a palette's colours.

    Raises
    ------
    ReadError
        If the file is damaged or holds several pictures.
    LabelError
        If labels are asked of colours.
    """
    header = read_header(path)
    if as_labels and header.colour not in (_GREY, _PALETTE):
        raise LabelError(
            f"{path}: {header.kind} PNG: {_SAMPLES[header.colour]} channels of colour or alpha are no label ids; "
            "write label maps as 8- or 16-bit grey, or with a palette"
        )
    stored, colours = _stored(path, header, in_colour=not as_labels and header.colour in (_RGB, _RGBA, _PALETTE))
    notes = [] if as_labels else _notes(path, header, stored)
    if colours:
        return stored[..., :3], True, notes
    if header.colour == _GREY_ALPHA:
        return stored[..., 0], False, notes
    if header.colour == _GREY and header.depth in _STRETCH:
        stored = stored // np.uint8(_STRETCH[header.depth])
    return (stored.astype(np.uint8) if stored.dtype == np.bool_ else stored), False, notes


def _stored(path: Path, header: PngHeader, *, in_colour: bool) -> tuple[NDArray[Any], bool]:
    # Not Image.open: it refuses large pictures by a setting that the whole process shares.
    from PIL.PngImagePlugin import PngImageFile

    try:
        with path.open("rb") as file, PngImageFile(file) as picture:
            if getattr(picture, "n_frames", 1) > 1:
                raise ReadError(f"{path}: animated PNG of {picture.n_frames} pictures, expected one")
            if in_colour and header.colour == _PALETTE:
                return np.array(picture.convert("RGBA")), True
            return np.array(picture), in_colour
    except MedotterViewerError:
        raise
    except Exception as error:  # chunks of a damaged file fail anywhere in the decoder
        raise ReadError(f"{path}: damaged PNG: {error}; copy the file again") from error


def _notes(path: Path, header: PngHeader, stored: NDArray[Any]) -> list[Finding]:
    notes = []
    if header.colour == _PALETTE:
        message = "palette PNG: shown in the palette's colours; as a label map the stored index counts"
        notes.append(Finding("info", "palette-image", message, file=str(path)))
    if header.colour in (_RGB, _RGBA, _GREY_ALPHA) and header.depth == 16:
        message = f"16-bit {header.kind} PNG: shown with 8 bits for each channel"
        notes.append(Finding("info", "reduced-depth", message, file=str(path)))
    alpha = stored[..., -1] if stored.ndim == 3 and stored.shape[-1] in (2, 4) else None
    if alpha is not None and (alpha != np.iinfo(alpha.dtype).max).any():
        message = "transparent pixels are shown in their stored colour: alpha is left out"
        notes.append(Finding("info", "alpha-left-out", message, file=str(path)))
    return notes
