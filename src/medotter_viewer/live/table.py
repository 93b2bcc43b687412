"""The tables of one case while its prediction is painted on: dice and iou follow from the voxels of a stroke alone.

Nothing trusts what a stroke says it did: of the voxels it names, what they hold now is compared with what was counted,
so that a voxel named twice, or an undo, is as good as a stroke.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import IntArray, Remap
from medotter_viewer.core.scores import CaseScore, RegionScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.live.live_slices import LiveSlices
from medotter_viewer.metrics.overlap import OverlapTable, overlap_table
from medotter_viewer.metrics.slice_tables import SliceTables, slice_tables
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import scored_or_error
from medotter_viewer.scoring.segmentation import score_table, surface_distance
from medotter_viewer.scoring.slices import SliceProfile, scored_ids
from medotter_viewer.sources.label_names import unnamed_of

Voxels = tuple[NDArray[np.integer[Any]], ...]
"""Array indices of some voxels, one array for each axis; a voxel may be named twice."""
DistanceKey = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Metric, native ids and canonical ids of a region: what its distance depends on while the prediction stays."""
_IDENTITY = Remap(None, "none")


class LiveTable:
    """Voxel counts of native ground truth against prediction, whole and slice by slice, and the distances known so far.

    Parameters
    ----------
    case : Case
        See `can_be_live`. Its prediction is what is counted; it is copied before the copy is changed.
    spec, options
        How it is scored.

    Raises
    ------
    MetricInputError
        If there are too many ids for a table.
    """

    def __init__(self, case: Case, spec: EvalSpec, options: ScoreOptions) -> None:
        if case.gt_native is None or case.pred is None:
            raise ValueError(f"case {case.case_id}: gt and pred are needed")
        self.case, self._spec, self._options = case, spec, options
        self._grid, self._gt = case.gt_native.grid, case.gt_native.data
        self._pred: IntArray = case.pred.data
        self._is_own = False
        self._table = overlap_table(self._gt, self._pred)
        self._slices: dict[int, LiveSlices] = {}
        self._known: dict[DistanceKey, float] = {}
        self._log: list[frozenset[tuple[int, int]]] = []

    @property
    def version(self) -> int:
        """How often the prediction was changed."""
        return len(self._log)

    @property
    def table(self) -> OverlapTable:
        """Native ground truth against prediction, as it is now."""
        return self._table

    # ---------------------------------------------------------------- strokes

    def follow(self, pred: IntArray, voxels: Voxels | None = None) -> bool:
        """Count a prediction as it is now; tell whether it differs from what was counted.

        Parameters
        ----------
        pred : (i, j, k) ndarray of int
            The prediction.
        voxels : tuple of ndarray of int, optional
            Where it may have changed; None looks everywhere. Nowhere makes ready for strokes to come: the first
            one does not wait for a copy of the prediction.
        """
        if voxels is None:
            if pred is self._pred:
                return False
            voxels = _where(pred != self._pred)
        else:  # each once
            self._own(pred)
            places = np.sort(np.ravel_multi_index(voxels, pred.shape))
            first = np.ones(places.size, dtype=np.bool_)
            first[1:] = places[1:] != places[:-1]
            voxels = np.unravel_index(places[first], pred.shape)
        old, new = self._pred[voxels].astype(np.int64), pred[voxels].astype(np.int64)
        changed = old != new
        if not changed.any():
            return False
        voxels, old, new = tuple(axis[changed] for axis in voxels), old[changed], new[changed]
        gt = self._gt[voxels].astype(np.int64)
        self._table = self._table.updated((gt, old, new))
        for axis, slices in self._slices.items():
            slices.update(voxels[axis], gt, old, new)
        self._own(pred)
        self._pred[voxels] = new
        pairs = frozenset(zip(old.tolist(), new.tolist(), strict=True))
        self._log.append(pairs)
        self._known = {key: value for key, value in self._known.items() if not _crosses(key, pairs)}
        return True

    def _own(self, pred: IntArray) -> None:
        """Copy what is about to change: it is the file's."""
        if not self._is_own:
            self._pred, self._is_own = self._pred.astype(pred.dtype, order="K", copy=True), True

    # ---------------------------------------------------------------- numbers

    def score(
        self, entry: CaseEntry | None = None, spec: EvalSpec | None = None
    ) -> tuple[CaseScore, list[tuple[str, tuple[int, ...]]]]:
        """Return the scores as `score_case` gives them, as far as they are known.

        Parameters
        ----------
        entry : CaseEntry, optional
            The case with another remap: a what-if.
        spec : EvalSpec, optional
            One with other regions: a what-if.

        Returns
        -------
        score : CaseScore
            Without the distances that are not known.
        missing : list of (str, tuple of int)
            Metric and canonical ids of these distances; see `measure`.
        """
        entry, spec = entry or self.case.entry, spec or self._spec
        canonical = self._table.remap_gt((entry.remap or _IDENTITY).target)
        missing: list[tuple[str, tuple[int, ...]]] = []

        def distance(metric: str, ids: tuple[int, ...]) -> float:
            known = self._known.get(self._key(metric, ids, entry))
            if known is None:
                missing.append((metric, ids))
            return known or 0.0

        score = scored_or_error(
            entry,
            self._findings(entry, canonical),
            lambda: score_table(
                canonical, self._grid, entry, spec, self._options, distance, unscorable=self.case.unscorable
            ),
        )
        asked = set(missing)
        regions: dict[str, RegionScore] = {}
        for name, region in score.regions.items():
            unknown = {m for m, v in region.metrics.items() if v.status == "ok" and (m, spec.regions[name]) in asked}
            kept = {m: v for m, v in region.metrics.items() if m not in unknown}
            regions[name] = replace(region, metrics=kept) if unknown else region
        return replace(score, regions=regions), list(dict.fromkeys(missing))

    def learn(self, distances: Mapping[tuple[str, tuple[int, ...]], float], entry: CaseEntry, version: int) -> None:
        """Keep distances that were measured.

        Parameters
        ----------
        distances : mapping of (str, tuple of int) to float
            From `measure`.
        entry : CaseEntry
            With the remap they were measured under.
        version : int
            That of the prediction they were measured on: those of regions that changed since are dropped.
        """
        since = frozenset().union(*self._log[version:])
        found = {self._key(metric, ids, entry): value for (metric, ids), value in distances.items()}
        self._known.update({key: value for key, value in found.items() if not _crosses(key, since)})

    def changed(self, voxels: Voxels, ids: NDArray[np.integer[Any]]) -> LiveTable:
        """Return the table of the prediction with other ids at some voxels, each named once; this one stays as it is.

        It gives scores and keeps distances that were measured; it has no slices, and strokes cannot be followed in it.
        """
        old, new = self._pred[voxels].astype(np.int64), np.asarray(ids).astype(np.int64)
        pairs = overlap_table(old, new)
        there = [
            pairs_of[i] for pairs_of, i in zip((pairs.gt_ids, pairs.pred_ids), np.nonzero(pairs.counts), strict=True)
        ]
        changes = list(zip(*(side.tolist() for side in there), strict=True))
        other = copy(self)
        other._table = self._table.updated((self._gt[voxels].astype(np.int64), old, new))
        other._known = {key: value for key, value in self._known.items() if not _crosses(key, changes)}
        other._slices, other._log = {}, []
        return other

    # ---------------------------------------------------------------- slices

    def has_slices(self, axis: int) -> bool:
        """Tell whether the slices along a displayed axis were counted."""
        return self._array_axis(axis) in self._slices

    def take_slices(self, axis: int, tables: SliceTables, version: int) -> bool:
        """Keep what `count_slices` found along a displayed axis, unless the prediction changed since `version`."""
        if version == self.version:
            self._slices[self._array_axis(axis)] = LiveSlices(tables)
        return version == self.version

    def profile(self, axis: int, region: str | None = None, entry: CaseEntry | None = None) -> SliceProfile:
        """Return what `slice_profile` returns, along a displayed axis whose slices were counted."""
        entry, order = entry or self.case.entry, display_order(self._grid)
        ids = scored_ids(replace(self.case, entry=entry), self._spec, region)
        one = region is not None and region != MACRO
        found = self._slices[self._array_axis(axis)].region(ids, entry.remap or _IDENTITY, as_one=one)
        step = -1 if order.flips[axis] else 1
        area = self._grid.voxel_volume_mm3 / self._grid.spacing[order.axes[axis]]
        gt, pred, both = (part[::step] for part in found)
        return SliceProfile(gt, pred, both, area)

    # ---------------------------------------------------------------- inside

    def _array_axis(self, axis: int) -> int:
        return display_order(self._grid).axes[axis]

    def _key(self, metric: str, ids: tuple[int, ...], entry: CaseEntry) -> DistanceKey:
        remap = entry.remap or _IDENTITY
        return metric, tuple(i for i in self._table.gt_ids.tolist() if remap.target(i) in ids), ids

    def _findings(self, entry: CaseEntry, canonical: OverlapTable) -> tuple[Finding, ...]:
        """Remarks of the case; what is said of ids without a name is said of the remap in force."""
        if entry is self.case.entry:
            return self.case.findings
        kept = (f for f in self.case.findings if f.code != "id-without-name")
        return (*kept, *unnamed_of(canonical.gt_voxels(), entry))


