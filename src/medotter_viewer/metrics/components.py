"""The errors of a prediction as a ranked list of connected pieces: what to look at, largest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.overlap import check_label_arrays, id_mask, is_fortran_like
from medotter_viewer.metrics.surface import bounding_box, check_spacing, surface_index

ErrorKind = Literal["fn", "fp", "wrong"]


@dataclass(frozen=True, slots=True)
class ErrorComponent:
    """One connected piece of voxels that share a ground-truth and a predicted id, which differ.

    Parameters
    ----------
    id : int
        Rank by volume, from 1.
    kind : {"fn", "fp", "wrong"}
        Missed, invented, or another label.
    gt_label, pred_label : int
        Ids on both sides; 0 is background.
    voxels : int
        How many.
    volume_mm3 : float
        Voxels times the product of the spacing (mm2 in 2-D).
    centroid : tuple of float
        Mean array index; of a bent piece it may lie outside.
    box : tuple of (int, int)
        First index and one past the last, for each axis.
    farthest_mm : float or None
        Largest distance of a voxel to the other side's surface, where it was asked for and there is one: missed voxels
        to the surface of their label in the prediction, all others to that of the predicted label in the ground truth.
    farthest_voxel : tuple of int or None
        Where that is: always a voxel of the piece.
    """

    id: int
    kind: ErrorKind
    gt_label: int
    pred_label: int
    voxels: int
    volume_mm3: float
    centroid: tuple[float, ...]
    box: tuple[tuple[int, int], ...]
    farthest_mm: float | None = None
    farthest_voxel: tuple[int, ...] | None = None


def error_components(
    gt: NDArray[np.integer[Any]],
    pred: NDArray[np.integer[Any]],
    *,
    spacing: Sequence[float],
    ids: Iterable[int] | None = None,
    connectivity: Literal["corners", "faces"] = "corners",
    with_distance: bool = False,
) -> list[ErrorComponent]:
    """Return the connected pieces of missed, invented and wrongly labelled voxels, largest first.

    Parameters
    ----------
    gt, pred : ndarray of int or bool
        Label maps of one shape. For a region pass its two masks: then there is no wrong label.
    spacing : sequence of float
        mm per step along each array axis, in axis order.
    ids : iterable of int, optional
        Ids that count; all others are background on both sides. None takes every id but 0.
    connectivity : {"corners", "faces"}
        Whether voxels that touch by an edge or a corner are connected (26 neighbours; 8 in 2-D), or only those that
        share a face (6; 4 in 2-D).
    with_distance : bool
        Whether to measure how far each piece reaches from the other side's surface; it costs a search tree for each
        label.

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
    ...     print(c.id, c.kind, c.gt_label, c.pred_label, c.volume_mm3, c.centroid)
    1 fp 0 2 4.0 (0.0, 3.5)
    2 fn 1 0 2.0 (0.0, 1.0)
    3 wrong 2 1 2.0 (0.0, 5.0)
    """
    gt, pred = np.asarray(gt), np.asarray(pred)
    check_label_arrays(gt, pred)
    steps = check_spacing(spacing, gt.ndim)
    if connectivity not in ("corners", "faces"):
        raise MetricInputError(f"connectivity: got {connectivity!r}, expected corners or faces")
    if ids is not None:
        wanted = [i for i in ids if i != 0]
        gt, pred = (np.where(id_mask(labels, wanted), labels, labels.dtype.type(0)) for labels in (gt, pred))
    # Every error lies in the box of what is not background; so does every surface to which distances run.
    box = bounding_box((gt != 0) | (pred != 0))
    if box is None:
        return []
    gt, pred = gt[box], pred[box]
    corner = np.array([s.start for s in box])
    rank = gt.ndim if connectivity == "corners" else 1
    found = [piece for pair in _pairs(gt, pred) for piece in _pieces(*pair, rank=rank)]
    found.sort(key=lambda piece: (-len(piece[2]), tuple(piece[2][0])))
    reach = _Reach(gt, pred, steps) if with_distance else None
    components = []
    for number, (g, p, voxels) in enumerate(found, start=1):
        low, high = voxels.min(axis=0) + corner, voxels.max(axis=0) + corner + 1
        component = ErrorComponent(
            id=number,
            kind="fn" if p == 0 else "fp" if g == 0 else "wrong",
            gt_label=g,
            pred_label=p,
            voxels=len(voxels),
            volume_mm3=len(voxels) * float(steps.prod()),
            centroid=tuple((voxels.mean(axis=0) + corner).tolist()),
            box=tuple(zip(low.tolist(), high.tolist(), strict=True)),
        )
        farthest = reach.of(g, p, voxels) if reach else None
        if farthest is not None:
            distance_mm, at = farthest
            component = replace(component, farthest_mm=distance_mm, farthest_voxel=tuple((at + corner).tolist()))
        components.append(component)
    return components


_Piece = tuple[int, int, NDArray[np.intp]]


def _pairs(gt: NDArray[Any], pred: NDArray[Any]) -> list[_Piece]:
    """Return each pair of ids that differ, and its (n, ndim) voxels in C order."""
    wrong = gt != pred
    at = np.argwhere(wrong.T)[:, ::-1] if is_fortran_like(wrong) else np.argwhere(wrong)
    g, p = gt[tuple(at.T)].astype(np.int64), pred[tuple(at.T)].astype(np.int64)
    order = np.lexsort((*at.T[::-1], p, g))
    g, p, at = g[order], p[order], at[order]
    cuts = np.flatnonzero((np.diff(g) != 0) | (np.diff(p) != 0)) + 1
    parts = zip(np.split(g, cuts), np.split(p, cuts), np.split(at, cuts), strict=True)
    return [(int(gs[0]), int(ps[0]), voxels) for gs, ps, voxels in parts if gs.size]


def _pieces(g: int, p: int, voxels: NDArray[np.intp], *, rank: int) -> list[_Piece]:
    """Return the connected pieces of a pair's voxels."""
    from scipy import ndimage

    low = voxels.min(axis=0)
    there = tuple((voxels - low).T)
    mask = np.zeros(voxels.max(axis=0) - low + 1, dtype=np.bool_)
    mask[there] = True
    pieces, n = ndimage.label(mask, structure=ndimage.generate_binary_structure(mask.ndim, rank))
    number = pieces[there]
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=n + 1)[1:])
    return [(g, p, piece) for piece in np.split(voxels[order], ends[:-1])]


class _Reach:
    """How far voxels are from the surface of a label on the other side; one search tree for each label and side."""

    def __init__(self, gt: NDArray[Any], pred: NDArray[Any], steps: NDArray[np.float64]) -> None:
        self._sides = {"gt": gt, "pred": pred}
        self._steps = steps
        self._trees: dict[tuple[str, int], Any] = {}

    def of(self, g: int, p: int, voxels: NDArray[np.intp]) -> tuple[float, NDArray[np.intp]] | None:
        """Return the largest distance in mm and its voxel; None where the other side lacks the label."""
        tree = self._tree("pred", g) if p == 0 else self._tree("gt", p)
        if tree is None:
            return None
        distances, _ = tree.query(voxels * self._steps, workers=-1)
        row = int(np.argmax(distances))
        return float(distances[row]), voxels[row]

    def _tree(self, side: str, label: int) -> Any:
        from scipy.spatial import cKDTree

        if (side, label) not in self._trees:
            index = surface_index(self._sides[side] == label)
            tree = cKDTree(index * self._steps, balanced_tree=False, compact_nodes=False) if len(index) else None
            self._trees[side, label] = tree
        return self._trees[side, label]
