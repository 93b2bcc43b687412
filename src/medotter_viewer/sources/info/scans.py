"""The facts of a scan folder: its slices along the normal and its structures; and of a folder of scans."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scans import Scan, StructureNames
from medotter_viewer.core.segments import unique_names
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.geometry.polygons import overlap_areas
from medotter_viewer.sources.info.facts import Facts, facts, grid_facts, value_range
from medotter_viewer.sources.scan_lists import read_scan_lists
from medotter_viewer.sources.scans import find_scans, read_scan, read_scan_volume, scan_id, slice_numbers


def scan_facts(path: Path) -> Facts:
    """Return the facts of a scan folder.

    Items are the slices in the order of the volume, ``{slice, file, world, range}``, and then the structures,
    ``{kind: "structure", number, name, type, reliability, contours, area_mm2}``: rings of a slice are united.

    Raises
    ------
    ReadError
        If it cannot be read at all. A scan without image has facts all the same.
    """
    scan, notes = read_scan(path)
    names = read_scan_lists(path.resolve().parent, ContourRules()).names
    volume: Volume | None = None
    try:
        volume, more = read_scan_volume(scan)
        notes += [note for note in more if note not in notes]
    except ReadError as error:
        notes.append(Finding("warning", "unreadable-file", f"image: {error}", str(path)))
    items = [*_slices(scan, volume), *_structures(scan, names)]
    found = facts(path, "scan", items=items, notes=notes)
    if scan.stack is not None:
        found |= grid_facts(scan.stack.grid)
    if volume is not None:
        found |= {"dtype": str(volume.data.dtype), "unit": volume.unit or None, "range": value_range(volume)}
    return found


def scans_facts(root: Path) -> Facts:
    """Return the facts of a folder of scans: how many slices each has.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    items = [
        {"kind": "scan", "id": scan_id(folder), "slices": len(numbers) if isinstance(numbers, set) else None}
        for folder in find_scans(root)
        for numbers in [slice_numbers(folder)]
    ]
    return facts(root, "scans", items=items, notes=read_scan_lists(root, ContourRules()).findings)


def _slices(scan: Scan, volume: Volume | None) -> Iterator[dict[str, Any]]:
    """One item for each slice: along the normal, or by number where nothing says where they lie."""
    if scan.stack is None:
        yield from ({"slice": number, "file": None, "world": None, "range": None} for number in scan.thickness_mm)
        return
    for index, number in enumerate(scan.stack.numbers):
        x, y, z = map(float, scan.stack.origins_lps[index])
        limits = None
        if volume is not None and not volume.rgb:
            values = volume.data[:, :, index]
            limits = [float(values.min()), float(values.max())]
        file = scan.stack.files[index].name
        yield {"slice": number, "file": file, "world": [-x + 0.0, -y + 0.0, z], "range": limits}


def _structures(scan: Scan, names: StructureNames) -> Iterator[dict[str, Any]]:
    structures = scan.structures or ()
    named = unique_names((one.number, one.name) for one in structures)
    for one in structures:
        areas = [overlap_areas(rings, [])[1] for rings in one.contours.rings.values()]
        yield {
            "kind": "structure",
            "number": one.number,
            "name": named[one.number],
            "type": names.type_of(one.name),
            "reliability": names.reliability_of(one.name),
            "contours": one.contours.n_rings,
            "area_mm2": math.fsum(areas),
        }
