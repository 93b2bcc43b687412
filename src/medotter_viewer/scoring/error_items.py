"""The errors of a case as a list to walk through: connected pieces with names, and what if one were gone.

For one region a piece is what lies in it on one side alone. For all regions a piece has one id on each side: missed
where the prediction has background, invented where the ground truth has, a wrong label where both have one.
Pieces are connected through faces of voxels: what touches by an edge or a corner alone is two pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.metrics.components import error_pieces, with_farthest
from medotter_viewer.metrics.pieces import ErrorComponent, ErrorKind, ErrorPieces
from medotter_viewer.scoring.segmentation import is_labelled, spacing_of

MOST_LISTED = 500
"""Pieces of a list: the largest; how many more there are is to be said."""
UNEVEN = "no distance: the slices lie unevenly, and a distance needs one spacing"


@dataclass(frozen=True, slots=True)
class ErrorItem:
    """One piece of the list.

    Parameters
    ----------
    piece : ErrorComponent
        Kind, ids, size and place; indices are those of the file's array.
    gt_name, pred_name : str
        What the ids of both sides are called. Of a piece of one region that most of its voxels have.
    volume_mm3 : float
        By the volume of a voxel of the ground truth's grid.
    why_no_distance : str
        Why it has no farthest voxel; empty where it has one, and while that is not measured.
    """

    piece: ErrorComponent
    gt_name: str
    pred_name: str
    volume_mm3: float
    why_no_distance: str = ""

    @property
    def kind(self) -> ErrorKind:
        """Missed, invented, or another label."""
        return self.piece.kind

    @property
    def place(self) -> int:
        """Where its piece stands among those that are listed: rank by volume less one."""
        return self.piece.id - 1


@dataclass(frozen=True, slots=True, eq=False)
class ErrorItems:
    """The errors of a case.

    Parameters
    ----------
    case : Case
        What was compared; nobody paints on its prediction.
    region : str or None
        The region that was looked at alone; None is all that are scored.
    ids : tuple of int
        Canonical ids that were compared.
    pieces : ErrorPieces
        Where they lie.
    items : tuple of ErrorItem
        The largest pieces, in the order in which they are walked through.
    is_measured : bool
        Whether the farthest voxels are known.
    """

    case: Case
    region: str | None
    ids: tuple[int, ...]
    pieces: ErrorPieces
    items: tuple[ErrorItem, ...]
    is_measured: bool = False

    @property
    def n_left_out(self) -> int:
        """How many smaller pieces are not listed."""
        return self.pieces.n_pieces - len(self.items)

    @property
    def voxel_mm3(self) -> float:
        """Volume of a voxel."""
        return 0.0 if self.case.gt is None else self.case.gt.grid.voxel_volume_mm3

    @property
    def is_ranked(self) -> bool:
        """Whether they stand in the order of their volumes."""
        return [item.place for item in self.items] == list(range(len(self.items)))

    def ranked(self) -> ErrorItems:
        """Return the same in the order of their volumes."""
        return replace(self, items=tuple(sorted(self.items, key=lambda item: item.place)))

    def in_order(self, places: list[int]) -> ErrorItems:
        """Return the same in another order: first the pieces at some places, then all others by volume."""
        by_place = {item.place: item for item in self.items}
        first = [by_place[place] for place in places]
        rest = [by_place[place] for place in sorted(by_place.keys() - set(places))]
        return replace(self, items=(*first, *rest))


def compared_ids(case: Case, spec: EvalSpec, region: str | None) -> tuple[int, ...]:
    """Return the canonical ids of a region, or of all regions that this case is scored for, without background."""
    if region is not None and region != MACRO:
        return tuple(sorted(set(spec.regions[region]) - {0}))
    scored = (
        ids for name, ids in spec.regions.items() if name not in case.unscorable and is_labelled(case.entry, spec, ids)
    )
    return tuple(sorted({i for ids in scored for i in ids} - {0}))


def why_no_errors(case: Case, spec: EvalSpec, region: str | None) -> str:
    """Return why a case, or a region of it, cannot be compared voxel by voxel; empty where it can."""
    if case.errors:
        return f"not compared: {case.errors[0].message}"
    missing = [name for name, side in (("ground truth", case.gt), ("prediction", case.pred)) if side is None]
    if missing:
        return f"not compared: no label map of the {' and of the '.join(missing)}"
    if region is not None and region != MACRO:
        if region in case.unscorable:
            return f"{region} is not scored in this case: it was drawn, but could not be placed"
        if not is_labelled(case.entry, spec, spec.regions[region]):
            return f"{region} is not labelled by this dataset: nothing can be called missed or invented"
    return "" if compared_ids(case, spec, region) else "not compared: no region of this case is scored"


def find_errors(case: Case, spec: EvalSpec, region: str | None = None, *, limit: int = MOST_LISTED) -> ErrorItems:
    """Return the errors of a case, largest first; how far they reach is not measured yet.

    Parameters
    ----------
    case : Case
        One that can be compared: see `why_no_errors`. Nobody may paint on its prediction meanwhile or later.
    spec : EvalSpec
        Regions.
    region : str, optional
        Taken as one mask; None (or ``macro_avg``) takes all scored ids apart.
    limit : int
        How many are listed.

    Raises
    ------
    ValueError
        If a side is missing.
    MetricInputError
        If ids or shapes cannot be compared.
    """
    gt, pred = _sides(case)
    region = None if region == MACRO else region
    ids = compared_ids(case, spec, region)
    pieces = error_pieces(gt.data, pred.data, spacing=gt.grid.spacing, ids=ids, as_one=region is not None, limit=limit)
    return ErrorItems(case, region, ids, pieces, _items(pieces, gt, spec))


def measured(found: ErrorItems, spec: EvalSpec) -> ErrorItems:
    """Return the same with how far each listed piece reaches from the other side, in the same order.

    Distances run to the surface that the prediction should have had there or has it from: a missed piece is so far from
    the prediction, an invented one from the ground truth, a wrong label from the ground truth of what was predicted.
    Spacing is that of hd95. Where the other side is empty there is no distance, and the item says why.
    """
    gt, pred = _sides(found.case)
    if gt.grid.is_uneven and spec.hd95_spacing is None:
        items = tuple(replace(item, why_no_distance=UNEVEN) for item in found.items)
        return replace(found, items=items, is_measured=True)
    pieces = with_farthest(
        found.pieces,
        gt.data,
        pred.data,
        spacing=spacing_of(gt.grid, spec),
        ids=found.ids,
        as_one=found.region is not None,
    )
    items = tuple(
        replace(
            item,
            piece=pieces.listed[item.place],
            why_no_distance="" if pieces.listed[item.place].farthest_mm is not None else _nothing(item, found.region),
        )
        for item in found.items
    )
    return replace(found, pieces=pieces, items=items, is_measured=True)


def same_pieces(before: ErrorItems, after: ErrorItems) -> dict[int, int]:
    """Return which listed pieces are still there after a change of the prediction: place before to place after.

    Of the pieces of its kind a piece is the one that shares most of its voxels; none is two at once. What was mended
    is not there, and of a piece that was cut in two the larger part is.
    """
    old, new = before.pieces, after.pieces
    if not old.listed or not new.listed or old.runs.shape != new.runs.shape or old.is_fortran != new.is_fortran:
        return {}
    order = np.argsort(new.runs.start)
    start, length = new.runs.start[order], new.runs.length[order]
    piece_of_run = np.repeat(np.arange(len(new.listed)), np.diff(new.bounds))[order]
    voxels = old.runs.voxels()
    piece = old.runs.of_voxels(np.repeat(np.arange(len(old.listed)), np.diff(old.bounds)))
    run = np.searchsorted(start, voxels, side="right") - 1
    inside = (run >= 0) & (voxels < start[run] + length[run])
    pairs = piece[inside] * len(new.listed) + piece_of_run[run[inside]]
    known, counts = np.unique(pairs, return_counts=True)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for pair in known[np.argsort(-counts, kind="stable")].tolist():
        one, other = divmod(pair, len(new.listed))
        if one not in found and other not in taken and old.listed[one].kind == new.listed[other].kind:
            found[one] = other
            taken.add(other)
    return found


def mended_voxels(found: ErrorItems, item: ErrorItem) -> tuple[tuple[NDArray[np.intp], ...], NDArray[np.int64]]:
    """Return the voxels of a piece and the ids they would have if it were gone.

    An invented voxel becomes background, a missed one and one with a wrong label get the id of the ground truth.

    Returns
    -------
    voxels : tuple of ndarray of int
        Indices along each axis of the file.
    ids : (n,) ndarray of int64
        Canonical ids.
    """
    gt, _ = _sides(found.case)
    voxels = found.pieces.index(item.place)
    ids = gt.data[voxels].astype(np.int64)
    return voxels, np.where(np.isin(ids, found.ids), ids, 0)


def without_piece(found: ErrorItems, item: ErrorItem) -> Case:
    """Return the case with a prediction in which a piece is gone; the arrays of `found` stay as they are."""
    _, pred = _sides(found.case)
    voxels, ids = mended_voxels(found, item)
    kind: Any = np.promote_types(pred.data.dtype, np.min_scalar_type(int(ids.max(initial=0))))
    data = pred.data.astype(kind, order="K", copy=True)
    data[voxels] = ids
    return replace(found.case, pred=LabelMap(data, pred.grid))


def id_name(label: int, spec: EvalSpec) -> str:
    """Return what an id is called: the region of that id alone, else the smallest region that holds it, with the id.

    Examples
    --------
    >>> from medotter_viewer.core.spec import EvalSpec, Headline
    >>> spec = EvalSpec("seg", {"WT": (1, 2, 3), "TC": (1, 3), "ET": (3,)}, ("dice",), Headline("WT", "dice"))
    >>> [id_name(i, spec) for i in (0, 3, 1, 2, 9)]
    ['background', 'ET', 'TC (1)', 'WT (2)', 'id 9']
    """
    if label == 0:
        return "background"
    regions = sorted((len(ids), name) for name, ids in spec.regions.items() if label in ids)
    if not regions:
        return f"id {label}"
    size, name = regions[0]
    return name if size == 1 else f"{name} ({label})"


def _items(pieces: ErrorPieces, gt: LabelMap, spec: EvalSpec) -> tuple[ErrorItem, ...]:
    names: Mapping[int, str] = {
        label: id_name(label, spec) for piece in pieces.listed for label in (piece.gt_label, piece.pred_label)
    }
    size = gt.grid.voxel_volume_mm3
    return tuple(
        ErrorItem(piece, names[piece.gt_label], names[piece.pred_label], piece.voxels * size) for piece in pieces.listed
    )


def _nothing(item: ErrorItem, region: str | None) -> str:
    """Why there is no distance to the other side."""
    if item.kind == "fn":
        return f"no distance: the prediction has no {region or item.gt_name} at all"
    return f"no distance: the ground truth has no {region or item.pred_name} at all"


def _sides(case: Case) -> tuple[LabelMap, LabelMap]:
    if case.gt is None or case.pred is None:
        raise ValueError(f"case {case.case_id}: gt and pred are needed")
    return case.gt, case.pred
