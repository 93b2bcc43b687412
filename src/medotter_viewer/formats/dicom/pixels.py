"""The intensities of a stack of planes, their unit, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.decoding import bits_of, stored_frames
from medotter_viewer.formats.dicom.files import read_pixels
from medotter_viewer.formats.dicom.planes import Plane
from medotter_viewer.formats.dicom.scaling import Scaling, assembled
from medotter_viewer.formats.dicom.stack import PlaneStack
from medotter_viewer.formats.dicom.values import Header, parsing


def intensities(kept: PlaneStack, source: Path, *, as_labels: bool = False) -> tuple[NDArray[Any], list[Finding]]:
    """Return the values of a stack, each slice scaled as it says, and what was noticed.

    Parameters
    ----------
    kept : PlaneStack
        As `stacked` returns it.
    source : Path
        Folder or file, for messages.
    as_labels : bool
        Keep the index of a palette instead of its colour.

    Returns
    -------
    (columns, rows, slices) ndarray, or (columns, rows, slices, 3) of uint8
        A whole type where all slopes and intercepts are whole, else float32.

    Raises
    ------
    ReadError
        If the pixels of a slice are missing, damaged or not what the header promises.
    MissingDependencyError
        If the package that decodes them is not installed.
    """
    seen = _Seen()
    data = assembled(_frames(kept.planes, seen, as_labels), len(kept.planes), [p.scaling for p in kept.planes])
    return data, [*_scaling_findings(kept.planes, source), *seen.findings(kept.planes, source)]


def unit_of(plane: Plane) -> str:
    """Return the unit of a plane's intensities: HU for CT, what PET and others declare, else nothing."""
    header = plane.header
    if plane.size[2] != 1:
        return ""
    kind, modality = (header.text("RescaleType") or "").upper(), (header.text("Modality") or "").upper()
    if modality == "CT":
        return "HU" if not kind or kind.startswith("HU") else ""
    if modality == "PT":
        return header.text("Units") or ""
    return "" if kind in ("", "US", "NORMALIZED") else header.text("RescaleType") or ""


class _Seen:
    """What decoding brings to light: gathered over all slices, told once."""

    def __init__(self) -> None:
        self.padded = self.inverted = self.coloured = self.reduced = 0

    def findings(self, planes: tuple[Plane, ...], source: Path) -> list[Finding]:
        """One finding for each kind of remark."""
        found, of = [], f"of {len(planes)} slices" if len(planes) > 1 else "slice"
        if self.padded:
            message = (
                f"{self.padded} {of} with pixels of the padding value (0028,0120), which stand for no tissue; they "
                "are shown as they are"
            )
            found.append(Finding("info", "padding-value", message, file=str(source)))
        if self.inverted:
            message = "MONOCHROME1: low values are meant to be shown bright; values are unchanged"
            found.append(Finding("info", "monochrome1", message, file=str(source)))
        if self.coloured:
            message = "shown in the colours of its palette; as a label map the stored index counts"
            found.append(Finding("info", "palette-image", message, file=str(source)))
        if self.reduced:
            message = "colours of more than 8 bits are shown with 8 bits"
            found.append(Finding("info", "reduced-depth", message, file=str(source)))
        return found


def _frames(planes: tuple[Plane, ...], seen: _Seen, as_labels: bool) -> Iterator[tuple[int, NDArray[Any], Scaling]]:
    """Place, stored values and scaling of each plane; a file is read once, and forgotten."""
    wanted: dict[Path, dict[int, int]] = {}
    for place, plane in enumerate(planes):
        wanted.setdefault(plane.header.path, {})[plane.frame] = place
    for path, places in wanted.items():
        header = read_pixels(path)
        left = len(places)
        for index, frame in enumerate(stored_frames(header)):
            if index in places:
                plane = planes[places[index]]
                yield places[index], _prepared(header, frame, plane, seen, as_labels), plane.scaling
                left -= 1
        if left:
            raise ReadError(f"{path}: {left} of {len(places)} frames are missing; copy or export it again")


def _prepared(header: Header, frame: NDArray[Any], plane: Plane, seen: _Seen, as_labels: bool) -> NDArray[Any]:
    """A frame in grey, or in 8-bit colours."""
    rows, columns, samples = plane.size
    if frame.shape != ((rows, columns) if samples == 1 else (rows, columns, samples)):
        raise ReadError(f"{plane.header.path}: a frame of shape {frame.shape}, expected {rows} x {columns} pixels")
    photometric = header.text("PhotometricInterpretation") or ""
    if photometric == "PALETTE COLOR" and not as_labels:
        from pydicom.pixels import apply_color_lut

        with parsing(plane.header.path):
            frame = apply_color_lut(frame, header.dataset)[..., :3]
        seen.coloured += 1
    if frame.ndim == 3:
        if frame.dtype != np.uint8:
            bits = 16 if photometric == "PALETTE COLOR" else bits_of(header).stored
            frame = (frame >> max(bits - 8, 0)).astype(np.uint8)
            seen.reduced += 1
        return frame
    seen.inverted += photometric == "MONOCHROME1"
    padding = _padding(header)
    seen.padded += padding is not None and bool((frame == padding).any())
    return frame


def _padding(header: Header) -> int | None:
    """The stored value of pixels that stand for nothing, signed as the pixels are."""
    try:
        value = header.whole("PixelPaddingValue")
    except ReadError:
        return None
    bits = bits_of(header)
    return value - (1 << bits.allocated) if value and bits.signed and value >= 1 << (bits.allocated - 1) else value


def _scaling_findings(planes: tuple[Plane, ...], source: Path) -> list[Finding]:
    found = []
    if zero := [p.name for p in planes if p.scaling.had_zero_slope]:
        message = f"(0028,1053) RescaleSlope is 0 in {len(zero)} slices, e.g. {zero[0]}; read as 1"
        found.append(Finding("warning", "zero-rescale-slope", message, file=str(source)))
    bare = [p.name for p in planes if not p.scaling.is_given]
    if bare and len(bare) < len(planes):
        message = f"{len(bare)} of {len(planes)} slices have no rescale, e.g. {bare[0]}: their values are as stored"
        found.append(Finding("warning", "rescale-missing", message, file=str(source)))
    if table := [p.name for p in planes if p.header.has("ModalityLUTSequence")]:
        message = f"{table[0]} maps its values by a table (0028,3000), which is not applied: they are as stored"
        found.append(Finding("warning", "modality-table", message, file=str(source)))
    if len({(p.scaling.slope, p.scaling.intercept) for p in planes if p.scaling.is_given}) > 1:
        message = "slope and intercept differ from slice to slice; each slice is scaled by its own"
        found.append(Finding("info", "rescale-differs", message, file=str(source)))
    return found
