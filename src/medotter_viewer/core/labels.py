"""Label maps, and the remap from a dataset's own ids to the bundle's label space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.errors import LabelError

IntArray = NDArray[np.integer[Any]]
RemapForm = Literal["dict", "list", "none", "per_case", "user"]

_SMALL = (np.uint8, np.uint16, np.int32, np.uint32, np.int64)
_LUT_LIMIT = 1 << 20


def smallest_label_dtype(low: int, high: int) -> np.dtype[Any]:
    """Return the smallest of uint8, uint16, int32, uint32, int64 that holds `low` and `high`.

    Raises
    ------
    LabelError
        If none does.
    """
    for kind in _SMALL:
        info = np.iinfo(kind)
        if info.min <= low and high <= info.max:
            return np.dtype(kind)
    raise LabelError(f"label ids from {low} to {high} do not fit a 64-bit integer")


def same_ids(one: IntArray, other: IntArray) -> bool:
    """Tell whether two arrays hold the same ids at the same places, whatever their types.

    Large label maps are compared at each change of the case: of one type and order of memory eight bytes at once.
    """
    alike = (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
    if not (alike and (one.flags.c_contiguous or one.flags.f_contiguous)):
        return bool(np.array_equal(one, other))
    left, right = (part.ravel(order="K").view(np.uint8) for part in (one, other))
    words = left.size // 8 * 8
    in_words = np.array_equal(left[:words].view(np.uint64), right[:words].view(np.uint64))
    return bool(in_words and np.array_equal(left[words:], right[words:]))


@dataclass(frozen=True, slots=True, eq=False)
class LabelMap:
    """Integer ids on a grid.

    Parameters
    ----------
    data : (i, j, k) ndarray of int
        One id per voxel, in file-axis order, smallest sufficient type; 0 is background.
    grid : Grid
        Where it lies; its shape is that of `data`.
    """

    data: IntArray
    grid: Grid

    def __post_init__(self) -> None:
        if self.data.shape != self.grid.shape:
            raise LabelError(f"label map of shape {self.data.shape} on a grid of shape {self.grid.shape}")


@dataclass(frozen=True, slots=True)
class Remap:
    """A function from native to canonical ids: every id not listed becomes background 0.

    It is applied by look-up in one step, so that ``{1: 2, 2: 1}`` swaps; the order of the entries has no meaning.

    Parameters
    ----------
    table : mapping of int to int, or None
        Native to canonical. None is the identity: every id stays.
    form : {"dict", "list", "none", "per_case", "user"}
        Where it comes from: a dict in task.yaml, a documentary list (identity), no remap at all (identity),
        the manifest's entry for this case, or the user.

    Examples
    --------
    >>> Remap({1: 2, 2: 1}, "dict").apply(np.array([0, 1, 2, 3]))
    array([0, 2, 1, 0], dtype=uint8)
    >>> Remap(None, "none").target(7)
    7
    """

    table: Mapping[int, int] | None
    form: RemapForm
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.table is not None:
            negative = sorted({i for pair in self.table.items() for i in pair if i < 0})
            if negative:
                raise LabelError(f"label remap: got negative ids {negative}, expected ids of 0 or more")
            object.__setattr__(self, "table", MappingProxyType(dict(self.table)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the table as a dict, so that a remap can travel to a worker process."""
        return Remap, (None if self.table is None else dict(self.table), self.form, self.source)

    @property
    def is_identity(self) -> bool:
        """Whether every id stays."""
        return self.table is None

    def target(self, native: int) -> int:
        """Return the canonical id of a native one, 0 when it is not listed."""
        return native if self.table is None else self.table.get(native, 0)

    def is_listed(self, native: int) -> bool:
        """Tell whether a native id is listed; the identity lists all."""
        return self.table is None or native in self.table

    def reaches(self, canonical_ids: tuple[int, ...]) -> bool:
        """Tell whether every one of the canonical ids can come out."""
        return self.table is None or set(canonical_ids) <= set(self.table.values())

    @property
    def highest_native(self) -> int:
        """The highest native id that is listed; 0 for none, and for the identity."""
        return max(self.table or (0,))

    def look_up_table(self, size: int) -> IntArray:
        """Return what the native ids below `size` become, in the smallest type for all canonical ids.

        Examples
        --------
        >>> Remap({1: 2, 7: 1}, "dict").look_up_table(4)
        array([0, 2, 0, 0], dtype=uint8)
        """
        if self.table is None:
            return np.arange(size)
        lut = np.zeros(size, dtype=smallest_label_dtype(0, max([0, *self.table.values()])))
        for key, value in self.table.items():
            if key < size:
                lut[key] = value
        return lut

    def apply(self, native: IntArray) -> IntArray:
        """Return the canonical ids of an array of native ids, in the smallest sufficient type.

        The identity returns the array itself, not a copy.
        """
        if self.table is None:
            return native
        dtype = smallest_label_dtype(0, max([0, *self.table.values()]))
        if native.size == 0:
            return native.astype(dtype)
        low, high = int(native.min()), int(native.max())
        if low >= 0 and high < _LUT_LIMIT:
            lut = self.look_up_table(high + 1)
            # Keep the memory layout: slicing a C-ordered copy of a Fortran-ordered array is several times slower.
            return np.take(lut, native.T).T if native.flags.f_contiguous else np.take(lut, native)
        keys = np.array(sorted(key for key in self.table if low <= key <= high), dtype=np.int64)
        values = np.array([self.table[int(k)] for k in keys], dtype=dtype)
        if keys.size == 0:
            return np.zeros_like(native, dtype=dtype)
        flat = native.ravel(order="K") if native.flags.f_contiguous else native.ravel()
        place = np.clip(np.searchsorted(keys, flat), 0, keys.size - 1)
        canonical: IntArray = np.where(keys[place] == flat, values[place], dtype.type(0))
        return canonical.reshape(native.shape, order="F" if native.flags.f_contiguous else "C")
