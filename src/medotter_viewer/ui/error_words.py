"""Errors and the ends of hd95 in words, for the status line, the corner of the canvas and the table. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.hausdorff import PercentilePair
from medotter_viewer.metrics.pieces import ErrorKind
from medotter_viewer.scoring.error_items import ErrorItem, ErrorItems
from medotter_viewer.scoring.hd95_pair import Hd95Pairs
from medotter_viewer.ui.colors import FN_ACCENT, FP_ACCENT, WRONG_ACCENT

SHORT: Mapping[ErrorKind, str] = {"fp": "FP", "fn": "FN", "wrong": "wrong"}
LONG: Mapping[ErrorKind, str] = {"fp": "invented (FP)", "fn": "missed (FN)", "wrong": "wrong label"}
COLORS: Mapping[ErrorKind, str] = {"fp": FP_ACCENT, "fn": FN_ACCENT, "wrong": WRONG_ACCENT}
_SIDES = {"gt": "ground truth", "pred": "prediction"}


def label_text(item: ErrorItem) -> str:
    """Return which structure a piece is of; with what the other side has there, where that is not background.

    A wrong label is written as ground truth → prediction.
    """
    piece = item.piece
    if item.kind == "wrong":
        return f"{item.gt_name} → {item.pred_name}"
    if item.kind == "fp":
        return item.pred_name + f" (gt: {item.gt_name})" * bool(piece.gt_label)
    return item.gt_name + f" (pred: {item.pred_name})" * bool(piece.pred_label)


def volume_text(volume_mm3: float) -> str:
    """Return a volume with the digits that small ones need.

    Examples
    --------
    >>> volume_text(12345.6), volume_text(3.375), volume_text(0.25)
    ('12,346 mm³', '3.4 mm³', '0.25 mm³')
    """
    if not volume_mm3:
        return "0 mm³"
    decimals = 0 if volume_mm3 >= 100 else 1 if volume_mm3 >= 1 else 2
    return f"{volume_mm3:,.{decimals}f} mm³"


def item_line(item: ErrorItem, place: int, count: int, n_left_out: int = 0) -> str:
    """Return the line for an error that was gone to: `place` from 1 of `count` in the list, which leaves some out."""
    parts = [
        f"error {place} of {count}" + f" listed, {n_left_out:,} smaller ones are not" * bool(n_left_out),
        f"{LONG[item.kind]}: {label_text(item)}",
        f"{volume_text(item.volume_mm3)} ({item.piece.voxels:,} voxel{'s' * (item.piece.voxels != 1)})",
    ]
    if item.piece.farthest_mm is not None:
        side = "prediction" if item.kind == "fn" else "ground truth"
        parts.append(f"up to {item.piece.farthest_mm:.1f} mm from the {side}")
    return "  ·  ".join(parts)


def what_if_line(item: ErrorItem) -> str:
    """Return what a what-if is about."""
    return (
        f"what if, nothing is changed: without this {LONG[item.kind]} piece, {label_text(item)}, "
        f"{volume_text(item.volume_mm3)}"
    )


def left_out_line(found: ErrorItems) -> str:
    """Return how many pieces are not listed and what they amount to; empty where all are."""
    if not found.n_left_out:
        return ""
    listed = sum(item.piece.voxels for item in found.items)
    total = sum(kind.voxels for kind in found.pieces.totals.values())
    rest = volume_text((total - listed) * found.voxel_mm3)
    return (
        f"the {len(found.items)} largest of {found.pieces.n_pieces:,} pieces are listed; the others hold {rest}, "
        f"{100 * (total - listed) / total:.2g} % of what is wrong"
    )


def slice_number(grid: Grid, voxel: tuple[int, ...], axis: int) -> int:
    """Return the number, from 1, of the slice through a voxel of the file's array, along a displayed axis."""
    return int(display_order(grid).displayed_index(voxel, grid.shape)[axis]) + 1


def ends(pair: PercentilePair) -> tuple[tuple[str, tuple[int, ...]], tuple[str, tuple[int, ...]]]:
    """Return side and voxel where a distance is measured from, and those where it ends."""
    gt, pred = ("gt", pair.gt_voxel), ("pred", pair.pred_voxel)
    return (gt, pred) if pair.direction == "gt_to_pred" else (pred, gt)


def hd95_line(pairs: Hd95Pairs, grid: Grid, axis: int, shown: str) -> str:
    """Return the line for an hd95 that was gone to.

    Parameters
    ----------
    pairs : Hd95Pairs
        Which.
    grid : Grid
        Of the label maps.
    axis : int
        Displayed axis that is looked along.
    shown : str
        Which hd95 the scores are of.
    """
    (start, here), (end, there) = ends(pairs.deciding)
    slices = [slice_number(grid, voxel, axis) for voxel in (here, there)]
    where = f"slice {slices[0]}" if slices[0] == slices[1] else f"slice {slices[0]} to slice {slices[1]}"
    name = f"hd{pairs.percentile:g}"
    other = "" if shown == "directed_max" else f" (the scores show {shown}, the arrow is of directed max)"
    return "  ·  ".join(
        (
            f"{pairs.region}: {name} {pairs.hd95_mm:.2f} mm, directed max{other}",
            f"arrow {pairs.deciding.distance_mm:.2f} mm, from the {_SIDES[start]} to the nearest voxel of the "
            f"{_SIDES[end]}, {where}",
            f"thinner: the other direction, {pairs.other.distance_mm:.2f} mm",
        )
    )


def hd95_note(pairs: Hd95Pairs, grid: Grid, axis: int, index: int) -> str:
    """Return what stands in the corner while the arrow is shown: its length, and where its ends are.

    Parameters
    ----------
    axis, index : int
        Displayed axis that is looked along, and the displayed index of the slice.
    """
    (start, here), (end, there) = ends(pairs.deciding)
    first, last = (slice_number(grid, voxel, axis) for voxel in (here, there))
    now = index + 1
    text = f"hd{pairs.percentile:g} of {pairs.region}: arrow {pairs.deciding.distance_mm:.1f} mm, {start} → {end}"
    if first == last == now:
        return text
    if first == last:
        return f"{text}\non slice {first}"
    others = [f"{side} end on slice {at}" for side, at in ((start, first), (end, last)) if at != now]
    return f"{text}\n{', '.join(others)}"
