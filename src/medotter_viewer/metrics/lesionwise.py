"""Dice and HD95 of every lesion on its own, as the BraTS challenges have ranked since 2023.

A missed and an invented lesion count as much as a large one that was found. What is compared is decided by dilation:
ground-truth pieces whose dilations touch are one lesion, and a predicted piece belongs to every lesion whose dilation
it touches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.surface import bounding_box, check_spacing
from medotter_viewer.metrics.surfel import surfel_hd

PENALTY_MM = 374.0
"""HD95 of a missed or invented lesion: the diagonal of 240 x 240 x 155 voxels of 1 mm, rounded up."""

BRATS_2023: Mapping[str, tuple[int, float]] = MappingProxyType(
    {"GLI": (3, 50.0), "SSA": (3, 50.0), "PED": (3, 50.0), "MEN": (1, 50.0), "MET": (1, 2.0)}
)
"""Dilation and volume limit (mm3) of each task."""


@dataclass(frozen=True, slots=True)
class Lesion:
    """One lesion of the ground truth.

    Parameters
    ----------
    volume_mm3 : float
        Of the ground truth.
    pred_pieces : int
        Predicted pieces that belong to it; 0 when it was missed.
    dice, hd95_mm : float
        Against the union of those pieces; 0 and the penalty when it was missed.
    counts : bool
        Whether it is larger than the limit.
    box : tuple of (int, int)
        First index and one past the last, for each axis.
    """

    volume_mm3: float
    pred_pieces: int
    dice: float
    hd95_mm: float
    counts: bool
    box: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LesionwiseScore:
    """The means over lesions, and what they are means of.

    Parameters
    ----------
    dice : float
        0..1.
    hd95_mm : float
        mm.
    tp, fn : int
        Lesions above the limit that were found and missed.
    fp : int
        Predicted pieces that belong to no lesion at all, of whatever size.
    lesions : tuple of Lesion
        All of the ground truth, those that do not count included.
    """

    dice: float
    hd95_mm: float
    tp: int
    fn: int
    fp: int
    lesions: tuple[Lesion, ...]


def lesionwise(
    gt: NDArray[np.bool_],
    pred: NDArray[np.bool_],
    *,
    spacing: Sequence[float],
    dilation: int = 3,
    min_volume_mm3: float = 50.0,
    penalty_mm: float = PENALTY_MM,
) -> LesionwiseScore:
    """Return lesion-wise dice and HD95 of one region.

    Parameters
    ----------
    gt, pred : (n0, n1, n2) ndarray of bool
        Masks of one shape.
    spacing : sequence of float
        mm per step along each array axis, in axis order.
    dilation : int
        How many times the ground truth is dilated by the 18 neighbours; see `BRATS_2023`.
    min_volume_mm3 : float
        Lesions of this volume or less are left out; see `BRATS_2023`.
    penalty_mm : float
        HD95 of a missed or invented lesion.

    Returns
    -------
    LesionwiseScore
        Dice 1 and HD95 0 when nothing counts: no lesion above the limit and nothing invented.

    Raises
    ------
    MetricInputError
        If the masks are not boolean, not 3-D or of different shapes, or a number cannot be used.

    Notes
    -----
    With L the lesions above the limit and F the number of invented pieces::

        dice = sum(dice of L) / (|L| + F)        hd95 = (sum(hd95 of L) + F penalty) / (|L| + F)

    Pieces are connected through their 26 neighbours. A predicted piece that touches several lesions counts for each;
    one that only touches a lesion below the limit is not invented. HD95 weights surface elements by area (`surfel_hd`).

    References
    ----------
    Definition and parameters: the challenges' public evaluation code, BraTS-2023-Metrics. The implementation is this
    package's own.

    Examples
    --------
    >>> gt = np.zeros((30, 30, 30), dtype=bool)
    >>> gt[5:13, 5:13, 5:13] = True
    >>> lesionwise(gt, np.roll(gt, 1, axis=0), spacing=(1, 1, 1)).dice
    0.875
    """
    from scipy import ndimage

    gt, pred = np.asarray(gt), np.asarray(pred)
    steps = check_spacing(spacing, gt.ndim)
    _check(gt, pred, dilation, min_volume_mm3, penalty_mm)
    box = _box_of_both(gt, pred, dilation)
    if box is None:
        return LesionwiseScore(1.0, 0.0, 0, 0, 0, ())
    gt, pred, corner = gt[box], pred[box], np.array([s.start for s in box])
    all_around = np.ones((3, 3, 3), dtype=np.bool_)
    grown = ndimage.binary_dilation(gt, ndimage.generate_binary_structure(3, 2), dilation) if dilation else gt
    # Dilating the ground truth of one blob gives that blob again: a blob is the dilated mask of its lesion.
    blobs, n_lesions = ndimage.label(grown, structure=all_around)
    pieces, n_pieces = ndimage.label(pred, structure=all_around)
    touching = np.unique(np.stack([blobs[pred], pieces[pred]]), axis=1)
    touching = touching[:, touching[0] > 0]
    blob_boxes, piece_boxes = ndimage.find_objects(blobs), ndimage.find_objects(pieces)
    lesions = []
    for number in range(1, n_lesions + 1):
        numbers = touching[1, touching[0] == number]
        around = _union([blob_boxes[number - 1], *(piece_boxes[i - 1] for i in numbers)])
        truth = (blobs[around] == number) & gt[around]
        found = np.isin(pieces[around], numbers)
        voxels = int(np.count_nonzero(truth))
        dice = 2 * int(np.count_nonzero(truth & found)) / (voxels + int(np.count_nonzero(found)))
        hd95 = surfel_hd(truth, found, spacing=spacing) if numbers.size else penalty_mm
        volume_mm3 = voxels * float(steps.prod())
        start = corner + [s.start for s in around]
        own = [(int(a) + s.start, int(a) + s.stop) for a, s in zip(start, bounding_box(truth) or (), strict=True)]
        lesions.append(Lesion(volume_mm3, numbers.size, dice, hd95, volume_mm3 > min_volume_mm3, tuple(own)))
    counted = [lesion for lesion in lesions if lesion.counts]
    fp = n_pieces - np.unique(touching[1]).size
    n = len(counted) + fp
    tp = sum(lesion.pred_pieces > 0 for lesion in counted)
    return LesionwiseScore(
        dice=sum(lesion.dice for lesion in counted) / n if n else 1.0,
        hd95_mm=(sum(lesion.hd95_mm for lesion in counted) + fp * penalty_mm) / n if n else 0.0,
        tp=tp,
        fn=len(counted) - tp,
        fp=fp,
        lesions=tuple(lesions),
    )


def _check(gt: NDArray[Any], pred: NDArray[Any], dilation: int, min_volume_mm3: float, penalty_mm: float) -> None:
    if gt.shape != pred.shape:
        raise MetricInputError(f"shapes differ: gt {gt.shape}, pred {pred.shape}; nothing is broadcast")
    if gt.dtype != np.bool_ or pred.dtype != np.bool_ or gt.ndim != 3:
        raise MetricInputError(f"got {gt.dtype} and {pred.dtype} with {gt.ndim} axes, expected boolean masks with 3")
    if dilation < 0 or not min_volume_mm3 >= 0 or not 0 <= penalty_mm < np.inf:
        raise MetricInputError(
            f"dilation {dilation}, min_volume_mm3 {min_volume_mm3}, penalty_mm {penalty_mm}: expected 0 or more"
        )


def _box_of_both(gt: NDArray[np.bool_], pred: NDArray[np.bool_], margin: int) -> tuple[slice, ...] | None:
    """Return the box of both masks with room for the dilation, inside the array; None when both are empty."""
    box = bounding_box(gt | pred)
    if box is None:
        return None
    return tuple(slice(max(s.start - margin, 0), min(s.stop + margin, n)) for s, n in zip(box, gt.shape, strict=True))


def _union(boxes: list[tuple[slice, ...]]) -> tuple[slice, ...]:
    """Return the smallest box that holds them all."""
    return tuple(slice(min(s.start for s in axis), max(s.stop for s in axis)) for axis in zip(*boxes, strict=True))
