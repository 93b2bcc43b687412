"""Write the predicted points of a case, as they are on the screen, with their provenance beside them: both or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import dist
from pathlib import Path

from medotter_viewer import __version__
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.login import login_name
from medotter_viewer.core.vertebra_names import in_anatomical_order, moved_along_spine
from medotter_viewer.errors import MedotterViewerError, WriteError
from medotter_viewer.export.replacing import unfinished
from medotter_viewer.export.sources_kept import check_not_a_source
from medotter_viewer.formats.digests import digest_of
from medotter_viewer.formats.landmark_files import read_landmarks
from medotter_viewer.formats.landmark_provenance import Provenance, provenance_path
from medotter_viewer.formats.landmark_writer import write_landmarks
from medotter_viewer.scoring.vertebra_points import labels_there, landmarks_of

_SAME_MM = 1e-3  # a point written and read back
_STILL_MM = 1e-6  # a point that nobody moved


@dataclass(frozen=True, slots=True)
class ExportedLandmarks:
    """What was written.

    Parameters
    ----------
    path, beside : Path
        The file of points, and that of its provenance.
    points : int
        How many.
    provenance : Provenance
        What the second file says.
    """

    path: Path
    beside: Path
    points: int
    provenance: Provenance


def export_landmarks(
    case: Case,
    path: Path,
    *,
    source: Case | None = None,
    unshifted: Case | None = None,
    level_shift: int = 0,
    entries: Iterable[CaseEntry] = (),
    overwrite: bool = False,
) -> ExportedLandmarks:
    """Write the predicted points of a case as VerSe's centroid JSON, in voxels along the axes of its image.

    Parameters
    ----------
    case : Case
        As it is on the screen: with points that a person moved, and after a level shift where one is on.
    path : Path
        ``FILE.json``; the provenance is ``FILE.provenance.json``.
    source : Case, optional
        The case as its files say, for what was changed; None takes `case`: nothing.
    unshifted : Case, optional
        `case` before its labels were moved; needed with a level shift.
    level_shift : int
        By how many levels the labels of `case` are moved against those of `unshifted`.
    entries : iterable of CaseEntry
        Every case that is reviewed: none of their files is replaced but this case's own predicted points.
    overwrite : bool, default False
        Whether a file that is there, that of the prediction too, is replaced.

    Returns
    -------
    ExportedLandmarks
        Both files were read back and agree with what they should hold before they took their names.

    Raises
    ------
    WriteError
        If there is no predicted point, the image does not say how it lies, a file is there, the path is that of
        another file of the case, or it cannot be written. Nothing is changed then.
    """
    pred = landmarks_of(case)[1]
    if pred is None or not pred.points_world:
        why = ", and no mask to take them from" if pred is None else ": all were taken away"
        raise WriteError(f"case {case.case_id}: there are no predicted points to write{why}")
    grid = case.grid
    if grid is None or not grid.has_world:
        raise WriteError(
            f"case {case.case_id}: the image's orientation is unknown, so that points in mm have no place in its voxels"
        )
    beside = provenance_path(path)
    check_not_a_source((path, beside), [case.entry, *entries], own_points_of=case.entry)
    _refuse(path, overwrite)
    try:
        with unfinished({"points": path, "provenance": beside}) as parts:
            write_landmarks(parts["points"], pred, grid)
            _check(parts["points"], path, pred, grid)
            found = _provenance(unshifted or case, source or case, pred, level_shift, digest_of(parts["points"]))
            text = json.dumps(found.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            parts["provenance"].write_text(text, encoding="utf-8")
            if Provenance.from_mapping(json.loads(parts["provenance"].read_text("utf-8")), str(beside)) != found:
                raise WriteError(f"{beside}: not written: it is not read back as it was meant; this is a defect")
            parts["provenance"].replace(beside)  # first: there are never points without it
            parts["points"].replace(path)
    except WriteError:
        raise
    except (OSError, MedotterViewerError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"{path}: cannot be written: {reason}") from error
    return ExportedLandmarks(path, beside, len(pred.points_world), found)


def _refuse(path: Path, overwrite: bool) -> None:
    """Raise WriteError for a path that must not be written."""
    if path.suffix.lower() != ".json":
        raise WriteError(f"{path}: expected a name that ends in .json")
    for one in (path, provenance_path(path)):
        if one.is_dir():
            raise WriteError(f"{one}: is a folder")
        if one.exists() and not overwrite:
            raise WriteError(f"{one} exists; choose another name or allow it to be replaced")


def _check(part: Path, path: Path, pred: Landmarks, grid: Grid) -> None:
    """Raise WriteError unless the file is read as the points it should hold."""
    again = read_landmarks(part, grid)[0].points_world
    expected = pred.points_world
    if set(again) != set(expected) or any(dist(again[i], expected[i]) > _SAME_MM for i in again):
        raise WriteError(f"{path}: not written: the points are not read back where they are; this is a defect")


def _provenance(unshifted: Case, source: Case, pred: Landmarks, level_shift: int, sha256: str) -> Provenance:
    before, after = landmarks_of(source)[1], landmarks_of(unshifted)[1]
    origin = source.entry.pred_landmarks_path or source.entry.pred_path
    then: Mapping[int, Point] = {} if before is None else before.points_world
    now: Mapping[int, Point] = {} if after is None else after.points_world
    moved_to = moved_along_spine(labels_there(unshifted), level_shift)
    # What an earlier hand did to the source stays true of the file that comes from it.
    touched = set() if before is None else before.edited
    changes = {
        "moved": [i for i in now if i in then and (i in touched or dist(now[i], then[i]) > _STILL_MM)],
        "added": [i for i in now if i not in then],
        "removed": [i for i in then if i not in now],
        "left_out_by_level_shift": [i for i in now if level_shift and i not in moved_to],
    }
    return Provenance(
        sha256,
        source.case_id,
        "" if origin is None else str(origin),
        login_name("unknown"),
        datetime.now(UTC).isoformat(timespec="seconds"),
        "medotter_viewer",
        __version__,
        derived=pred.derived,
        level_shift=level_shift,
        **{name: tuple(in_anatomical_order(labels)) for name, labels in changes.items()},
    )
