"""What the About panel says: the task, the rules in force, how much is covered, every file, every version. Pure."""

from __future__ import annotations

import importlib.metadata
import platform
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medotter_viewer import __version__
from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.spec import MACRO
from medotter_viewer.core.volume import Volume
from medotter_viewer.engine.choice import status
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.evaluation.report import definitions
from medotter_viewer.scoring.segmentation import DISTANCES
from medotter_viewer.session.case_list import CaseRow
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.coverage import coverage_text

Row = tuple[str, str]

_PACKAGES = (
    "napari",
    "numpy",
    "scipy",
    "numba",
    "nibabel",
    "pydicom",
    "scikit-image",
    "shapely",
    "vispy",
    "PyQt6",
    "PySide6",
    "qtpy",
    "app-model",
    "npe2",
    "psygnal",
)
_IDENTITY = ("id", "name", "modality", "anatomy", "description")
_TITLES = {"name": "title", "id": "task id"}
_SITUATIONS = {
    "both_empty": "both empty",
    "gt_nonempty_pred_empty": "prediction empty",
    "gt_empty_pred_nonempty": "ground truth empty",
}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it: names and values, and a text as it was written."""

    title: str
    rows: tuple[Row, ...] = ()
    text: str = ""


def about(session: ReviewSession) -> list[Section]:
    """Return everything there is to say of a review and its open case."""
    found = [
        Section("Task", tuple(_task(session))),
        Section("Definitions in force", tuple(_definitions(session))),
        Section("Coverage", tuple(_coverage(session)), _report(session)),
        Section("Files of the open case", tuple(_files(session.working_case or session.case))),
        Section("Versions", tuple(versions())),
    ]
    return [section for section in found if section.rows or section.text]


def as_text(sections: list[Section]) -> str:
    """Return sections as plain text, for a report of a fault."""
    parts = []
    for section in sections:
        width = max((len(name) for name, _ in section.rows), default=0)
        lines = [f"{name:<{width}}  {value}".rstrip() for name, value in section.rows]
        parts.append("\n".join([section.title, "-" * len(section.title), *lines, *filter(None, [section.text])]))
    return "\n\n".join(parts) + "\n"


def versions() -> Iterator[Row]:
    """Yield program, engine, Python and the packages that matter."""
    yield "medotter-viewer", __version__
    yield "engine", status()
    yield "Python", f"{platform.python_version()} on {platform.platform(terse=True)}"
    for name in _PACKAGES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


# ---------------------------------------------------------------- task and rules


def _task(session: ReviewSession) -> Iterator[Row]:
    source = session.source
    yield "name", source.name
    known = {"version": source.version, "hash": source.hash}
    yield from ((name, f"{value}") for name, value in known.items() if value is not None)
    if source.hash is not None:
        yield "", "the hash is the manifest's, shown and not verified"
    yield "opened from", _whole(source.target)
    yield "task type", session.spec.task_type
    if source.task is not None:
        told = source.task.identity
        yield from (
            (_TITLES.get(key, key), _words(told[key]))
            for key in _IDENTITY
            if told.get(key) is not None and told[key] != source.name
        )
    yield "model", source.model or "no predictions"
    for name, value in source.record().items():
        if value not in (None, False, "") and name not in ("target",):
            yield name.replace("_", " "), _words(value)


def _definitions(session: ReviewSession) -> Iterator[Row]:
    spec, rules = session.spec, definitions(session.spec, session.options)
    if not session.can_score:
        yield "", f"task type {spec.task_type}: cases are shown, not scored"
        return
    scale = f" × {spec.scale:g}" if spec.scale != 1 else ""
    tier = f", tier {spec.headline.tier}" if spec.headline.tier else ""
    region = ", mean over regions" if spec.headline.region == MACRO else f" of {spec.headline.region}"
    yield "headline", f"{spec.headline.metric}{region}{tier}{scale}"
    yield "metrics", ", ".join(session.metrics or spec.metrics)
    if any(metric in DISTANCES for metric in (*session.metrics, *spec.metrics)):
        hd95 = rules["hd95"]
        spacing = hd95["spacing"] if isinstance(hd95["spacing"], str) else " × ".join(f"{s:g}" for s in hd95["spacing"])
        yield "hd95", f"{hd95['name']}: {hd95['meaning']}"
        yield "hd95 percentile", f"{hd95['percentile']:g}, {hd95['interpolation'] or 'by area'}"
        yield "hd95 surface", hd95["surface"]
        yield (
            "hd95 spacing",
            "of each file's header" if spacing == "from_header" else f"{spacing} mm, fixed by the task",
        )
    if spec.is_instances:
        yield "a match", f"IoU > {spec.iou_threshold:g}"
    for metric, table in spec.empty_structure.items():
        said = ", ".join(f"{_SITUATIONS.get(name, name)} {value:g}" for name, value in table.items())
        yield f"empty: {metric}", f"{said} (of the task)"
    if not spec.is_instances:
        yield "empty otherwise", rules["without_rule"]
    yield "partial labels", "only regions a dataset labels are scored" if spec.partial_label else "no"
    first = "cases of one patient, then " if spec.unit == "patient" else ""
    yield "averaging", f"over {first}{'patients' if first else 'cases'} for each region, then over regions"
    yield "missing predictions", "left out, and the result is incomplete" if rules["missing"] == "skip" else "as empty"


# ---------------------------------------------------------------- coverage


def _coverage(session: ReviewSession) -> Iterator[Row]:
    for split in ("test", "train"):
        ids = session.source.case_ids(split)
        if ids:
            rows = [row for case_id in ids if (row := _row(session, case_id)) is not None]
            yield split, _counted(len(ids), len(rows), Counter(row.status for row in rows))


def _counted(n_ids: int, n_listed: int, statuses: Mapping[str, int]) -> str:
    predicted = n_listed - sum(statuses.get(s, 0) for s in ("no prediction", "missing file", ""))
    parts = [f"{n_ids} case{'s' * (n_ids != 1)}"]
    if n_listed < n_ids:
        parts.append(f"{n_listed} listed")
    parts.append(f"{predicted} predicted")
    words = {"no prediction": "without prediction", "missing file": "with a missing file", "error": "with an error"}
    parts += [f"{statuses[s]} {word}" for s, word in words.items() if statuses.get(s)]
    return ", ".join([*parts, f"{statuses.get('scored', 0)} scored"])


def _report(session: ReviewSession) -> str:
    """The bundle's own report of coverage, as it was written."""
    source = session.source
    try:
        return coverage_text(source.bundle.directory) if isinstance(source, BundleSource) else ""
    except MedotterViewerError as error:
        return str(error)


