"""What is remembered of a pair of label maps: its key, its parts as values, and the names of its distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.cache.looks import Looks
from medotter_viewer.cache.store import content_key
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats import registry
from medotter_viewer.metrics.overlap import OverlapTable
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.segmentation import spacing_of
from medotter_viewer.sources.segment_files import is_segment_file


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts about a pair of label maps.

    Parameters
    ----------
    table : OverlapTable
        Native ground truth against prediction.
    grid : Grid
        Of the ground truth.
    distances : mapping of str to float
        mm, by `distance_names`.
    findings : sequence of dict
        What reading the files said; see `restored`.
    """

    table: OverlapTable
    grid: Grid
    distances: Mapping[str, float]
    findings: Sequence[dict[str, Any]] = ()


def parse_facts(raw: Mapping[str, Any]) -> Facts:
    """Return facts from the form in which they are kept.

    Raises
    ------
    KeyError, TypeError, ValueError
        If they have another form.
    """
    kept = raw["table"]
    counts = np.array(kept["counts"], dtype=np.int64).reshape(len(kept["gt"]), len(kept["pred"]))
    table = OverlapTable(np.array(kept["gt"], dtype=np.int64), np.array(kept["pred"], dtype=np.int64), counts)
    grid = Grid(tuple(raw["shape"]), np.array(raw["affine"]), bool(raw["has_world"]), is_uneven=bool(raw["is_uneven"]))
    return Facts(table, grid, raw["distances"], raw["findings"])


def facts_key(
    entry: CaseEntry,
    spec: EvalSpec,
    resample: bool,
    files: Sequence[Path] | None = None,
    looks: Looks | None = None,
) -> str | None:
    """Return the key of a case's facts; the bytes of both files are read for it.

    Parameters
    ----------
    entry, spec
        Case and specification.
    resample : bool
        As for `load_case`.
    files : sequence of Path, optional
        The files of ground truth and prediction, where they are known already; see `registry.files_of`.
    looks : Looks, optional
        What was seen of them just now.

    Returns
    -------
    str or None
        None for a case that has no facts: another task, a missing file, an error, named structures. The ids of these
        are made for the cases at hand, and the voxels of contours depend on the series too.
    """
    gt, pred = entry.gt_path, entry.pred_path
    if spec.task_type != "seg" or gt is None or pred is None or entry.remap is None or errors_of(entry.findings):
        return None
    looks = looks or Looks()
    try:
        if entry.segment_ids is not None:
            return None
        if any(not looks.is_nifti(path) and is_segment_file(path) for path in (gt, pred)):
            return None
        if files is None:
            files = [file for path in (gt, pred) for file in registry.files_of(path)]
        # Images say where label maps without a position lie: which files, and whether they were changed, is enough.
        images = [(str(path), _state(path)) for path in entry.channels.values()]
        # What is said of ids without a name depends on the names and the remap; without names nothing does.
        table = None if entry.remap.table is None else dict(entry.remap.table)
        named = {} if entry.label_regions is None else {"names": [dict(entry.label_regions), table]}
        return content_key(*files, looks=looks, resample=resample, images=images, series=entry.series, **named)
    except (OSError, MedotterViewerError):
        return None


def _state(path: Path) -> list[tuple[str, int, int]]:
    """Name, size and time of a file, or of each file of a folder; nothing where there is none."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [(file.name, (at := file.stat()).st_size, at.st_mtime_ns) for file in files if file.is_file()]


def distance_names(
    table: OverlapTable, remap: Remap | None, grid: Grid, spec: EvalSpec, options: ScoreOptions
) -> Callable[[str, tuple[int, ...]], str]:
    """Return a function from a metric and a region's canonical ids to the name of their distance.

    The name depends on which native and predicted ids make up the region, not on what the region is called.
    """
    natives, predicted = table.gt_ids.tolist(), table.pred_ids.tolist()
    targets = [(i, i if remap is None else remap.target(i)) for i in natives]
    spacing = repr(list(spacing_of(grid, spec)))
    hd95 = f"{options.hd95} {spec.hd95_percentile!r}"

    def name(metric: str, ids: tuple[int, ...]) -> str:
        native = [i for i, to in targets if to in ids]
        return f"{metric if metric == 'hd' else hd95} {spacing} {native!r} {[i for i in predicted if i in ids]!r}"

    return name


def _places(entry: CaseEntry) -> list[tuple[str, str]]:
    """Paths that may stand in a finding, and what is stored for them: the same bytes may lie elsewhere next time."""
    named = [("gt", entry.gt_path), ("pred", entry.pred_path), *entry.channels.items()]
    return [(str(path), f"\0{name}\0") for name, path in named if path is not None]


def stored(finding: Finding, entry: CaseEntry) -> dict[str, str | None]:
    """Return the form in which a finding of a case is kept: without the paths and the id of the case."""
    fields = {**finding.to_dict(), "where": None if finding.where == entry.case_id else finding.where}
    for path, mark in _places(entry):
        fields = {k: v.replace(path, mark) if v is not None else None for k, v in fields.items()}
    return fields


def restored(fields: dict[str, Any], entry: CaseEntry) -> Finding:
    """Return a finding from the form in which it is kept, with the paths and the id of this case."""
    for path, mark in _places(entry):
        fields = {k: v.replace(mark, path) if v is not None else None for k, v in fields.items()}
    finding = Finding(**fields)
    return finding if finding.where is not None else replace(finding, where=entry.case_id)
