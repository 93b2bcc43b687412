"""Scans of VerSe by the names of their files: which file is image, mask or points of which scan.

``rawdata/<sub>/<scan>_ct.nii.gz`` and ``derivatives/<sub>/<scan>_seg-vert_msk.nii.gz``, ``..._seg-subreg_ctd.json``
(or ``_seg-vb_ctd.json``), or all in one folder. ``<scan>`` is ``sub-<name>``, perhaps with ``_split-<name>`` and
``_dir-<name>``.

References
----------
anjany/verse, README.md.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats import nifti
from medotter_viewer.sources.folder_listing import Found, walk

IMAGE, MASK, POINTS = "image", "mask", "points"
_TAILS = {"_ct": IMAGE, "_seg-vert_msk": MASK, "_seg-subreg_ctd": POINTS, "_seg-vb_ctd": POINTS}
_SCAN = re.compile(r"(?P<case>sub-[A-Za-z0-9]+(_split-[A-Za-z0-9]+)?)(_dir-[A-Za-z0-9]+)?")
_SUFFIXES = {IMAGE: nifti.SUFFIXES, MASK: nifti.SUFFIXES, POINTS: (".json",)}
_DATA = ("rawdata", "derivatives")
_LOOKED_AT = 5000  # names that are looked at before a folder is said to be something else


@dataclass(frozen=True, slots=True)
class ScanFiles:
    """The files of one scan.

    Parameters
    ----------
    case_id : str
        Subject and split, and the direction only where it tells two scans apart.
    dataset : str or None
        Name of the folders above ``rawdata`` or ``derivatives``.
    files : mapping of {"image", "mask", "points"} to list of Found
        More than one of a kind make it unusable.
    """

    case_id: str
    dataset: str | None
    files: dict[str, list[Found]] = field(default_factory=lambda: {IMAGE: [], MASK: [], POINTS: []})


def _never(_: Path) -> bool:
    return False


def is_verse(folder: Path) -> bool:
    """Whether a folder holds masks or points named as VerSe's: a look at its first names, nothing is opened."""
    try:
        names = (_parsed(found.name) for found in islice(walk(folder, [], stands_alone=_never), _LOOKED_AT))
        return any(parsed is not None and parsed[1] != IMAGE for parsed in names)
    except ReadError:
        return False


def _parsed(name: str) -> tuple[str, str] | None:
    """Scan and kind of a file by its name; None for all others."""
    for tail, kind in _TAILS.items():
        for suffix in _SUFFIXES[kind]:
            scan = name.removesuffix(tail + suffix)
            if scan != name and _SCAN.fullmatch(scan):
                return scan, kind
    return None


def find_verse_scans(folder: Path, noticed: list[Finding]) -> list[ScanFiles]:
    """Return the scans of a folder, by id; `noticed` gets a remark for every folder that is not gone into.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    scans: dict[tuple[str, str], ScanFiles] = {}
    for found in walk(folder, noticed, stands_alone=_never):
        if (parsed := _parsed(found.name)) is not None:
            dataset = _dataset(found.relative)
            scan = scans.setdefault((dataset, parsed[0]), ScanFiles(parsed[0], dataset or None))
            scan.files[parsed[1]].append(found)
    short = {key: (key[0], _SCAN.sub(lambda match: match["case"], key[1])) for key in scans}
    shared = Counter(short.values())
    chosen = {key: key[1] if shared[short[key]] > 1 else short[key][1] for key in scans}
    repeated = Counter(chosen.values())
    named = {f"{key[0]}/{i}" if repeated[i] > 1 and key[0] else i: scans[key] for key, i in chosen.items()}
    return [replace(scan, case_id=case_id) for case_id, scan in sorted(named.items())]


def _dataset(relative: str) -> str:
    """Name of the folders above ``rawdata`` or ``derivatives``; empty where there are none."""
    parts = relative.split("/")[:-1]
    place = next((parts.index(name) for name in _DATA if name in parts), 0)
    return "/".join(parts[:place])
