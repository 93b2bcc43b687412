"""Which voxels a stroke on a label layer may have changed, in the axes of the file; None where napari does not say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.geometry.orientation import display_order

Voxels = tuple[NDArray[np.intp], ...]
BRUSHES = ("paint", "erase", "fill", "polygon")
"""Modes of a label layer in which it is changed."""
NOWHERE: Voxels = (np.empty(0, dtype=np.intp),) * 3


def changed_by(item: Any) -> Voxels | None:
    """Return the displayed indices of the voxels of one step of a label layer's history.

    Parameters
    ----------
    item : sequence
        Of parts: a box with a mask, or a tuple of indices, old values and new ones.
    """
    parts = [_of_part(part) for part in item] if isinstance(item, Sequence) else []
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return tuple(np.concatenate(axis) for axis in zip(*known, strict=True))


def is_written(item: Any, data: Any) -> bool:
    """Tell whether a step of a label layer's history is in its data already.

    napari tells one that is made at once (a fill, a program's) before it writes it, and a drag at its end.
    """
    if not (isinstance(item, Sequence) and item and isinstance(item[-1], tuple) and len(item[-1]) == 3):
        return True
    indices, _, new = item[-1]
    if not isinstance(indices, tuple) or not np.size(indices[0]):
        return True
    return bool(data[tuple(np.ravel(axis)[0] for axis in indices)] == np.ravel(new)[0])


def redrawn(event: Any, dims: Any) -> Voxels | None:
    """Return the displayed indices of the part of the picture that was drawn anew while a stroke goes on."""
    offset, data = getattr(event, "offset", None), getattr(event, "data", None)
    displayed = tuple(dims.displayed)
    if offset is None or data is None or len(offset) != len(displayed) or dims.ndim != 3:
        return None
    box = [slice(step, step + 1) for step in dims.current_step]
    for axis, start, size in zip(displayed, offset, np.shape(data)[: len(displayed)], strict=True):
        box[axis] = slice(int(start), int(start) + size)
    return _of_box(box, None)


def in_file(voxels: Voxels, grid: Grid) -> Voxels | None:
    """Return displayed indices as indices of the file's array; None where one lies outside."""
    index = np.rint(display_order(grid).voxel_index(np.stack(voxels, axis=-1), grid.shape)).astype(np.intp)
    if index.size and ((index < 0).any() or (index >= grid.shape).any()):
        return None
    return tuple(index.T)


def _of_part(part: Any) -> Voxels | None:
    if hasattr(part, "slice_key") and hasattr(part, "mask"):
        return _of_box(part.slice_key, part.mask)
    if isinstance(part, tuple) and len(part) == 3 and isinstance(part[0], tuple):
        return tuple(np.asarray(axis, dtype=np.intp).ravel() for axis in part[0])
    return None


def _of_box(box: Sequence[slice], mask: Any) -> Voxels | None:
    """All voxels of a box, or those of a mask in it."""
    shape = tuple(s.stop - s.start for s in box)
    if mask is not None and np.shape(mask) != shape:
        return None
    inside = np.nonzero(np.ones(shape, dtype=np.bool_) if mask is None else mask)
    return tuple(axis + s.start for axis, s in zip(inside, box, strict=True))
