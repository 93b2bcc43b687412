"""Mask to polygons that follow the edges of its pixels: exact in area, and the mask comes back when filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """

    exterior: Ring
    holes: tuple[Ring, ...] = ()

    @property
    def rings(self) -> tuple[Ring, ...]:
        """Exterior and holes: what `fill` takes by its even-odd rule."""
        return (self.exterior, *self.holes)

    @property
    def area(self) -> float:
        """Number of pixels enclosed, exactly."""
        return sum(shoelace(ring) for ring in self.rings)

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
    from scipy import ndimage

    mask = np.asarray(mask, dtype=np.bool_)
    if mask.ndim != 2:
        raise MetricInputError(f"mask: got {mask.ndim} axes, expected rows and columns")
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
