"""The lists beside a folder of scans: what structures are called, points inside tumours, who got contrast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.paths import resolve_inside
from medotter_viewer.core.scans import Seed, StructureNames
from medotter_viewer.errors import ReadError, UnsafePathError
from medotter_viewer.formats.scan_tables import read_clinical, read_seeds, read_structure_dict

T = TypeVar("T")

STRUCTURE_DICT = "structure_dict.dat"
_SEEDS, _CLINICAL = "*_seed_locations.csv", "*_clinical.csv"


@dataclass(frozen=True, slots=True, eq=False)
class ScanLists:
    """What the lists say.

    Parameters
    ----------
    names : StructureNames
        Types of structures.
    seeds : mapping of str to tuple of (int, float, float)
        Scan id to points.
    contrast : mapping of str to bool
        Scan id to whether contrast was given.
    structure_dict : Path or None
        File of the names; None without one: then only the built-in ones are known.
    findings : tuple of Finding
        What was noticed. An error is a dictionary that cannot be read: the target is not known for sure.
    """

    names: StructureNames = field(default_factory=StructureNames)
    seeds: Mapping[str, tuple[Seed, ...]] = field(default_factory=dict)
    contrast: Mapping[str, bool] = field(default_factory=dict)
    structure_dict: Path | None = None
    findings: tuple[Finding, ...] = ()


def read_scan_lists(root: Path, rules: ContourRules, structure_dict: Path | None = None) -> ScanLists:
    """Return the lists of a folder of scans.

    Parameters
    ----------
    root : Path
        Folder of the scans, or one scan.
    rules : ContourRules
        Names of the files, where they differ from the usual ones.
    structure_dict : Path, optional
        Dictionary to use instead.
    """
    findings: list[Finding] = []
    names = StructureNames()
    path = structure_dict or _named(root, rules.structure_dict, "structure_dict", findings)
    if path is None and rules.structure_dict is None and (root / STRUCTURE_DICT).is_file():
        path = root / STRUCTURE_DICT
    if path is not None:
        try:
            names, noticed = read_structure_dict(path)
            findings += noticed
        except ReadError as error:
            findings.append(Finding("error", "unreadable-list", f"names of structures: {error}", str(path)))
    seeds = _read_all(_files(root, rules.seed_locations, _SEEDS, "seed_locations", findings), read_seeds, findings)
    contrast = _read_all(_files(root, rules.clinical, _CLINICAL, "clinical", findings), read_clinical, findings)
    return ScanLists(names, seeds, contrast, path, tuple(findings))


def _read_all(
    files: list[Path], read: Callable[[Path], tuple[dict[str, T], list[Finding]]], findings: list[Finding]
) -> dict[str, T]:
    """What several files say of scans; a later one replaces what an earlier one says of the same scan."""
    found: dict[str, T] = {}
    for file in files:
        try:
            values, noticed = read(file)
        except ReadError as error:
            findings.append(Finding("warning", "unreadable-list", f"{error}; left out", str(file)))
            continue
        found.update(values)
        findings += noticed
    return found


def _files(root: Path, told: str | None, pattern: str, key: str, findings: list[Finding]) -> list[Path]:
    """The file that the rules name, else those of the usual name."""
    if told is not None:
        path = _named(root, told, key, findings)
        return [] if path is None else [path]
    return sorted(path for path in root.glob(pattern) if path.is_file()) if root.is_dir() else []


def _named(root: Path, told: str | None, key: str, findings: list[Finding]) -> Path | None:
    """The file that the rules name, kept inside the folder."""
    if told is None:
        return None
    try:
        return resolve_inside(root, told, where=f"lung_contour.{key}")
    except UnsafePathError as error:
        findings.append(Finding("error", "unsafe-path", str(error), where=key))
        return None
