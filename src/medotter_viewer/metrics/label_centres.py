"""Where labels lie: the centre of mass of each, in array indices."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.surface import bounding_box


def label_centres(labels: NDArray[np.integer[Any]], ids: Container[int]) -> dict[int, tuple[float, ...]]:
    """Return the mean array index of the voxels of each label.

    Parameters
    ----------
    labels : ndarray of int
        Label map, any number of axes.
    ids : container of int
        Labels that are wanted; 0 and negative ones are never given.

    Returns
    -------
    dict of int to tuple of float
        Label to index, one number for each axis, by rising label; those that do not occur are not there.

    Raises
    ------
    MetricInputError
        If the array is not of whole numbers.

    Notes
    -----
    Sums of indices are whole numbers, so that every digit of a mean is right. The centre of a bent structure may lie
    outside it.

    Examples
    --------
    >>> label_centres(np.array([[0, 2, 2, 2], [0, 5, 0, 0]]), {2, 3})
    {2: (0.0, 2.0)}
    """
    if labels.dtype.kind not in "iu":
        raise MetricInputError(f"labels: got {labels.dtype}, expected whole numbers")
    box = bounding_box(labels > 0)
    if box is None:
        return {}
    cut = labels[box]
    index = np.nonzero(cut > 0)
    found = cut[index]
    if found.dtype.itemsize > 2:
        values, place = np.unique(found, return_inverse=True)
    else:  # faster than sorting
        values = np.flatnonzero(np.bincount(found))
        place = np.searchsorted(values, found)
    counts = np.bincount(place, minlength=values.size)
    means = [
        np.bincount(place, weights=along, minlength=values.size) / counts + part.start
        for along, part in zip(index, box, strict=True)
    ]
    centres = zip(values.tolist(), zip(*(mean.tolist() for mean in means), strict=True), strict=True)
    return {label: centre for label, centre in centres if label in ids}
