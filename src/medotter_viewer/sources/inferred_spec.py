"""How cases are scored that come without a specification: a region for each id that occurs, or for each name given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.key_reader import to_id
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.segments import Names, Segments, shared_ids
from medotter_viewer.core.spec import MACRO, EvalSpec, Headline
from medotter_viewer.errors import BundleError, MedotterViewerError
from medotter_viewer.formats import registry
from medotter_viewer.formats.config_files import read_config
from medotter_viewer.formats.dicom.choice import SeriesChoice
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.sources.segment_files import label_series, named_labels, read_segment_file, series_choice

Progress = Callable[[int, int], None]
SegmentIds = Mapping[Names, int]
Regions = dict[str, tuple[int, ...]]
METRICS = ("dice", "iou", "hd95")
INSTANCE_METRICS = ("f1", "aji", "pq")
INSTANCE_REGION = "instances"
MOST_REGIONS = 500
"""More ids than these are no structures; they are single objects, or the files are no label maps."""
_READERS = 4  # files in memory at once
_NO_GRID = Grid((1, 1, 1), np.eye(4))  # of segments whose voxels are let go


def regions_spec(regions: Mapping[str, tuple[int, ...]]) -> EvalSpec:
    """Return a specification with dice, iou and hd95 of some regions, of which the mean is the headline."""
    return EvalSpec("seg", dict(regions), METRICS, Headline(MACRO, METRICS[0]))


def read_label_names(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the regions that a file ``{id: name}`` names; ids of one name are one region, 0 is background.

    Raises
    ------
    BundleError
        If the file holds something else, or names no id but 0.
    ReadError
        If it cannot be read.
    """
    content = read_config(path)
    if not isinstance(content, Mapping) or not content:
        raise BundleError(f"{path}: got {content!r}, expected id: name")
    regions: dict[str, tuple[int, ...]] = {}
    for key, name in content.items():
        if (label := to_id(key, f"{path}: id")) and not isinstance(name, str | int | float):
            raise BundleError(f"{path}: {key}: got {name!r}, expected a name")
        if label:
            regions[str(name)] = (*regions.get(str(name), ()), label)
    if not regions:
        raise BundleError(f"{path}: names no id but background 0")
    return regions


def spec_of_ids(entries: Iterable[CaseEntry], progress: Progress | None = None) -> EvalSpec:
    """Return a specification with a region for every id that occurs in a ground truth (after its remap) or prediction.

    Without any id there is one region for id 1, so that empty masks can be scored.

    Raises
    ------
    BundleError
        If there are more than `MOST_REGIONS` ids.
    """
    return spec_of_found(ids_that_occur(entries, progress))


def spec_of_found(found: Sequence[int]) -> EvalSpec:
    """Return a specification with a region for each of some ids; see `spec_of_ids`.

    Raises
    ------
    BundleError
        If there are more than `MOST_REGIONS`.
    """
    if len(found) > MOST_REGIONS:
        raise BundleError(
            f"{len(found)} different ids occur, expected at most {MOST_REGIONS} structures; give --instances if ids "
            "are names of single objects, or --labels NAMES.yaml to score some of them"
        )
    return regions_spec({str(i): (i,) for i in found or [1]})


def ids_that_occur(entries: Iterable[CaseEntry], progress: Progress | None = None) -> list[int]:
    """Return the ids of all ground truths (after their remap) and predictions, ascending, without background.

    Every file is read once, a few at a time. One that cannot be read adds nothing: its case says what is wrong.
    """
    wanted: dict[tuple[Path, int | None, SeriesChoice], Remap | None] = {}
    for entry in entries:
        series = label_series(entry)
        if entry.gt_path is not None:
            remap = None if entry.remap is None or entry.remap.is_identity else entry.remap
            wanted[entry.gt_path, None if remap is None else id(remap), series] = remap
        if entry.pred_path is not None:
            wanted[entry.pred_path, None, series] = None
    ids: set[int] = set()
    files = list(wanted.items())
    with ThreadPoolExecutor(min(_READERS, os.cpu_count() or 1)) as pool:
        waiting = [pool.submit(_ids_of, path, series) for (path, _, series), _ in files]
        try:
            for done, ((_, remap), future) in enumerate(zip(files, waiting, strict=True), 1):
                native = future.result()
                ids.update(native if remap is None else map(remap.target, native))
                if progress is not None:
                    progress(done, len(files))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return sorted(i for i in ids if i > 0)


def named_regions(entries: Iterable[CaseEntry], progress: Progress | None = None) -> tuple[SegmentIds, Regions]:
    """Return the ids and regions of cases whose files name their structures: one region for each name of any case.

    Plain label maps count by the names that `CaseEntry.label_regions` gives their ids. One file after the other is
    read. One that cannot be read, or has ids without names, adds nothing: its case says what is wrong.
    """
    listed = list(entries)
    found: list[Segments] = []
    for done, entry in enumerate(listed, 1):
        image = next(iter(entry.channels.values()), None)
        for part, path in (("ground truth", entry.gt_path), ("prediction", entry.pred_path)):
            if path is not None and (segments := _segments_of(path, image, entry, part)) is not None:
                found.append(replace(segments, codes=np.zeros((1, 1, 1), dtype=np.uint8), grid=_NO_GRID))
        if progress is not None:
            progress(done, len(listed))
    return shared_ids(found)


def instances_spec(paths: Sequence[Path]) -> EvalSpec:
    """Return the specification of instance masks: one region, every id one object, a match above IoU 0.5.

    The first file that can be read says whether the masks are pictures (2-D) or volumes (3-D); none means volumes.
    """
    task_type = "instance_seg_3d"
    for path in paths:
        try:
            grid, _ = registry.read_grid(path)
        except MedotterViewerError:
            continue
        task_type = "instance_seg_2d" if 1 in grid.shape else "instance_seg_3d"
        break
    return EvalSpec(task_type, {INSTANCE_REGION: (1,)}, INSTANCE_METRICS, Headline(INSTANCE_REGION, "pq"))


def _segments_of(path: Path, image: Path | None, entry: CaseEntry, part: str) -> Segments | None:
    if not registry.is_there(path):
        return None
    try:
        if (named := read_segment_file(path, image=image, series=series_choice(entry))) is not None:
            return named[0]
        if entry.label_regions is None:
            return None
        return named_labels(registry.read_labels(path, label_series(entry))[0], entry.label_regions, part)[0]
    except MedotterViewerError:
        return None


def _ids_of(path: Path, series: SeriesChoice) -> list[int]:
    if not registry.is_there(path):
        return []
    try:
        return list(label_voxels(registry.read_labels(path, series)[0].data))
    except MedotterViewerError:
        return []
