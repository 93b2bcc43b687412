"""Where on a slice two sets of rings differ most: what is looked at first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from medotter_viewer.geometry.polygons import drawable, fill

_CELLS = 256  # along the longer side of the box around both
_MARGIN = 2


def largest_difference(first: Sequence[ArrayLike], second: Sequence[ArrayLike]) -> tuple[float, float] | None:
    """Return a point in the largest piece that one set of rings covers and the other does not.

    Parameters
    ----------
    first, second : sequence of (n, 2) array_like
        Rings x, y; those of a set are united.

    Returns
    -------
    (float, float) or None
        x, y: of the cells of that piece the one nearest to its centre. Exact to 1/256 of the box around all rings.
        None where both cover the same, as far as that can be seen.

    Raises
    ------
    MetricInputError
        For points that `as_ring` refuses.

    Examples
    --------
    >>> square, half = [(0, 0), (20, 0), (20, 10), (0, 10)], [(0, 0), (10, 0), (10, 10), (0, 10)]
    >>> x, y = largest_difference([square], [half])
    >>> abs(x - 15) < 0.1, abs(y - 5) < 0.1, largest_difference([square], [square])
    (True, True, None)
    """
    from scipy import ndimage

    sides = [drawable(rings)[0] for rings in (first, second)]
    points = [ring for rings in sides for ring in rings]
    if not points:
        return None
    low, high = (f(np.concatenate(points), axis=0) for f in (np.min, np.max))
    cell = float((high - low).max()) / _CELLS
    columns, rows = (int(n) + 2 * _MARGIN for n in np.ceil((high - low) / cell))
    masks = [fill([(r - low) / cell + _MARGIN for r in rings], (rows, columns), rule="union") for rings in sides]
    pieces, n_pieces = ndimage.label(masks[0] != masks[1])
    if n_pieces == 0:
        return None
    largest = 1 + int(np.argmax(np.bincount(pieces.ravel())[1:]))
    cells = np.argwhere(pieces == largest)[:, ::-1]
    nearest = cells[np.argmin(((cells - cells.mean(axis=0)) ** 2).sum(axis=1))]
    x, y = ((nearest - _MARGIN) * cell + low).tolist()
    return x, y
