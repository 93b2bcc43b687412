"""The rings of a scan on its slices: as closed paths in displayed coordinates, slice by slice. Pure.

A scan may have ten thousand rings; only those of the slice that is looked at are ever turned into displayed points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.geometry.orientation import DisplayOrder, display_order
from medotter_viewer.geometry.polygons import as_ring, drawable, shoelace

Points = NDArray[np.float64]
_PLAIN_MM2 = 1e-6  # a ring with a larger shoelace area needs no closer look
_FEW = 6  # slice numbers that a remark lists


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRings:
    """The rings of one side on the slices of a scan.

    Parameters
    ----------
    stack : SliceStack
        The slices.
    order : DisplayOrder
        How arrays of the stack's grid are shown.
    rings : mapping of int to sequence of (n, 2) ndarray
        Slice index (0-based, as in the volume) to x, y in mm LPS of the rings that have an area.
    flat : mapping of int to int
        Slice number to how many of its rings have no area.
    elsewhere : mapping of int to int
        Slice number that the scan lacks to how many rings it has; these are not in `rings`.
    """

    stack: SliceStack
    order: DisplayOrder
    rings: Mapping[int, Sequence[Ring]]
    flat: Mapping[int, int]
    elsewhere: Mapping[int, int]

    @property
    def axis(self) -> int:
        """Displayed axis across the slices: 0 for an axial scan."""
        return self.order.axes.index(2)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the scan in displayed order."""
        return tuple(self.stack.grid.shape[a] for a in self.order.axes)

    def index_at(self, position_mm: float) -> int | None:
        """Return the slice index that is shown at a displayed position across the slices; None beyond the scan."""
        shown = round((position_mm - self.order.translate[self.axis]) / self.order.scale[self.axis])
        return self.flipped(shown) if 0 <= shown < len(self.stack) else None

    def flipped(self, index: int) -> int:
        """Return the displayed index of a slice index, and the other way round."""
        return len(self.stack) - 1 - index if self.order.flips[self.axis] else index

    def pixels(self, index: int) -> list[Points]:
        """Return the (n, 2) column, row of every ring of a slice."""
        return [pixels_on(ring, self.stack, index) for ring in self.rings.get(index, ())]

    def covers(self, position_mm: Sequence[float]) -> bool:
        """Tell whether a displayed position lies in any ring of its slice, by the even-odd rule of each."""
        index = self.index_at(position_mm[self.axis])
        if index is None or index not in self.rings:
            return False
        shown = (np.asarray(position_mm) - self.order.translate) / np.asarray(self.order.scale)
        voxel = self.order.voxel_index(shown, self.stack.grid.shape)
        x, y, _ = self.stack.to_lps(voxel[None, :2], index)[0]
        return any(_encloses(ring, x, y) for ring in self.rings[index])

    def drawn(self, index: int, most: int | None = None) -> list[Ring]:
        """Return the rings of a slice; of more than `most` the largest ones, the largest first."""
        rings = list(self.rings.get(index, ()))
        if most is None or len(rings) <= most:
            return rings
        return sorted(rings, key=lambda ring: -abs(shoelace(ring)))[:most]

    def paths(self, index: int, most: int | None = None) -> list[Points]:
        """Return every ring of a slice as a closed path.

        Parameters
        ----------
        index : int
            Slice index.
        most : int, optional
            How many; those of `drawn`, in the same order.

        Returns
        -------
        list of (n + 1, 3) ndarray
            Displayed index along I, P, L; the first point stands at the end again, once.
        """
        paths = []
        for ring in self.drawn(index, most):
            pixels = pixels_on(opened(ring), self.stack, index)
            paths.append(displayed(np.concatenate([pixels, pixels[:1]]), self.stack, self.order, index))
        return paths

    def xy_of(self, shown: Points, index: int) -> Points:
        """Return (n, 2) x, y mm LPS of (n, 3) displayed points on a slice: the inverse of what `paths` does.

        Where a point lies across the slices does not count.
        """
        voxels = self.order.voxel_index(shown, self.stack.grid.shape)
        return self.stack.to_lps(voxels[:, :2], index)[:, :2]


def opened(ring: Ring) -> Ring:
    """Return a ring without the points at its end that repeat its first one.

    Examples
    --------
    >>> opened(np.array([(0, 0), (2, 0), (2, 1), (0, 0)])).tolist()
    [[0, 0], [2, 0], [2, 1]]
    """
    last = len(ring)
    while last > 1 and np.array_equal(ring[last - 1], ring[0]):
        last -= 1
    return ring[:last]


