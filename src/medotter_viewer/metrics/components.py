"""The errors of a prediction as a ranked list of connected pieces: what to look at, largest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.overlap import check_label_arrays, id_mask, is_fortran_like
from medotter_viewer.metrics.piece_shapes import piece_shapes
from medotter_viewer.metrics.pieces import KINDS, ErrorComponent, ErrorPieces, KindTotal
from medotter_viewer.metrics.reach import Reach, Surface
from medotter_viewer.metrics.surface import check_spacing
from medotter_viewer.metrics.voxel_runs import Runs, connected, runs_of

Connectivity = Literal["faces", "corners"]

_HIGHEST = 1 << 31  # a pair of ids below it is one number
_MOST_ENTRIES = 1 << 24  # of a table of pieces and ids

_Ints = NDArray[np.int64]


def error_components(
    gt: NDArray[np.integer[Any]],
    pred: NDArray[np.integer[Any]],
    *,
    spacing: Sequence[float],
    ids: Iterable[int] | None = None,
    as_one: bool = False,
    connectivity: Connectivity = "faces",
    with_distance: bool = False,
) -> list[ErrorComponent]:
    """Return the connected pieces of missed, invented and wrongly labelled voxels, largest first.

    Parameters
    ----------
    gt, pred, spacing, ids, as_one, connectivity
        As for `error_pieces`.
    with_distance : bool
        Whether to measure how far each piece reaches from the other side's surface.

    Returns
    -------
    list of ErrorComponent
        By volume; of equal ones first the one whose first voxel comes first in C order. Empty without errors.

    Raises
    ------
    MetricInputError
        If the shapes differ, a type is not whole, or the spacing or connectivity cannot be used.

    Examples
    --------
    >>> gt, pred = np.array([[1, 1, 0, 0, 0, 2]]), np.array([[1, 0, 0, 2, 2, 1]])
    >>> for c in error_components(gt, pred, spacing=(1, 2)):
    ...     print(c.id, c.kind, c.gt_label, c.pred_label, c.volume_mm3, c.centroid, c.voxel)
    1 fp 0 2 4.0 (0.0, 3.5) (0, 3)
    2 fn 1 0 2.0 (0.0, 1.0) (0, 1)
    3 wrong 2 1 2.0 (0.0, 5.0) (0, 5)
    """
    chosen = None if ids is None else tuple(ids)
    found = error_pieces(gt, pred, spacing=spacing, ids=chosen, as_one=as_one, connectivity=connectivity)
    if with_distance:
        found = with_farthest(found, gt, pred, spacing=spacing, ids=chosen, as_one=as_one)
    return list(found.listed)


def error_pieces(
    gt: NDArray[np.integer[Any]],
    pred: NDArray[np.integer[Any]],
    *,
    spacing: Sequence[float],
    ids: Iterable[int] | None = None,
    as_one: bool = False,
    connectivity: Connectivity = "faces",
    limit: int | None = None,
) -> ErrorPieces:
    """Return the errors of two label maps as connected pieces; what it costs follows from the wrong voxels.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape.
    spacing : sequence of float
        mm per step along each array axis, in axis order.
    ids : iterable of int, optional
        Ids that count; all others are background on both sides. None takes every id but 0.
    as_one : bool
        Whether the ids are one mask (a region). Without, voxels of a piece have one id on each side: two neighbours
        with other ids are two pieces. As one mask there is no wrong label: what lies in the region on one side alone
        is missed or invented, whatever the other side has there.
    connectivity : {"faces", "corners"}
        Whether only voxels that share a face are connected (6 neighbours; 4 in 2-D), or those too that touch by an edge
        or a corner (26; 8 in 2-D).
    limit : int, optional
        How many pieces are listed; None lists all.

    Raises
    ------
    MetricInputError
        If the shapes differ, a type is not whole, or the spacing or connectivity cannot be used.
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    check_label_arrays(gt, pred)
    steps = check_spacing(spacing, gt.ndim)
    if connectivity not in ("corners", "faces"):
        raise MetricInputError(f"connectivity: got {connectivity!r}, expected corners or faces")
    is_fortran = is_fortran_like(gt)
    turned = (gt.T, pred.T) if is_fortran else (gt, pred)
    flat_gt, flat_pred = (np.ascontiguousarray(side).ravel() for side in turned)
    wanted = None if ids is None else [i for i in ids if i != 0]
    voxels, g, p, kinds, codes = _wrong_voxels(flat_gt, flat_pred, wanted, as_one=as_one)
    runs = runs_of(voxels, codes, turned[0].shape)
    if not voxels.size:
        return ErrorPieces((), {}, runs, np.zeros(1, dtype=np.int64), is_fortran)
    number = connected(runs, corners=connectivity == "corners")
    sizes = np.bincount(number, weights=runs.length).astype(np.int64)
    kind_of = np.empty(sizes.size, dtype=np.int64)
    first_voxel = np.cumsum(runs.length) - runs.length
    kind_of[number] = kinds[first_voxel]
    totals = {
        kind: KindTotal(int((kind_of == i).sum()), int(sizes[kind_of == i].sum())) for i, kind in enumerate(KINDS)
    }
    first_index, last_index = runs.ends()
    c_order = _c_order(first_index, gt.shape, is_fortran=is_fortran)
    first = np.full(sizes.size, gt.size, dtype=np.int64)
    np.minimum.at(first, number, c_order)
    ranked = np.lexsort((first, -sizes))[:limit]
    place = np.full(sizes.size, -1, dtype=np.int64)
    place[ranked] = np.arange(ranked.size)
    of_run = place[number]
    kept = np.flatnonzero(of_run >= 0)
    kept = kept[np.argsort(of_run[kept], kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(of_run[kept], minlength=ranked.size))])
    mine = Runs(runs.shape, runs.start[kept], runs.length[kept], runs.code[kept])
    starts, ends = first_index[kept], last_index[kept]
    if is_fortran:
        starts, ends = starts[:, ::-1], ends[:, ::-1]
    of_voxel = runs.of_voxels(of_run)
    labels = [_most_common(of_voxel, side, ranked.size, one=not as_one) for side in (g, p)]
    shapes = piece_shapes(starts, ends, bounds, steps)
    listed = tuple(
        ErrorComponent(
            id=n + 1,
            kind=KINDS[int(kind_of[piece])],
            gt_label=int(labels[0][n]),
            pred_label=int(labels[1][n]),
            voxels=int(sizes[piece]),
            volume_mm3=int(sizes[piece]) * float(steps.prod()),
            centroid=tuple(shapes.centroid[n].tolist()),
            box=tuple(zip(shapes.low[n].tolist(), shapes.high[n].tolist(), strict=True)),
            voxel=tuple(shapes.voxel[n].tolist()),
        )
        for n, piece in enumerate(ranked.tolist())
    )
    return ErrorPieces(listed, totals, mine, bounds, is_fortran)


