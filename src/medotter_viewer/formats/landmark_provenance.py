"""What stands beside a file of points that a person wrote here: who, when, from what, and what was changed.

``<name>.provenance.json`` beside ``<name>.json``. It is believed only for the very bytes it was written for, so that a
file which somebody changes later is an ordinary file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.key_reader import KeyReader
from medotter_viewer.errors import BundleError, ReadError
from medotter_viewer.formats.config_files import read_json
from medotter_viewer.formats.digests import digest_of

SUFFIX = ".provenance.json"
_MOST_LEVELS = 30
_WORDS = ("sha256", "case", "source", "written_by", "written_at", "software", "version")
_LISTS = ("moved", "added", "removed", "left_out_by_level_shift")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the points of a file come from.

    Parameters
    ----------
    sha256 : str
        Of the bytes of the file of points.
    case : str
        Id of the case.
    source : str
        File that the points were read from; of derived ones the mask.
    written_by, written_at : str
        Name of the user at the system, and time (UTC, ISO 8601).
    software, version : str
        What wrote it.
    derived : bool
        Whether the points were taken from a mask.
    level_shift : int
        By how many levels towards the feet all labels were moved; 0 for none.
    moved, added, removed : tuple of int
        Labels whose points differ from the source, those it does not have, and those it has and the file has not; by
        the labels of the source, before any level shift.
    left_out_by_level_shift : tuple of int
        Labels of the source that the level shift moves beyond the end of the spine.
    """

    sha256: str
    case: str
    source: str
    written_by: str
    written_at: str
    software: str
    version: str
    derived: bool = False
    level_shift: int = 0
    moved: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    left_out_by_level_shift: tuple[int, ...] = ()

    @classmethod
    def from_mapping(cls, raw: Any, where: str) -> Provenance:
        """Return what parsed JSON says; keys that are not known are ignored.

        Raises
        ------
        BundleError
            If it is no mapping, or a key holds something else than it should.
        """
        read = KeyReader(raw, where)
        fields: dict[str, Any] = {key: read.word(key, "") for key in _WORDS}
        fields |= {key: read.ids(key) for key in _LISTS if key in read.raw}
        shift = read.number("level_shift", 0, low=-_MOST_LEVELS, high=_MOST_LEVELS)
        return cls(**fields, derived=read.flag("derived"), level_shift=int(shift))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def provenance_path(path: Path) -> Path:
    """Return where the provenance of a file of points stands.

    Examples
    --------
    >>> provenance_path(Path("scan_ctd.json")).name
    'scan_ctd.provenance.json'
    """
    return path.with_suffix(SUFFIX)


def read_provenance(path: Path) -> tuple[Provenance | None, list[Finding]]:
    """Return the provenance of a file of points, None where there is none for it, and what was noticed.

    Parameters
    ----------
    path : Path
        The file of points. Nothing is raised: one whose provenance cannot be read is used as it is, with a warning.
    """
    beside = provenance_path(path)
    if path.suffix.lower() != ".json" or not beside.is_file():
        return None, []
    try:
        found = Provenance.from_mapping(read_json(beside), str(beside))
        same = found.sha256 == digest_of(path)
    except (BundleError, ReadError) as error:
        message = f"{error}; it is not known whether a person or a mask made the points"
        return None, [Finding("warning", "unreadable-provenance", message, str(beside))]
    if not same:
        message = f"{beside.name} was written for another version of {path.name}: it is not looked at"
        return None, [Finding("info", "other-provenance", message, str(beside))]
    return found, []


def edited_labels(found: Provenance, labels: Mapping[int, Any]) -> frozenset[int]:
    """Return which labels of a file a person moved, added or gave another label."""
    return frozenset(labels) if found.level_shift else frozenset((*found.moved, *found.added))
