"""Read a scan folder with PNGs: ``auxiliary/``, ``pngs/``, ``contours/`` (or ``contour/``) and ``structures.dat``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scans import Scan, ScanStructure
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.scan_aux import SliceTags, read_slice_tags
from medotter_viewer.formats.scan_pngs import png_size, read_pngs
from medotter_viewer.formats.scan_structures import read_rings, read_structure_names
from medotter_viewer.sources.scan_stack import TaggedSlice, stack_of

TAGS, PICTURES, CONTOURS, NAMES = "auxiliary", "pngs", ("contours", "contour"), "structures.dat"
_NUMBER = r"(0|[1-9]\d{0,8})"
_OF_TAGS, _OF_PICTURE = (re.compile(rf"{_NUMBER}\.{suffix}", re.ASCII) for suffix in ("dat", "png"))
_OF_RINGS = re.compile(rf"{_NUMBER}\.{_NUMBER}\.dat", re.ASCII)
_LISTED = 8


def is_png_scan(folder: Path) -> bool:
    """Tell whether a folder is a scan of this layout."""
    return (folder / TAGS).is_dir()


def contour_folder(folder: Path) -> Path | None:
    """Return where a scan's contours are; None where it has none."""
    return next((path for name in CONTOURS if (path := folder / name).is_dir()), None)


def png_slice_numbers(folder: Path) -> set[int]:
    """Return the numbers of the slices that have tags or a picture.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    return {*_numbered(folder / TAGS, _OF_TAGS)[0], *_numbered(folder / PICTURES, _OF_PICTURE)[0]}


def read_png_scan(folder: Path) -> Scan:
    """Return a scan without its pixels; what is wrong with a file of it is a finding.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    tags_files, strange_tags = _numbered(folder / TAGS, _OF_TAGS)
    pictures, strange_pictures = _numbered(folder / PICTURES, _OF_PICTURE)
    findings = _gaps(folder, tags_files, pictures)
    tags: dict[int, SliceTags] = {}
    for number, path in tags_files.items():
        try:
            tags[number], noticed = read_slice_tags(path)
            findings += noticed
        except ReadError as error:
            findings.append(Finding("error", "unreadable-file", str(error), str(path), f"slice {number}"))
    size, noticed = _first_size(pictures)
    findings += noticed
    slices = [TaggedSlice(n, one, pictures.get(n, tags_files[n])) for n, one in tags.items()]
    stack, noticed = stack_of(slices, size, folder)
    findings += noticed
    thickness = {n: tags[n].thickness_mm if n in tags else None for n in sorted({*tags_files, *pictures})}
    if lacking := [n for n, one in tags.items() if one.thickness_mm is None]:
        message = f"{folder}: no (0018.0050) in slice {_list(lacking)}: polygons there are shown, not scored"
        findings.append(Finding("warning", "scan-without-thickness", message, str(folder)))
    structures, noticed, strange_rings = _structures(folder, thickness)
    findings += noticed
    if strange := [*strange_tags, *strange_pictures, *strange_rings]:
        message = f"{folder}: files that are no part of a scan are passed over: {_list(strange)}"
        findings.append(Finding("info", "scan-file-ignored", message, str(folder)))
    return Scan(folder.resolve().name, folder, thickness, structures, stack, tuple(findings))


def read_png_volume(scan: Scan) -> tuple[Volume, list[Finding]]:
    """Return the image of a scan, (columns, rows, slices), in HU where its tags say how.

    Raises
    ------
    ReadError
        If nothing says where slices lie, or a picture is missing altogether or damaged.
    """
    if scan.stack is None:
        raise ReadError(f"{scan.folder}: nothing says where its slices lie, so they are no volume")
    pictures, _ = _numbered(scan.folder / PICTURES, _OF_PICTURE)
    tags_files, _ = _numbered(scan.folder / TAGS, _OF_TAGS)
    findings: list[Finding] = []
    rescale: list[tuple[float, float]] = []
    units: set[str | None] = set()
    unscaled: list[int] = []
    for number in scan.stack.numbers:
        tags, _ = read_slice_tags(tags_files[number or 0])
        if tags.slope is None or tags.intercept is None:
            unscaled.append(number or 0)
        rescale.append((1.0 if tags.slope is None else tags.slope, tags.intercept or 0.0))
        units.add(tags.unit)
    if unscaled:
        message = f"{scan.folder}: no (0028.1053) or (0028.1052) in slice {_list(unscaled)}: taken as 1 and 0"
        findings.append(Finding("warning", "scan-without-rescale", message, str(scan.folder)))
    columns, rows, _ = scan.stack.grid.shape
    try:
        values, noticed = read_pngs([pictures.get(n or 0) for n in scan.stack.numbers], (columns, rows), rescale)
    except ReadError as error:
        message = str(error)
        raise ReadError(message if str(scan.folder) in message else f"{scan.folder}: {message}") from error
    unit = "" if unscaled or not units <= {"HU", None} else "HU"
    return Volume(values, scan.stack.grid, unit), [*findings, *noticed]