def place_rings(contours: ScanContours, stack: SliceStack) -> PlacedRings:
    """Return the rings of one side on the slices they name; those that cannot be drawn are counted."""
    index_of = slice_indices(stack)
    rings: dict[int, list[Ring]] = {}
    flat: dict[int, int] = {}
    elsewhere: dict[int, int] = {}
    for number, found in contours.rings.items():
        if len(found) == 0:
            continue
        index = index_of.get(number)
        if index is None:
            elsewhere[number] = len(found)
            continue
        kept = [ring for ring in map(_usable, found) if ring is not None]
        if kept:
            rings[index] = kept
        if len(kept) < len(found):
            flat[number] = len(found) - len(kept)
    return PlacedRings(stack, display_order(stack.grid), rings, flat, elsewhere)


def place_again(placed: PlacedRings, before: ScanContours, after: ScanContours) -> PlacedRings:
    """Return what `place_rings` gives for `after`, given what it gave for `before`: only other slices are looked at.

    Slices that hold the same list of rings are the same.
    """
    numbers = before.rings.keys() | after.rings.keys()
    changed = {n: after.rings.get(n, ()) for n in numbers if before.rings.get(n) is not after.rings.get(n)}
    new = place_rings(ScanContours(changed), placed.stack)
    index_of = slice_indices(placed.stack)
    indices = {index_of.get(n) for n in changed}
    return PlacedRings(
        placed.stack,
        placed.order,
        {i: rings for i, rings in placed.rings.items() if i not in indices} | dict(new.rings),
        {n: count for n, count in placed.flat.items() if n not in changed} | dict(new.flat),
        {n: count for n, count in placed.elsewhere.items() if n not in changed} | dict(new.elsewhere),
    )


def pixels_on(points_xy: Ring, stack: SliceStack, index: int) -> Points:
    """Return (n, 2) column, row of (n, 2) x, y mm LPS: of the points in the plane of the slice that have these x, y."""
    normal, origin = stack.normal_lps, stack.origins_lps[index]
    z = origin[2] - (points_xy - origin[:2]) @ normal[:2] / normal[2]
    return stack.to_pixels(np.column_stack([points_xy, z]), index)


def displayed(pixels: Points, stack: SliceStack, order: DisplayOrder, index: int) -> Points:
    """Return the (n, 3) displayed index of (n, 2) column, row on a slice."""
    voxels = np.column_stack([pixels, np.full(len(pixels), float(index))])
    return order.displayed_index(voxels, stack.grid.shape)


def undrawn(name: str, contours: ScanContours | None, placed: PlacedRings | None) -> Iterator[str]:
    """Yield in words what of one side is not drawn, and why; `placed` is None where slices have no place."""
    if contours is None or not contours.n_rings:
        return
    if placed is None:
        yield f"{name}: {_count(contours.n_rings)} not drawn, the files do not say where the slices lie"
        return
    if placed.elsewhere and not slice_indices(placed.stack):
        yield f"{name}: {_count(contours.n_rings)} not drawn, x and y do not place them on upright slices"
    elif placed.elsewhere:
        which = _listed(placed.elsewhere)
        yield f"{name}: {_count(sum(placed.elsewhere.values()))} on slices that the scan lacks ({which}): not drawn"
    if placed.flat:
        yield f"{name}: {_count(sum(placed.flat.values()))} without area (slice {_listed(placed.flat)}): not drawn"


def _count(n: int) -> str:
    return f"{n} contour{'s' * (n != 1)}"


def _listed(numbers: Iterable[int]) -> str:
    known = sorted(numbers)
    return ", ".join(map(str, known[:_FEW])) + ", …" * (len(known) > _FEW)


def _encloses(ring: Ring, x: float, y: float) -> bool:
    """Whether a line from a point towards smaller x crosses the ring an odd number of times."""
    start, end = ring, np.roll(ring, -1, axis=0)
    crosses = (start[:, 1] <= y) != (end[:, 1] <= y)
    a, b = start[crosses], end[crosses]
    at = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return bool(np.count_nonzero(at < x) % 2)


def _usable(points: Any) -> Ring | None:
    """The ring, or None where it has no area or cannot be read."""
    try:
        ring = as_ring(points)
        plain = len(ring) >= 3 and abs(shoelace(ring)) > _PLAIN_MM2
        return ring if plain or drawable([ring])[0] else None
    except MetricInputError:
        return None