def with_farthest(
    pieces: ErrorPieces,
    gt: NDArray[np.integer[Any]],
    pred: NDArray[np.integer[Any]],
    *,
    spacing: Sequence[float],
    ids: Iterable[int] | None = None,
    as_one: bool = False,
) -> ErrorPieces:
    """Return the same pieces with how far each listed one reaches; the other parameters as for `error_pieces`."""
    gt, pred = np.asarray(gt), np.asarray(pred)
    steps = check_spacing(spacing, gt.ndim)
    region = None if ids is None or not as_one else tuple(i for i in ids if i != 0)
    if as_one and region is None:
        gt, pred, region = gt != 0, pred != 0, (1,)

    def surface(piece: ErrorComponent) -> Surface:
        if piece.kind == "fn":
            return "pred", region or (piece.gt_label,)
        return "gt", region or (piece.pred_label,)

    towards: dict[Surface, list[int]] = {}
    for place, piece in enumerate(pieces.listed):
        towards.setdefault(surface(piece), []).append(place)
    reach = Reach(gt, pred, steps, towards)
    listed = list(pieces.listed)
    for wanted, places in towards.items():
        parts = [np.stack(pieces.index(place), axis=1) for place in places]
        away = reach.distances(wanted, np.concatenate(parts))
        if away is None:
            continue
        for place, index, distances in zip(
            places, parts, np.split(away, np.cumsum([len(p) for p in parts])[:-1]), strict=True
        ):
            farthest = float(distances.max())
            equals = index[distances == farthest]
            at = equals[np.lexsort(equals.T[::-1])[0]]
            listed[place] = replace(listed[place], farthest_mm=farthest, farthest_voxel=tuple(at.tolist()))
    return replace(pieces, listed=tuple(listed))