def _structures(
    folder: Path, slices: Mapping[int, object]
) -> tuple[tuple[ScanStructure, ...] | None, list[Finding], list[str]]:
    """Structures with their rings (None where nothing was drawn at all), what was noticed, strange files."""
    there = [folder / name for name in CONTOURS if (folder / name).is_dir()]
    findings: list[Finding] = []
    if len(there) > 1:
        message = f"{folder}: has both {there[0].name} and {there[1].name}: which of them is right? keep one"
        findings.append(Finding("error", "scan-two-contour-folders", message, str(folder)))
    if not there and not (folder / NAMES).is_file():
        return None, findings, []
    if not there:
        message = f"{folder}: no folder {' or '.join(CONTOURS)}: no structure has contours"
        findings.append(Finding("warning", "scan-without-contours", message, str(folder)))
    try:
        names, noticed = read_structure_names(folder / NAMES)
        findings += noticed
    except ReadError as error:
        message = f"{error}: nothing says which contours are of which structure"
        findings.append(Finding("error", "unreadable-file", message, str(folder / NAMES)))
        return (), findings, []
    files, strange = _ring_files(there[0]) if there else ({}, [])
    _note_strays(files, len(names), slices, findings)
    structures = []
    for number, name in enumerate(names, 1):
        rings, damage = _rings_of(files.get(number, {}), findings)
        structures.append(ScanStructure(number, name, ScanContours(rings), damage))
    return tuple(structures), findings, strange


def _rings_of(files: Mapping[int, Path], findings: list[Finding]) -> tuple[dict[int, list[Ring]], str | None]:
    """Rings of one structure by slice, and what could not be read of it."""
    rings: dict[int, list[Ring]] = {}
    damage: list[str] = []
    for number, path in sorted(files.items()):
        try:
            rings[number], noticed = read_rings(path)
            findings += noticed
        except ReadError as error:
            damage.append(str(error))
    more = f" (and {len(damage) - 3} more files)" if len(damage) > 3 else ""
    return rings, "; ".join(damage[:3]) + more if damage else None


def _ring_files(folder: Path) -> tuple[dict[int, dict[int, Path]], list[str]]:
    """Structure number to slice number to file, and strange names."""
    found: dict[int, dict[int, Path]] = {}
    strange = []
    for path in _listing(folder):
        if match := _OF_RINGS.fullmatch(path.name):
            found.setdefault(int(match[2]), {})[int(match[1])] = path
        else:
            strange.append(path.name)
    return found, strange


def _note_strays(
    files: Mapping[int, Mapping[int, Path]], n_names: int, slices: Mapping[int, object], findings: list[Finding]
) -> None:
    """Say which contours belong to no structure, or to no slice."""
    for number, by_slice in sorted(files.items()):
        if not 1 <= number <= n_names:
            names = _list([path.name for path in by_slice.values()])
            message = f"{names}: contours of structure {number}, but {NAMES} names {n_names}: left out"
            file = str(next(iter(by_slice.values())))
            findings.append(Finding("warning", "scan-structure-unknown", message, file, f"structure {number}"))
        elif beyond := [path.name for n, path in sorted(by_slice.items()) if n not in slices]:
            message = f"{_list(beyond)}: contours on slices that have neither tags nor a picture"
            file = str(next(iter(by_slice.values())))
            findings.append(Finding("warning", "scan-slice-unknown", message, file, f"structure {number}"))


def _gaps(folder: Path, tags: Mapping[int, Path], pictures: Mapping[int, Path]) -> list[Finding]:
    """Slices without tags, without a picture, or without either."""
    findings = []
    known = {*tags, *pictures}
    if not tags:
        message = f"{folder}: {TAGS} holds no file <slice>.dat: nothing says how thick slices are"
        findings.append(Finding("error", "scan-without-slices", message, str(folder)))
    elif lacking := sorted({*pictures} - {*tags}):
        message = f"{folder}: no {_list(f'{TAGS}/{n}.dat' for n in lacking)}: polygons there are not scored"
        findings.append(Finding("warning", "scan-slice-incomplete", message, str(folder)))
    if not pictures:
        message = f"{folder}: {PICTURES} holds no file <slice>.png: contours are shown without image"
        findings.append(Finding("warning", "scan-without-image", message, str(folder)))
    elif lacking := sorted({*tags} - {*pictures}):
        message = f"{folder}: no {_list(f'{PICTURES}/{n}.png' for n in lacking)}: shown with the lowest value"
        findings.append(Finding("warning", "scan-slice-incomplete", message, str(folder)))
    if known and (n_gaps := max(known) - min(known) + 1 - len(known)):
        gaps = islice((n for n in range(min(known), max(known)) if n not in known), _LISTED)
        listed = ", ".join(map(str, gaps)) + (f" and {n_gaps - _LISTED} more" if n_gaps > _LISTED else "")
        message = f"{folder}: slices are numbered {min(known)} to {max(known)}, but there is no slice {listed}"
        findings.append(Finding("warning", "scan-slice-missing", message, str(folder)))
    return findings


def _first_size(pictures: Mapping[int, Path]) -> tuple[tuple[int, int] | None, list[Finding]]:
    """Size of the first picture that can be read."""
    findings: list[Finding] = []
    for number, path in pictures.items():
        try:
            return png_size(path), findings
        except ReadError as error:
            findings.append(Finding("warning", "unreadable-file", str(error), str(path), f"slice {number}"))
    return None, findings


def _numbered(folder: Path, pattern: re.Pattern[str]) -> tuple[dict[int, Path], list[str]]:
    """Number to file, in the order of numbers, and names that are none; nothing where there is no folder."""
    found: dict[int, Path] = {}
    strange = []
    for path in _listing(folder):
        if match := pattern.fullmatch(path.name):
            found[int(match[1])] = path
        else:
            strange.append(path.name)
    return dict(sorted(found.items())), strange


def _listing(folder: Path) -> list[Path]:
    """What is in a folder by name, without hidden files; nothing where it is not there."""
    if not folder.is_dir():
        return []
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise ReadError(f"{folder}: {error.strerror or error}") from error


def _list(things: Iterable[object]) -> str:
    words = [str(thing) for thing in things]
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
