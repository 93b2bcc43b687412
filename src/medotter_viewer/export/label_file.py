"""Write a predicted label map as a person painted it, with its provenance beside it: both files or none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer import __version__
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.login import login_name
from medotter_viewer.errors import MedotterViewerError, WriteError
from medotter_viewer.export.replacing import stem, unfinished
from medotter_viewer.export.sources_kept import check_not_a_source
from medotter_viewer.formats.digests import digest_of
from medotter_viewer.formats.nifti import SUFFIXES, read_labels, write_labels
from medotter_viewer.metrics.overlap import overlap_table

_SAME_MM = 1e-3  # corners of a grid written and read back


@dataclass(frozen=True, slots=True)
class ExportedLabels:
    """What was written.

    Parameters
    ----------
    path, beside : Path
        The label map, and its provenance.
    changed_voxels : int
        Voxels that differ from the file that was edited.
    """

    path: Path
    beside: Path
    changed_voxels: int


def provenance_path(path: Path) -> Path:
    """Return where the provenance of a label map stands: ``FILE.provenance.json`` beside ``FILE.nii.gz``.

    Examples
    --------
    >>> provenance_path(Path("a/b.nii.gz")).name
    'b.provenance.json'
    """
    return path.with_name(f"{stem(path)}.provenance.json")


def export_labels(
    case: Case,
    path: Path,
    *,
    source: Case | None = None,
    entries: Iterable[CaseEntry] = (),
    predicted_by: str | None = None,
) -> ExportedLabels:
    """Write the predicted label map of a case on the grid of its file.

    Parameters
    ----------
    case : Case
        As it is on the screen, what was painted included.
    path : Path
        ``FILE.nii.gz`` or ``FILE.nii``, not there yet; the provenance is ``FILE.provenance.json``.
    source : Case, optional
        The case as its files say, for what was changed; None takes `case`: nothing.
    entries : iterable of CaseEntry
        Every case that is reviewed: none of their files is replaced.
    predicted_by : str, optional
        Name of a model that made the prediction on request; it comes from no file then.

    Returns
    -------
    ExportedLabels
        The label map was read back, and equals voxel for voxel and corner for corner what was meant, before it took
        its name.

    Raises
    ------
    WriteError
        If there is no predicted label map, a file is there, the path is that of a file of the review, or it cannot be
        written. Nothing is changed then.
    """
    if case.pred is None:
        raise WriteError(f"case {case.case_id}: there is no predicted label map to write")
    beside = provenance_path(path)
    try:
        check_not_a_source((path, beside), [case.entry, *entries])
        _refuse(path, beside)
    except WriteError:  # is an OSError too, and names the path
        raise
    except OSError as error:  # a name that no file can have, or a folder that may not be looked into
        raise WriteError(f"{path}: {error.strerror or error}") from error
    before = None if source is None or source.pred is None else source.pred.data
    changes = [] if before is None else _changes(before, case.pred.data)
    changed = sum(int(change["voxels"]) for change in changes)
    try:
        with unfinished({"labels": path, "provenance": beside}) as parts:
            write_labels(parts["labels"], case.pred)
            _check(parts["labels"], path, case.pred)
            found = _provenance(case, changes, changed, digest_of(parts["labels"]), predicted_by)
            text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            parts["provenance"].write_text(text, encoding="utf-8")
            parts["provenance"].replace(beside)  # first: there is never a label map without it
            parts["labels"].replace(path)
    except WriteError:
        raise
    except (OSError, MedotterViewerError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"{path}: cannot be written: {reason}") from error
    return ExportedLabels(path, beside, changed)


def _refuse(path: Path, beside: Path) -> None:
    if not path.name.lower().endswith(SUFFIXES) or not stem(path):
        raise WriteError(f"{path}: a label map is written to a name that ends in {' or '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise WriteError(f"{path}: there is no folder {path.parent}")
    for one in (path, beside):
        if one.exists():
            raise WriteError(f"{one} exists; choose another name: nothing is replaced")


def _check(part: Path, path: Path, labels: LabelMap) -> None:
    """Raise WriteError unless the file is read as the label map it should hold."""
    again = read_labels(part)[0]
    same = again.data.shape == labels.data.shape and np.array_equal(again.data, labels.data)
    placed = again.grid.has_world == labels.grid.has_world and (
        not labels.grid.has_world or again.grid.corner_displacement_mm(labels.grid) <= _SAME_MM
    )
    if not same or not placed:
        raise WriteError(f"{path}: not written: it is not read back as it was meant; this is a defect")


def _changes(before: Any, after: Any) -> list[dict[str, int]]:
    """Voxels by id before and id after, the most first."""
    table = overlap_table(before, after)
    rows, columns = np.nonzero(table.counts)
    found = [
        {"from": int(table.gt_ids[r]), "to": int(table.pred_ids[c]), "voxels": int(table.counts[r, c])}
        for r, c in zip(rows, columns, strict=True)
        if table.gt_ids[r] != table.pred_ids[c]
    ]
    return sorted(found, key=lambda change: -change["voxels"])


def _provenance(
    case: Case, changes: list[dict[str, int]], changed: int, sha256: str, predicted_by: str | None
) -> dict[str, Any]:
    origin = case.entry.pred_path
    return {
        "sha256": sha256,
        "case": case.case_id,
        "edited_from": "" if origin is None else str(origin),
        "edited_from_sha256": None if origin is None or not origin.is_file() else digest_of(origin),
        "predicted_by": predicted_by,
        "changed_voxels": changed,
        "changes": changes,
        "by": login_name("unknown"),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "program": "medotter_viewer",
        "version": __version__,
    }