def _wrong_voxels(
    gt: NDArray[Any], pred: NDArray[Any], ids: list[int] | None, *, as_one: bool
) -> tuple[_Ints, NDArray[Any], NDArray[Any], _Ints, _Ints]:
    """Flat index of every wrong voxel, its ids on both sides, its kind, and a code for what a piece has in common."""
    voxels = np.flatnonzero(gt != pred)
    g, p = gt[voxels], pred[voxels]
    if as_one:
        in_gt, in_pred = ((side != 0) if ids is None else id_mask(side, ids) for side in (g, p))
        wrong = in_gt != in_pred
        kinds = np.where(in_gt[wrong], KINDS.index("fn"), KINDS.index("fp"))
        return voxels[wrong], g[wrong], p[wrong], kinds, kinds
    if ids is not None:
        g, p = (np.where(id_mask(side, ids), side, side.dtype.type(0)) for side in (g, p))
        wrong = g != p
        voxels, g, p = voxels[wrong], g[wrong], p[wrong]
    kinds = np.where(p == 0, KINDS.index("fn"), np.where(g == 0, KINDS.index("fp"), KINDS.index("wrong")))
    return voxels, g, p, kinds, _pair_codes(g, p)


def _pair_codes(g: NDArray[Any], p: NDArray[Any]) -> _Ints:
    """One number for each pair of ids."""
    if g.size and max(int(g.max()), int(p.max())) < _HIGHEST and min(int(g.min()), int(p.min())) >= 0:
        codes: _Ints = g.astype(np.int64) * _HIGHEST + p.astype(np.int64)
        return codes
    (_, g_number), (p_ids, p_number) = (np.unique(side, return_inverse=True) for side in (g, p))
    return np.asarray(g_number * max(p_ids.size, 1) + p_number, dtype=np.int64)


def _c_order(index: NDArray[np.intp], shape: tuple[int, ...], *, is_fortran: bool) -> _Ints:
    """Place of voxels in C order of an array, whatever order it has in memory."""
    axes = index[:, ::-1] if is_fortran else index
    return np.asarray(np.ravel_multi_index(tuple(axes.T), shape), dtype=np.int64)


def _most_common(piece: _Ints, ids: NDArray[Any], n: int, *, one: bool) -> NDArray[Any]:
    """Return for each listed piece the id that most of its voxels have; `one` says that all have the same."""
    listed = piece >= 0
    piece, ids = piece[listed], ids[listed].astype(np.int64)
    if one:
        out = np.zeros(n, dtype=np.int64)
        out[piece] = ids
        return out
    known, number = np.unique(ids, return_inverse=True)
    if n * known.size <= _MOST_ENTRIES:
        counts = np.bincount(piece * known.size + number, minlength=n * known.size).reshape(n, known.size)
        return np.asarray(known[counts.argmax(axis=1)])
    return np.array([known[np.bincount(number[piece == i]).argmax()] for i in range(n)], dtype=np.int64)
