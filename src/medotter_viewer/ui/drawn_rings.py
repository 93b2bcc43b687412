"""What shapes that a person has changed are as rings in mm. Pure.

Outlines are drawn as closed paths, whose first point stands at their end again. After an edit they are paths that
may have lost that point, or polygons, rectangles and ellipses that were drawn anew. napari keeps coordinates in single
precision; a point that was not touched keeps the mm it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring
from medotter_viewer.geometry.placed_rings import PlacedRings, opened
from medotter_viewer.geometry.polygons import drawable

Floats = NDArray[Any]
_SAME = 1e-3
"""Pixels by which a coordinate may differ after it went through napari."""
_ELLIPSE_POINTS = 64


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSlice:
    """The rings of one slice as a layer of shapes was given them.

    Parameters
    ----------
    placed : PlacedRings
        All rings of the side.
    index : int
        Slice index.
    rings : list of (n, 2) ndarray
        Those that are drawn, mm LPS, in the order of the shapes.
    paths : list of (n + 1, 3) ndarray
        The same as closed paths, displayed index.
    """

    placed: PlacedRings
    index: int
    rings: list[Ring]
    paths: list[Floats]

    @classmethod
    def of(cls, placed: PlacedRings, index: int, most: int) -> DrawnSlice:
        """Return what is drawn on a slice: at most `most` rings."""
        return cls(placed, index, placed.drawn(index, most), placed.paths(index, most))

    @property
    def number(self) -> int | None:
        """Number of the slice in its files."""
        return self.placed.stack.numbers[self.index]

    def is_in(self, shapes: Sequence[Floats], kinds: Sequence[str]) -> bool:
        """Tell whether a layer's shapes are these rings already, but for napari's single precision."""
        return (
            len(shapes) == len(self.paths)
            and all(kind == "path" for kind in kinds)
            and all(_alike(shape, path) for shape, path in zip(shapes, self.paths, strict=True))
        )

    def merged(self, source: Sequence[Ring], edited: Sequence[Ring]) -> list[Ring]:
        """Return a slice's rings with those that are drawn as they are now.

        Parameters
        ----------
        source : sequence of (n, 2) ndarray
            All rings of the slice when it was drawn; those that are not drawn (without area, or too many) stay.
        edited : sequence of (n, 2) ndarray
            From `edited_rings`.
        """
        free: dict[bytes, list[int]] = {}
        for place in reversed(range(len(source))):
            free.setdefault(_key(source[place]), []).append(place)
        places = [free[_key(ring)].pop() for ring in self.rings if free.get(_key(ring))]
        found: list[Ring | None] = list(source)
        if len(edited) == len(places):
            for place, ring in zip(places, edited, strict=True):
                found[place] = ring
            return [ring for ring in found if ring is not None]
        left = list(edited)  # shapes came or went: what was not touched stays where it is
        for place in places:
            same = next((i for i, ring in enumerate(left) if np.array_equal(ring, source[place])), None)
            if same is None:
                found[place] = None
            else:
                left.pop(same)
        return [*(ring for ring in found if ring is not None), *left]


def same_rings(one: Sequence[Ring], other: Sequence[Ring]) -> bool:
    """Tell whether two lists hold the same rings in the same order, to the last bit."""
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def edited_rings(shapes: Sequence[Floats], kinds: Sequence[str], drawn: DrawnSlice) -> tuple[list[Ring], int]:
    """Return the rings that a layer's shapes are now.

    Parameters
    ----------
    shapes : sequence of (n, 3) ndarray
        Displayed index along I, P, L.
    kinds : sequence of str
        napari's names of their kinds: ``path``, ``polygon``, ``rectangle``, ``ellipse``, ``line``.
    drawn : DrawnSlice
        What the layer was given.

    Returns
    -------
    rings : list of (n, 2) ndarray
        mm LPS, not closed. A ring that was not touched is the same array as before.
    n_refused : int
        How many shapes enclose nothing: of those that were rings before, the ring stays as it was.
    """
    known = {_single(path).tobytes(): ring for path, ring in zip(drawn.paths, drawn.rings, strict=True)}
    points = {
        point.tobytes(): xy
        for path, ring in zip(drawn.paths, drawn.rings, strict=True)
        for point, xy in zip(_single(path), opened(ring), strict=False)
    }
    same_count = len(shapes) == len(drawn.paths)
    found: list[Ring] = []
    n_refused = 0
    for place, (shape, kind) in enumerate(zip(shapes, kinds, strict=True)):
        if (ring := known.get(_single(shape).tobytes())) is not None and kind == "path":
            found.append(ring)
            continue
        outline = _outline(shape, kind, drawn.paths[place] if same_count else None)
        moved = drawn.placed.xy_of(outline.astype(np.float64), drawn.index)
        for i, point in enumerate(_single(outline)):
            if (xy := points.get(point.tobytes())) is not None:
                moved[i] = xy
        if len(moved) >= 3 and drawable([moved])[0]:
            found.append(moved)
            continue
        n_refused += 1
        if same_count:
            found.append(drawn.rings[place])
    return found, n_refused


def _outline(shape: Floats, kind: str, before: Floats | None) -> Floats:
    """The points of a shape, not closed; `before` is the closed path that it was, if it was one."""
    if kind == "ellipse":
        return _ellipse(shape)
    if kind != "path" or len(shape) < 3 or np.array_equal(shape[0], shape[-1]):
        return opened(shape)
    if before is not None and len(shape) == len(before) - 1:  # the point that closes it was taken away: its twin goes
        if _alike(shape, before[:-1]):
            return shape[1:]
        if _alike(shape, before[1:]):
            return shape[:-1]
    if before is not None and len(shape) == len(before) and _alike(shape[1:-1], before[1:-1]):
        moved_last = _alike(shape[:1], before[:1])
        return np.concatenate([shape[-1:] if moved_last else shape[:1], shape[1:-1]])
    if np.array_equal(shape[1], shape[-1]):  # a point was put before the first one
        return shape[:-1]
    if np.array_equal(shape[0], shape[-2]):  # or behind the last one
        return np.concatenate([shape[:-2], shape[-1:]])
    return shape


def _ellipse(corners: Floats) -> Floats:
    """Points on the ellipse in a box of four corners."""
    centre = corners.mean(axis=0)
    first, second = (corners[1] - corners[0]) / 2, (corners[3] - corners[0]) / 2
    turn = 2 * np.pi * np.arange(_ELLIPSE_POINTS)[:, None] / _ELLIPSE_POINTS
    return np.asarray(centre + np.cos(turn) * first + np.sin(turn) * second)


def _single(points: Floats) -> NDArray[np.float32]:
    """Points as napari keeps them."""
    return np.ascontiguousarray(points, dtype=np.float32)


def _alike(one: Floats, other: Floats) -> bool:
    return one.shape == other.shape and bool(np.abs(one - other).max(initial=0) <= _SAME)


def _key(ring: Ring) -> bytes:
    return np.ascontiguousarray(ring, dtype=np.float64).tobytes()
