"""Mask to polygons that follow the edges of its pixels: exact in area, and the mask comes back when filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.outlines import Outlines, outlines
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons.keyholes import keyhole
from medotter_viewer.geometry.polygons.rings import Ring, shoelace


@dataclass(frozen=True, slots=True, eq=False)
class TracedPolygon:
    """The outline of one connected piece of a mask, in index coordinates x (column), y (row).

    Parameters
    ----------
    exterior : (n, 2) ndarray
        Corners only, not closed, positive `shoelace`.
    holes : tuple of (n, 2) ndarray
        The same, of negative `shoelace`.
    pixels : int, optional
        How many it encloses, where they were counted.
    """

    exterior: Ring
    holes: tuple[Ring, ...] = ()
    pixels: int | None = None

    @property
    def rings(self) -> tuple[Ring, ...]:
        """Exterior and holes: what `fill` takes by its even-odd rule."""
        return (self.exterior, *self.holes)

    @property
    def area(self) -> float:
        """Number of pixels enclosed, exactly."""
        return sum(shoelace(ring) for ring in self.rings) if self.pixels is None else float(self.pixels)

    def keyhole(self) -> Ring:
        """Return exterior and holes as one ring; see `keyhole`."""
        return keyhole(self.exterior, self.holes)


def trace(mask: NDArray[np.bool_]) -> list[TracedPolygon]:
    """Return the outlines of the pieces of a mask, along the edges of its pixels.

    Parameters
    ----------
    mask : (rows, columns) ndarray of bool
        Pixel centres lie at integers, so vertices lie at half integers and outside the image by half a pixel at most.

    Returns
    -------
    list of TracedPolygon
        In the order of their first pixels, row by row; empty for an empty mask. A piece is what pixels sharing an
        edge connect: two pixels that touch at a corner are two polygons. Every ring passes each of its vertices once.

    Raises
    ------
    MetricInputError
        If the mask has not two axes.

    Notes
    -----
    Where two pixels touch at a corner, the rings keep to the pixels if these belong to different pieces, and to
    the background between them if they belong to one: so every polygon is valid in the sense of the OGC simple
    features. Tracers that join pixel centres lose half a pixel all round, those at half height the corners.

    Examples
    --------
    >>> (block,) = trace(np.array([[0, 1, 1]], dtype=bool))
    >>> block.exterior.tolist(), block.area
    ([[0.5, -0.5], [2.5, -0.5], [2.5, 0.5], [0.5, 0.5]], 2.0)
    """
    mask = np.asarray(mask, dtype=np.bool_)
    if mask.ndim != 2:
        raise MetricInputError(f"mask: got {mask.ndim} axes, expected rows and columns")
    compiled = kernels()
    if compiled is None:
        return _traced(mask)
    found = outlines(compiled, mask[None])
    return _polygons(found, 0, len(found.plane))


@dataclass(frozen=True, slots=True, eq=False)
class TracedSlices:
    """The outlines of every label in every slice of a label map, made into arrays when they are asked for.

    Parameters
    ----------
    found : mapping of (int, int) to list of TracedPolygon or (Outlines, int, int)
        Index of the slice and label, ascending, to polygons, or to where these stand.
    """

    found: Mapping[tuple[int, int], list[TracedPolygon] | tuple[Outlines, int, int]]

    def places(self) -> list[tuple[int, int]]:
        """Return index and label wherever a slice holds a label, ascending."""
        return list(self.found)

    def polygons(self, index: int, label: int = 1) -> list[TracedPolygon]:
        """Return what `trace` returns for one label in one slice."""
        there = self.found.get((index, label), [])
        return _polygons(*there) if isinstance(there, tuple) else list(there)


def trace_slices(labels: NDArray[Any], axis: int) -> TracedSlices:
    """Return the outlines of every label but 0 in every slice along an axis: `trace` of all at once.

    Parameters
    ----------
    labels : (i, j, k) ndarray of int or bool
        Of a mask, the label is 1.
    axis : int
        Of the three, in which slices follow each other. Rows of a slice run along the first of the other two, columns
        along the second.

    Raises
    ------
    MetricInputError
        If there are not three axes, or the type is not whole.

    Examples
    --------
    >>> traced = trace_slices(np.array([[[0, 5, 5]], [[5, 0, 0]]], dtype=np.uint8), axis=0)
    >>> traced.places(), traced.polygons(0, 5)[0].area
    ([(0, 5), (1, 5)], 2.0)
    """
    labels = np.asarray(labels)
    if labels.ndim != 3 or labels.dtype.kind not in "biu":
        raise MetricInputError(f"labels: got {labels.dtype} with {labels.ndim} axes, expected whole ids and three")
    planes = np.moveaxis(labels, axis, 0)
    compiled = kernels()
    if compiled is None or labels.dtype not in (np.bool_, np.uint8):
        return TracedSlices(
            {(index, label): trace(plane == label) for index, plane in enumerate(planes) for label in _labels_in(plane)}
        )
    found = outlines(compiled, planes)
    changes = np.flatnonzero((np.diff(found.plane) != 0) | (np.diff(found.label) != 0)) + 1
    first = [0, *changes.tolist()] if len(found.plane) else []
    ends = zip(first, [*first[1:], len(found.plane)], strict=False)
    return TracedSlices({(int(found.plane[a]), int(found.label[a])): (found, a, b) for a, b in ends})


def _labels_in(plane: NDArray[Any]) -> list[int]:
    if plane.dtype == np.bool_:
        return [1] if plane.any() else []
    return [label for label in np.unique(plane).tolist() if label]


def _polygons(found: Outlines, first: int, last: int) -> list[TracedPolygon]:
    """Polygons of some consecutive rings, which start with an exterior."""
    polygons: list[TracedPolygon] = []
    rings = [
        found.points[a:b]
        for a, b in zip(found.start[first:last].tolist(), found.stop[first:last].tolist(), strict=True)
    ]
    areas = found.area[first:last].tolist()
    outer = np.flatnonzero(~found.is_hole[first:last]).tolist()
    for a, b in zip(outer, [*outer[1:], len(rings)], strict=False):
        polygons.append(TracedPolygon(rings[a], tuple(rings[a + 1 : b]), sum(areas[a:b])))
    return polygons


def _traced(mask: NDArray[np.bool_]) -> list[TracedPolygon]:
    """Trace one slice without kernels."""
    from scipy import ndimage

    pieces, n_pieces = ndimage.label(np.pad(mask, 1))
    corners, across, along = _links(pieces)
    exteriors: list[Ring] = [np.zeros((0, 2))] * n_pieces
    holes: list[list[Ring]] = [[] for _ in range(n_pieces)]
    for members in _cycles(across, along):
        i, j = corners[members[0]]  # the first in reading order: edges leave it to the right and downwards
        ring = np.stack([corners[members, 1] - 0.5, corners[members, 0] - 0.5], axis=1)
        if pieces[i + 1, j + 1]:
            exteriors[pieces[i + 1, j + 1] - 1] = ring
        else:
            holes[pieces[i, j + 1] - 1].append(np.roll(ring[::-1], 1, axis=0))
    return [TracedPolygon(exterior, tuple(inner)) for exterior, inner in zip(exteriors, holes, strict=True)]


def _links(pieces: NDArray[np.int32]) -> tuple[NDArray[np.int64], list[int], list[int]]:
    """Corners in reading order, and for each the one it is joined to along its row and along its column.

    Vertex (i, j) is the one between the padded pixels (i, j) and (i + 1, j + 1). Where two pixels touch at it there
    are two corners, the first with the edge to the left. Along a row, and along a column, corners pair up in order.
    """
    nw, ne, sw, se = pieces[:-1, :-1], pieces[:-1, 1:], pieces[1:, :-1], pieces[1:, 1:]
    inside = [part != 0 for part in (nw, ne, sw, se)]
    left, right = inside[0] != inside[2], inside[1] != inside[3]
    up = inside[0] != inside[1]
    touching = left & right & up & (inside[0] == inside[3])
    i, j = np.nonzero((left != right) | touching)
    double = touching[i, j]
    vertices = np.repeat(np.stack([i, j], axis=1), np.where(double, 2, 1), axis=0)
    ends = np.cumsum(np.where(double, 2, 1))
    second = np.zeros(len(vertices), dtype=np.bool_)
    second[ends[double] - 1] = True
    # The edge to the left turns up around a pixel at the north-west, or around background there.
    one_piece = np.where(inside[0], nw == se, ne == sw)
    left_turns_up = (inside[0] != one_piece)[vertices[:, 0], vertices[:, 1]]
    lower = second == left_turns_up  # for a double corner: whether this one has the edge downwards
    by_column = np.lexsort((lower, vertices[:, 0], vertices[:, 1]))
    partner = np.arange(len(vertices)) ^ 1
    along = np.empty_like(partner)
    along[by_column] = by_column[partner]
    return vertices, partner.tolist(), along.tolist()


def _cycles(across: list[int], along: list[int]) -> list[list[int]]:
    """Corners of each ring in turn, from the first in reading order to the right."""
    seen = [False] * len(across)
    found = []
    for start in range(len(across)):
        if seen[start]:
            continue
        members, at = [], start
        while not seen[at]:
            other = across[at]
            seen[at] = seen[other] = True
            members += [at, other]
            at = along[other]
        found.append(members)
    return found