def can_be_live(case: Case, spec: EvalSpec) -> bool:
    """Tell whether the scores of a case follow from a table: label maps scored region by region, and nothing amiss."""
    if spec.task_type != "seg" or case.errors or case.gt_native is None or case.gt is None or case.pred is None:
        return False
    named = case.regions
    return named is None or all(named.get(name) == ids for name, ids in spec.regions.items())


def measure(
    case: Case, spec: EvalSpec, options: ScoreOptions, missing: Iterable[tuple[str, tuple[int, ...]]]
) -> dict[tuple[str, tuple[int, ...]], float]:
    """Return distances of some regions in mm; of no others is the surface found.

    Parameters
    ----------
    case : Case
        With ground truth after the remap in force, and a prediction that nobody paints on meanwhile.
    spec, options
        How it is scored.
    missing : iterable of (str, tuple of int)
        Metrics and canonical ids, from `LiveTable.score`.
    """
    wanted = list(missing)
    if not wanted or case.gt is None or case.pred is None:
        return {}
    only = replace(spec, regions={str(ids): ids for _, ids in wanted})
    distance = surface_distance(case.gt.data, case.pred.data, case.gt.grid, case.entry, only, options)
    return {(metric, ids): distance(metric, ids) for metric, ids in sorted(wanted, key=lambda one: one[1])}


def count_slices(case: Case, axis: int) -> SliceTables:
    """Return the tables of the slices along a displayed axis, for `LiveTable.take_slices`.

    Raises
    ------
    MetricInputError
        If slices and ids are too many for tables.
    """
    if case.gt_native is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    return slice_tables(case.gt_native.data, case.pred.data, display_order(case.gt_native.grid).axes[axis])


def _crosses(key: DistanceKey, pairs: Iterable[tuple[int, ...]]) -> bool:
    """Whether voxels that changed from one id to another left or entered a region."""
    ids = key[2]
    return any((old in ids) != (new in ids) for old, new in pairs)


def _where(mask: NDArray[np.bool_]) -> Voxels:
    """Indices of what is true, found in memory order: of a mask with little in it that is many times faster."""
    if mask.flags.f_contiguous:
        return np.unravel_index(np.flatnonzero(mask.T), mask.T.shape)[::-1]
    return np.unravel_index(np.flatnonzero(mask), mask.shape)
