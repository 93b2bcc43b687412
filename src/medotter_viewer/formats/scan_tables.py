"""Read the lists beside a folder of scans: name variants of structures, points inside tumours, who got contrast."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scans import Seed, StructureNames
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.scan_text import FARTHEST_MM, read_lines, shown, to_number, to_slice_number

MAX_BYTES = 16 << 20


def read_structure_dict(path: Path) -> tuple[StructureNames, list[Finding]]:
    """Return the types of structures and their names, and names that two types share.

    Parameters
    ----------
    path : Path
        Lines ``type|name|name...``; names are taken as written, blanks included. A type that stands twice has the
        names of both lines.

    Raises
    ------
    ReadError
        If the file cannot be read, or a line has no type.
    """
    variants: dict[str, tuple[str, ...]] = {}
    owner: dict[str, str] = {}
    findings: list[Finding] = []
    for number, line in read_lines(path, MAX_BYTES):
        if not line.strip():
            continue
        kind, *names = line.rstrip("\r").split("|")
        if not kind.strip():
            raise ReadError(f"{path}: line {number}: got {shown(line)}, expected type|name|name...")
        for name in (kind, *names):
            if owner.setdefault(name, kind) != kind:
                message = (
                    f"{path}: line {number}: {shown(name)} is a name of {shown(owner[name])} already; it is of both"
                )
                findings.append(Finding("warning", "scan-name-shared", message, str(path), str(number)))
        variants[kind] = tuple(dict.fromkeys((*variants.get(kind, ()), *(name for name in names if name))))
    return StructureNames(variants), findings


def read_seeds(path: Path) -> tuple[dict[str, tuple[Seed, ...]], list[Finding]]:
    """Return the points of each scan, and lines that hold none.

    Parameters
    ----------
    path : Path
        Lines ``scan,slice,x,y`` in mm LPS, no header; a scan may have several.

    Raises
    ------
    ReadError
        If the file cannot be read.
    """
    seeds: dict[str, tuple[Seed, ...]] = {}
    findings: list[Finding] = []
    for number, line in read_lines(path, MAX_BYTES):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split(",")]
        try:
            if len(parts) != 4:
                raise ValueError(f"got {shown(line)}, expected scan,slice,x,y")
            seed = (to_slice_number(parts[1]), to_number(parts[2]), to_number(parts[3]))
            if max(abs(seed[1]), abs(seed[2])) > FARTHEST_MM:
                raise ValueError(f"got {shown(line)}, expected at most {FARTHEST_MM:g} mm")
        except ValueError as error:
            findings.append(_left_out(path, number, error))
            continue
        seeds[parts[0]] = (*seeds.get(parts[0], ()), seed)
    return seeds, findings


def read_clinical(path: Path) -> tuple[dict[str, bool], list[Finding]]:
    """Return of each scan whether contrast was given, and lines that do not say it.

    Parameters
    ----------
    path : Path
        Lines ``scan,0`` or ``scan,1``, no header.

    Raises
    ------
    ReadError
        If the file cannot be read.
    """
    contrast: dict[str, bool] = {}
    findings: list[Finding] = []
    for number, line in read_lines(path, MAX_BYTES):
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 2 and parts[1] in ("0", "1"):
            contrast[parts[0]] = parts[1] == "1"
        elif line.strip():
            findings.append(_left_out(path, number, f"got {shown(line)}, expected scan,0 or scan,1"))
    return contrast, findings


def _left_out(path: Path, number: int, why: object) -> Finding:
    message = f"{path}: line {number}: {why}; left out"
    return Finding("warning", "scan-table-line", message, str(path), str(number))
