"""Which objects of an instance mask touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def touching_pairs(labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the pairs of ids that lie side by side.

    Parameters
    ----------
    labels : ndarray of int
        Instance mask; 0 is background.

    Returns
    -------
    (n, 2) ndarray of int64
        Each pair once, the smaller id first, ascending. In a plane (all but two axes of length 1) pixels that share an
        edge or a corner touch, in a volume voxels that share a face.

    Examples
    --------
    >>> touching_pairs(np.array([[1, 1, 0], [0, 0, 2], [5, 0, 2]])).tolist()
    [[1, 2]]
    """
    labels = np.squeeze(labels)
    steps = [tuple(int(a == axis) for a in range(labels.ndim)) for axis in range(labels.ndim)]
    steps += [(1, 1), (1, -1)] * (labels.ndim == 2)
    found = [np.zeros((0, 2), dtype=np.int64)]
    for step in steps:
        one, other = (labels[tuple(_part(along, side) for along in step)] for side in (0, 1))
        beside = (one != other) & (one != 0) & (other != 0)
        pairs = np.stack([one[beside], other[beside]], axis=-1).astype(np.int64)
        found.append(_once(np.sort(pairs, axis=1)))
    return _once(np.concatenate(found))


def _once(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each pair once, ascending: `np.unique` of rows takes seconds for a few hundred thousand."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    first = np.ones(len(pairs), dtype=np.bool_)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[first]


def _part(along: int, side: int) -> slice:
    """The part of an axis that has a neighbour `along` it (side 0), or is one (side 1)."""
    if along == 0:
        return slice(None)
    return slice(None, -1) if (along > 0) == (side == 0) else slice(1, None)
