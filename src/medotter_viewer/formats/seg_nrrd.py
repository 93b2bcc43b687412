"""Read segmentations as 3D Slicer writes them (.seg.nrrd): named segments, in layers where they overlap.

Each segment says in which layer it is and by which value. Files of before 2020 have one binary volume for each segment
instead, on a list axis.

References
----------
slicer.readthedocs.io, Segmentations module, "Segmentations file format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.segments import Segment, Segments, joined
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats import nrrd
from medotter_viewer.formats.nrrd_header import NrrdHeader, read_header

NAME = "seg_nrrd"
SUFFIXES = (".seg.nrrd", ".seg.nhdr")

_KEY = re.compile(r"Segment(\d{1,6})_(ID|Name|Color|Layer|LabelValue)")
_MARKS = (b"\nSegment0_", b"\nSegmentation_")
_LIST_LIMIT = 10


@dataclass(frozen=True, slots=True)
class _Listed:
    """A segment as the header lists it, and where its voxels are."""

    segment: Segment
    layer: int
    value: int


def matches(start: bytes) -> bool:
    """Tell such a file by its first bytes: NRRD with fields of segments."""
    return nrrd.matches(start) and any(mark in start for mark in _MARKS)


def read_grid(path: Path) -> tuple[Grid, list[Finding]]:
    """Return where a file's voxels lie, without reading them; see `nrrd.read_grid`."""
    return nrrd.read_grid(path)


def read_volume(path: Path) -> tuple[Volume, list[Finding]]:
    """Return the stored values as an image; see `nrrd.read_volume`."""
    return nrrd.read_volume(path)


def read_labels(path: Path) -> tuple[LabelMap, list[Finding]]:
    """Return the label values of a file whose segments cannot overlap, and what was noticed.

    Raises
    ------
    ReadError
        If the file is damaged or is no NRRD file.
    LabelError
        If there are several layers: segments that overlap are no one label map.
    """
    header = read_header(path)
    count = _layer_count(header)
    if count > 1:
        names = ", ".join(one.segment.name for one in _listed(header, count)[:_LIST_LIMIT])
        raise LabelError(
            f"{path}: segments in {count} layers, which may overlap ({names}): no single label map; read them as named "
            "segments, or export a labelmap"
        )
    return nrrd.read_labels(path)


def read_segments(path: Path) -> tuple[Segments, list[Finding]]:
    """Return the named segments of a file, and what was noticed.

    Parameters
    ----------
    path : Path
        A NRRD file with fields of segments.

    Returns
    -------
    Segments
        A segment's number is its label value; where two have the same one (in different layers), its place in the
        file, from 1, for all.
    list of Finding
        What was noticed; values that no segment has are background.

    Raises
    ------
    ReadError
        If the file is damaged, lists no segments, or a segment lies in a layer that is not there.
    """
    header = read_header(path)
    count = _layer_count(header)
    listed = _listed(header, count)
    if not listed:
        raise ReadError(f"{path}: no segments are listed (Segment0_ID, ...); read it as a plain label map")
    data, notes = nrrd.read_layers(header)
    if header.other_axes:
        data = np.moveaxis(data, header.other_axes[0], -1)
    layers = data.reshape(*header.grid.shape, count, order="F")
    findings = header.findings + notes + _unlisted(layers, listed, path)
    if count == 1:
        return _of_one_layer(layers[..., 0], listed, header.grid), findings
    return joined(_masks(layers, listed), header.grid), findings


def _masks(layers: IntArray, listed: list[_Listed]) -> Iterator[tuple[Segment, NDArray[np.bool_]]]:
    for one in listed:
        yield one.segment, layers[..., one.layer] == one.value


def _of_one_layer(values: IntArray, listed: list[_Listed], grid: Grid) -> Segments:
    """Segments that cannot overlap: their values are the codes; one that is nowhere has none."""
    segments = tuple(one.segment for one in listed)
    numbers: dict[int, tuple[int, ...]] = {}
    for one in listed:
        numbers[one.value] = (*numbers.get(one.value, ()), one.segment.number)
    present = _present(values)
    known = present & numbers.keys()
    codes = values if known == present - {0} else np.where(np.isin(values, list(known)), values, values.dtype.type(0))
    return Segments(codes, grid, segments, {value: numbers[value] for value in sorted(known)})


def _present(values: IntArray) -> set[int]:
    """Values that occur, slice by slice: all at once would be sorted, or counted with eight bytes a voxel."""
    found: set[int] = set()
    for k in range(values.shape[2]):
        part = values[:, :, k]
        is_small = part.dtype.kind == "u" and part.dtype.itemsize <= 2
        here = np.flatnonzero(np.bincount(part.ravel(order="K"))) if is_small else np.unique(part)
        found.update(here.tolist())
    return found


def _unlisted(layers: IntArray, listed: list[_Listed], path: Path) -> list[Finding]:
    found = []
    for layer in range(layers.shape[-1]):
        known = {one.value for one in listed if one.layer == layer}
        found += sorted(_present(layers[..., layer]) - known - {0})
    if not found:
        return []
    shown = ", ".join(map(str, found[:_LIST_LIMIT])) + (", ..." if len(found) > _LIST_LIMIT else "")
    message = f"values {shown} belong to no segment of the file: taken as background"
    return [Finding("warning", "unlisted-segment-value", message, file=str(path))]


def _layer_count(header: NrrdHeader) -> int:
    if len(header.other_axes) > 1:
        raise ReadError(f"{header.path}: sizes {header.sizes}; expected three axes of space and one of layers at most")
    return header.sizes[header.other_axes[0]] if header.other_axes else 1


def _listed(header: NrrdHeader, layers: int) -> list[_Listed]:
    """Segments in the order of their numbers in the header."""
    fields: dict[int, dict[str, Any]] = {}
    for key, value in header.fields.items():
        if found := _KEY.fullmatch(key):
            fields.setdefault(int(found[1]), {})[found[2]] = value
    is_old = not any("LabelValue" in one for one in fields.values())
    places: list[tuple[int, int]] = []
    for n, (index, one) in enumerate(sorted(fields.items())):
        layer = _number(one, "Layer", n if is_old else 0, index, header.path)
        value = _number(one, "LabelValue", 1, index, header.path)
        if not 0 <= layer < layers or value == 0:
            raise ReadError(
                f"{header.path}: segment {index} has layer {layer} and value {value}; expected a layer below {layers} "
                "and a value other than 0"
            )
        places.append((layer, value))
    values = [value for _, value in places]
    numbers = values if len(set(values)) == len(values) else range(1, len(values) + 1)
    return [
        _Listed(Segment(number, str(one.get("Name") or one.get("ID") or f"segment {index}"), _colour(one)), *place)
        for number, place, (index, one) in zip(numbers, places, sorted(fields.items()), strict=True)
    ]


def _number(fields: Mapping[str, Any], key: str, default: int, index: int, path: Path) -> int:
    try:
        return int(fields.get(key, default))
    except ValueError as error:
        raise ReadError(f"{path}: Segment{index}_{key}: got {fields[key]!r}, expected a whole number") from error


def _colour(fields: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """Red, green and blue from 0 to 255; None where the file has none that can be read."""
    try:
        red, green, blue = (round(min(max(float(part), 0.0), 1.0) * 255) for part in str(fields["Color"]).split())
    except (KeyError, ValueError):
        return None
    return red, green, blue
