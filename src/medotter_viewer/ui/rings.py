"""Rings of a scan as masks of the slices that are looked at. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.geometry.placed_rings import PlacedRings
from medotter_viewer.geometry.polygons import fill
from medotter_viewer.ui.ring_cuts import RingCuts


class RingsView:
    """A mask of the pixels that rings enclose, filled slice by slice when it is asked for; planes across are cut.

    Parameters
    ----------
    placed : PlacedRings
        The rings; overlapping ones are united.
    """

    dtype = np.dtype(np.uint8)
    ndim = 3

    def __init__(self, placed: PlacedRings) -> None:
        self._placed, self.shape = placed, placed.shape
        self._planes: dict[int, NDArray[np.uint8]] = {}
        self._cuts = RingCuts(placed)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __getitem__(self, key: Any) -> NDArray[np.uint8]:
        axis = self._placed.axis
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (3 - len(keys) + 1)
        keys += [slice(None)] * (3 - len(keys))
        across, within = keys[axis], tuple(k for a, k in enumerate(keys) if a != axis)
        if not isinstance(across, slice):
            return np.asarray(self._plane(int(across))[within])
        along = [a for a in range(3) if a != axis and not isinstance(keys[a], slice)]
        if len(along) == 1:
            cut = self._cuts.plane(along[0], int(keys[along[0]]) % self.shape[along[0]])
            return np.asarray(cut[tuple(k for a, k in enumerate(keys) if a != along[0])])
        planes = [self._plane(shown)[within] for shown in range(self.shape[axis])[across]]
        return np.stack(planes, axis=sum(isinstance(k, slice) for k in keys[:axis]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[...], dtype=dtype)

    def _plane(self, shown: int) -> NDArray[np.uint8]:
        """Mask of a displayed slice, its two other axes in displayed order."""
        placed = self._placed
        index = placed.flipped(shown % len(placed.stack))
        if index not in placed.rings:
            index = -1
        if index not in self._planes:
            columns, rows, _ = placed.stack.grid.shape
            mask = fill(placed.pixels(index), (rows, columns), rule="union")
            turned = placed.order.apply(mask.T[:, :, None].view(np.uint8))
            self._planes[index] = np.take(turned, 0, axis=placed.axis)
        return self._planes[index]
