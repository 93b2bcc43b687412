"""Slices of volumes painted into colours: what a side pane shows. Pure: arrays in, an RGB array out.

Each slice is sampled at the pixels of the pane, images between the centres of voxels, labels at the nearest one.
Outlines are therefore as thin on the screen as they can be, however thick the slices are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.metrics.error_map import error_map
from medotter_viewer.ui.derived import ErrorView

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]
_SHADES = 256


@dataclass(frozen=True, slots=True, eq=False)
class LazyPlane:
    """One slice of an array that is worked out where it is looked at.

    Parameters
    ----------
    data : array-like
        What is indexed with three indices.
    axis, index : int
        Axis across the slice, and where along it.
    """

    data: Any
    axis: int
    index: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return tuple(n for a, n in enumerate(self.data.shape) if a != self.axis)

    def at(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values of some rows and columns."""
        key: list[Any] = [rows[:, None], columns[None]]
        key.insert(self.axis, self.index)
        return np.asarray(self.data[tuple(key)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.at(*(np.arange(n) for n in self.shape)), dtype=dtype)


def sampled(plane: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values of some rows and columns of a slice."""
    return plane.at(rows, columns) if isinstance(plane, LazyPlane) else np.asarray(plane)[np.ix_(rows, columns)]


class Samples:
    """Samples of slices for one picture: label maps that several layers show are looked up once.

    An error map is of the same two label maps as the outlines over it, and voxels far apart in memory are what takes
    the time.
    """

    def __init__(self) -> None:
        self._known: dict[Any, NDArray[Any]] = {}
        self._kept: list[Any] = []  # an address says which array as long as that is there

    def of(self, plane: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """Return what `sampled` does; not to be written to."""
        if isinstance(plane, LazyPlane) and type(plane.data) is ErrorView:
            view, key = plane.data, tuple(plane.index if a == plane.axis else slice(None) for a in range(3))
            if isinstance(view.gt, np.ndarray) and isinstance(view.pred, np.ndarray):
                gt, pred = (self.of(labels[key], rows, columns) for labels in (view.gt, view.pred))
                return error_map(gt, pred, ids=view.ids, as_one=view.as_one)
        if not isinstance(plane, np.ndarray):
            return sampled(plane, rows, columns)
        place = (plane.ctypes.data, plane.strides, plane.dtype, rows.tobytes(), columns.tobytes())
        if place not in self._known:
            self._known[place] = sampled(plane, rows, columns)
            self._kept.append(plane)
        return self._known[place]


@dataclass(frozen=True, slots=True, eq=False)
class ImagePlane:
    """One slice of an image.

    Parameters
    ----------
    plane : (rows, columns) or (rows, columns, 3) array
        Intensities in displayed order, or colours.
    scale, translate : (float, float)
        mm per step, and displayed mm of the first centre, down and across.
    limits : (float, float)
        Intensities of black and white.
    shades : (256, 3) ndarray of uint8, optional
        Colours from black to white; grey by default.
    gamma, opacity : float
        As the layer has them.
    """

    plane: NDArray[Any]
    scale: tuple[float, float]
    translate: tuple[float, float]
    limits: tuple[float, float] = (0.0, 1.0)
    shades: Pixels | None = None
    gamma: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class LabelPlane:
    """One slice of a label map.

    Parameters
    ----------
    plane : (rows, columns) array of int, or LazyPlane
        Ids in displayed order.
    scale, translate : (float, float)
        mm per step, and displayed mm of the first centre, down and across.
    colors : (n + 1, 4) ndarray of uint8
        Colour and opacity of every id below n; the last row is that of all others.
    contour : int
        Width of the outline in pixels of the screen; 0 fills.
    opacity : float
        As the layer has it.
    """

    plane: NDArray[Any] | LazyPlane
    scale: tuple[float, float]
    translate: tuple[float, float]
    colors: Pixels
    contour: int = 0
    opacity: float = 1.0


def painted(planes: Iterable[ImagePlane | LabelPlane], rows_mm: Floats, columns_mm: Floats) -> Pixels:
    """Return the picture of slices that lie on each other.

    Parameters
    ----------
    planes : iterable of ImagePlane or LabelPlane
        From the lowest to the topmost.
    rows_mm, columns_mm : (n,), (m,) ndarray
        Displayed mm of the middles of the picture's rows and columns, in steps of one length.

    Returns
    -------
    (n, m, 3) ndarray of uint8
        Red, green, blue; black where there is nothing.
    """
    picture, samples = np.zeros((len(rows_mm), len(columns_mm), 3), dtype=np.uint8), Samples()
    for plane in planes:
        at = [(mm - t) / s for mm, t, s in zip((rows_mm, columns_mm), plane.translate, plane.scale, strict=True)]
        inside = [_inside(index, n) for index, n in zip(at, plane.plane.shape[:2], strict=True)]
        rows, columns = (index[part] for index, part in zip(at, inside, strict=True))
        if rows.size and columns.size:
            part = picture[inside[0], inside[1]]
            if isinstance(plane, ImagePlane):
                _lay_image(part, plane, rows, columns)
            else:
                _lay_labels(part, plane, rows, columns, samples)
    return picture


def color_table(color_dict: Mapping[int | None, tuple[float, ...]]) -> Pixels:
    """Return the colours of ids as rows of a table; the last row is that of every id that is not listed.

    Examples
    --------
    >>> color_table({None: (1, 0, 1, 1), 0: (0, 0, 0, 0), 2: (0, 1, 0, 0.5)}).tolist()
    [[0, 0, 0, 0], [255, 0, 255, 255], [0, 255, 0, 128], [255, 0, 255, 255]]
    """
    listed = {key: color for key, color in color_dict.items() if key is not None and key >= 0}
    other = _bytes(color_dict.get(None, (0.0, 0.0, 0.0, 0.0)))
    table = np.tile(np.asarray(other, dtype=np.uint8), (max(listed, default=0) + 2, 1))
    for key, color in listed.items():
        table[key] = _bytes(color)
    return table


def _bytes(color: Iterable[float]) -> list[int]:
    return [int(255 * float(part) + 0.5) for part in color]


def _inside(index: Floats, n: int) -> slice:
    """Which of evenly spaced positions lie on voxels: always one run of them."""
    found = np.flatnonzero((index >= -0.5) & (index < n - 0.5))
    return slice(int(found[0]), int(found[-1]) + 1) if found.size else slice(0, 0)


def _nearest(index: Floats, n: int) -> NDArray[np.int64]:
    return np.clip(np.floor(index + 0.5), 0, n - 1).astype(np.int64)


def _lay_image(picture: Pixels, image: ImagePlane, rows: Floats, columns: Floats) -> None:
    """Lay an image on the part of a picture that it covers."""
    if image.plane.ndim == 3:
        down, across = (_nearest(i, n) for i, n in zip((rows, columns), image.plane.shape, strict=False))
        colours = image.plane[np.ix_(down, across)]
        _blend(picture, colours[..., :3].astype(np.float32), image.opacity)
        return
    low, high = image.limits
    values = _between(image.plane, rows, columns)
    if np.issubdtype(image.plane.dtype, np.floating):
        values = np.nan_to_num(values, nan=low, posinf=high, neginf=low)
    values -= np.float32(low)
    values *= np.float32(1.0 / max(high - low, 1e-12))
    np.clip(values, 0.0, 1.0, out=values)
    if image.gamma != 1:
        values **= image.gamma
    values *= _SHADES - 1
    values += 0.5
    shade = values.astype(np.uint8)
    if image.shades is None and image.opacity >= 1:
        picture[...] = shade[..., None]
        return
    colours = image.shades[shade] if image.shades is not None else np.repeat(shade[..., None], 3, axis=-1)
    _blend(picture, colours.astype(np.float32), image.opacity)


def _between(plane: Any, rows: Floats, columns: Floats) -> NDArray[np.float32]:
    """Values between the centres of voxels; at the rim those of the last centre.

    Along an axis that is shown smaller than it is, the nearest voxel is taken: what is not shown need not be read.
    """
    taken: list[NDArray[np.int64]] = []
    shares: list[Floats | None] = []
    for index, n in zip((rows, columns), plane.shape, strict=True):
        index = np.clip(index, 0, n - 1)
        if len(index) > 1 and abs(index[-1] - index[0]) >= len(index) - 1:
            taken.append(_nearest(index, n))
            shares.append(None)
        else:
            first = int(min(index[0], index[-1]))
            taken.append(np.arange(first, min(int(max(index[0], index[-1])) + 2, n)))
            shares.append(index - first)
    found = sampled(plane, *taken).astype(np.float32)
    for axis, place in enumerate(shares):
        if place is None:
            continue
        first_of = np.floor(place).astype(np.int64)
        share = (place - first_of).astype(np.float32)
        start = found.take(first_of, axis=axis)
        if share.any():
            step = found.take(np.minimum(first_of + 1, found.shape[axis] - 1), axis=axis)
            step -= start
            step *= share[:, None] if axis == 0 else share
            start += step
        found = start
    return found


def _lay_labels(picture: Pixels, labels: LabelPlane, rows: Floats, columns: Floats, samples: Samples) -> None:
    """Lay labels, filled or outlined, on the part of a picture that they cover."""
    down, across = (_nearest(i, n) for i, n in zip((rows, columns), labels.plane.shape, strict=True))
    ids = samples.of(labels.plane, down, across)
    if ids.dtype == np.bool_:
        ids = ids.view(np.uint8)
    colours = labels.colors
    last = len(colours) - 1
    if ids.dtype == np.uint8:  # a table for every byte: nothing needs to be compared
        rest = np.broadcast_to(colours[last], (max(0, 256 - last), 4))
        colours, known = np.concatenate([colours[:last], rest]), ids
    else:
        known = ids.astype(np.intp)
        known[(known < 0) | (known > last)] = last
    share = (colours[:, 3] * labels.opacity + 0.5).astype(np.uint16)
    added = colours[:, :3] * share[:, None]
    seen = (share > 0)[known]  # what has no colour leaves a pixel as it is
    if labels.contour:
        seen &= outline(ids, labels.contour)
    at = np.nonzero(seen)
    known = known[at]
    mixed = picture[at] * (255 - share)[known][..., None]
    mixed += added[known]
    mixed += 127
    mixed //= 255
    picture[at] = mixed


def outline(ids: NDArray[Any], width: int) -> NDArray[np.bool_]:
    """Return which pixels lie within `width` steps of a pixel of another id, on either side.

    Examples
    --------
    >>> outline(np.array([[1, 1, 1, 0, 0]]), 1).astype(int)
    array([[0, 0, 1, 1, 0]])
    """
    edge = np.zeros(ids.shape, dtype=np.bool_)
    down, across = ids[1:] != ids[:-1], ids[:, 1:] != ids[:, :-1]
    edge[1:] |= down
    edge[:-1] |= down
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    for _ in range(width - 1):
        wider = edge.copy()
        wider[1:] |= edge[:-1]
        wider[:-1] |= edge[1:]
        wider[:, 1:] |= edge[:, :-1]
        wider[:, :-1] |= edge[:, 1:]
        edge = wider
    return edge


def _blend(picture: Pixels, colours: NDArray[np.float32], share: float) -> None:
    picture[...] = (picture * (1 - share) + colours * share + 0.5).astype(np.uint8)