# ---------------------------------------------------------------- files


def _files(case: Case | None) -> Iterator[Row]:
    if case is None:
        return
    entry = case.entry
    yield "case", case.case_id
    for name, path in entry.channels.items():
        yield from _file(f"channel {name}", path, case.channels.get(name))
    yield from _file("ground truth", entry.gt_path, case.gt_native)
    yield from _file("prediction", entry.pred_path, case.pred)
    if entry.pred_path is None and case.pred is not None:
        yield "prediction", f"in no file; {_held(case.pred)}"
    yield from _file("ground-truth points", entry.gt_landmarks_path, None, of_voxels=False)
    yield from _file("predicted points", entry.pred_landmarks_path, None, of_voxels=False)
    if entry.scan is not None:
        yield "scan folder", _whole(entry.scan.folder)
    if entry.remap is not None:
        yield (
            "label remap",
            entry.remap.source or {"none": "none: ids are canonical"}.get(entry.remap.form, entry.remap.form),
        )


def _file(name: str, path: Path | None, part: Any, *, of_voxels: bool = True) -> Iterator[Row]:
    if path is None:
        return
    yield name, _whole(path)
    facts = [_size(path)]
    if part is not None:
        facts.append(_held(part))
    elif of_voxels:
        facts.append("not read")
    yield "", "; ".join(filter(None, facts))


def _held(part: Any) -> str:
    """Grid and type of an image or label map."""
    grid: Grid = part.grid
    unit = f", {part.unit}" if isinstance(part, Volume) and part.unit else ""
    colour = ", colour" if isinstance(part, Volume) and part.rgb else ""
    return f"{grid.describe()}, {part.data.dtype}{colour}{unit}"


def _size(path: Path) -> str:
    try:
        if path.is_dir():
            return "folder"
        n_bytes = path.stat().st_size
    except OSError as error:
        return error.strerror or "not there"
    return f"{n_bytes:,} bytes"


def _whole(path: str | Path) -> str:
    """A path from the root, so that it can be pasted."""
    try:
        return str(Path(path).absolute())
    except (OSError, ValueError):
        return str(path)


def _words(value: Any) -> str:
    """A value of a stranger's file in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return " ".join(str(value).split())


def _row(session: ReviewSession, case_id: str) -> CaseRow | None:
    """The line of a case; None where this review lists another split."""
    try:
        return session.row(case_id)
    except KeyError:
        return None
