"""Rings to a mask: which pixel centres they enclose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.engine.choice import kernels
from medotter_viewer.engine.ring_filling import filled_rings
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons.areas import is_flat
from medotter_viewer.geometry.polygons.rings import Ring, as_ring, edges_of

FillRule = Literal["even_odd", "union"]
FILL_RULES: tuple[FillRule, ...] = get_args(FillRule)


def fill(
    rings: Iterable[ArrayLike],
    shape: tuple[int, int],
    *,
    rule: FillRule = "even_odd",
    out: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Return the mask of the pixels whose centres the rings enclose.

    Parameters
    ----------
    rings : iterable of (n, 2) array_like
        x (column), y (row) of the rings of one slice, closed or not; pixel centres are at integers. What lies
        outside the image is cut off. Rings without area enclose no pixel; `drawable` counts them.
    shape : (int, int)
        Rows and columns.
    rule : {"even_odd", "union"}
        ``even_odd``: a pixel is in when an odd number of all rings' edges lie to its left, so that a ring within
        another is a hole. ``union``: each ring by itself by the even-odd rule, and in where any of them is.
    out : (rows, columns) ndarray of bool, optional
        Where to write the mask, such as a slice of a volume; what it held is overwritten.

    Returns
    -------
    (rows, columns) ndarray of bool
        All False without rings; `out` itself where it was given.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses, a shape that is none, an `out` of another shape or type, or an unknown rule.

    Notes
    -----
    Half-open on both axes, so that shapes which share an edge share no pixel: an edge from (x0, y0) to (x1, y1),
    y0 < y1, is crossed by the rows r with ``ceil(y0) <= r < ceil(y1)``, and between two crossings the columns c with
    ``ceil(x_left) <= c < ceil(x_right)`` are in. A square with its corners on pixel centres, 2 to 6, fills 4 x 4
    pixels, as much as its area. Crossings are computed from the lower end whatever the direction of an edge, so the
    two sides of a bridge to a hole cancel. They are exact for coordinates that are multiples of 2**-10 in images
    up to 65536 pixels wide; otherwise a centre that lies on an oblique edge up to rounding falls to either side.

    Examples
    --------
    >>> fill([[(0.5, -0.5), (2.5, -0.5), (2.5, 1.5), (0.5, 1.5)]], (2, 4)).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0]])
    """
    if rule not in FILL_RULES:
        raise MetricInputError(f"rule: got {rule!r}, expected one of {', '.join(FILL_RULES)}")
    if len(shape) != 2 or min(shape) < 0:
        raise MetricInputError(f"shape: got {shape}, expected rows and columns")
    if out is not None and (out.shape != tuple(shape) or out.dtype != np.bool_):
        raise MetricInputError(f"out: got {out.dtype} of shape {out.shape}, expected bool of shape {tuple(shape)}")
    mask = _filled(rings, shape, rule, out if out is None or out.flags.c_contiguous else None)
    if out is None or mask is out:
        return mask
    out[...] = mask
    return out


def _filled(
    rings: Iterable[ArrayLike], shape: tuple[int, int], rule: FillRule, out: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """By the kernels, which write to `out`, or without them."""
    compiled = kernels()
    if compiled is not None:
        given = [_points(ring) for ring in rings]
        one_by_one = rule == "union"
        return filled_rings(compiled, given, shape, one_by_one=one_by_one, checked=as_ring, is_flat=is_flat, out=out)
    kept = [ring for ring in map(as_ring, rings) if not is_flat(ring)]
    if rule == "even_odd":
        return _even_odd(kept, shape)
    mask = np.zeros(shape, dtype=np.bool_)
    for ring in kept:
        mask |= _even_odd([ring], shape)
    return mask


def _points(ring: ArrayLike) -> Ring:
    """Return what `as_ring` does, but do not look at the values of what is an array of points already."""
    if isinstance(ring, np.ndarray) and ring.dtype == np.float64 and ring.ndim == 2 and ring.shape[1] == 2:
        return ring
    return as_ring(ring)


def row_crossings(
    rings: Sequence[Ring], shape: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return where the edges of rings cross rows of pixel centres.

    Parameters
    ----------
    rings : sequence of (n, 2) ndarray
        Each with points x (column) and y (row).
    shape : (int, int)
        Rows and columns; crossings above and below are left out.

    Returns
    -------
    edges, rows, columns : (n,) ndarray of int64
        Which edge of all (a ring has as many as points), which row, and the first column whose centre does not lie to
        the left of the crossing: 0 to the number of columns, which stands for all that lies further right.
    """
    n_rows, n_columns = shape
    start, end = edges_of(rings)
    upwards = start[:, 1] > end[:, 1]
    low, high = np.where(upwards[:, None], end, start), np.where(upwards[:, None], start, end)
    first = np.clip(np.ceil(low[:, 1]), 0, n_rows).astype(np.int64)
    counts = np.clip(np.ceil(high[:, 1]), 0, n_rows).astype(np.int64) - first
    edges = np.repeat(np.arange(len(counts)), counts)
    rows = np.arange(len(edges)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edges]
    low, step = low[edges], (high - low)[edges]
    x = low[:, 0] + (rows - low[:, 1]) * step[:, 0] / step[:, 1]
    return edges, rows, np.clip(np.ceil(x), 0, n_columns).astype(np.int64)


def _even_odd(rings: Sequence[Ring], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """All rings in one list of crossings; each flips its row from its column on."""
    n_rows, n_columns = shape
    _, rows, columns = row_crossings(rings, shape)
    flips = np.bincount(rows * (n_columns + 1) + columns, minlength=n_rows * (n_columns + 1))
    flips = flips.reshape(n_rows, n_columns + 1)
    mask: NDArray[np.bool_] = (np.cumsum(flips[:, :n_columns], axis=1) & 1).astype(np.bool_)
    return mask
