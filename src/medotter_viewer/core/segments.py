"""Named segments that may overlap, as one array of whole numbers: ROIs of an RTSTRUCT, segments of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap, smallest_label_dtype
from medotter_viewer.errors import LabelError

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Segment:
    """One named structure.

    Parameters
    ----------
    number : int
        As in its file: ROI number, segment number, label value.
    name : str
        As in its file.
    color : (int, int, int) or None
        Red, green, blue, 0 to 255.
    """

    number: int
    name: str
    color: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Named segments on one grid.

    Parameters
    ----------
    codes : (i, j, k) ndarray of int
        0 is background. Every distinct combination of segments that share a voxel has its own code.
    grid : Grid
        Where it lies.
    segments : tuple of Segment
        All that the file lists, those without any voxel too.
    members : mapping of int to tuple of int
        Code to the numbers of the segments that it stands for.
    unscorable : mapping of int to str
        Number to a rule (`core.reprs`), of segments that are drawn but have no voxel: they are not empty, so that no
        score of them means anything.
    frame_of_reference_uid : str or None
        The coordinate system of `grid`, where the file names one.
    """

    codes: IntArray
    grid: Grid
    segments: tuple[Segment, ...]
    members: Mapping[int, tuple[int, ...]]
    unscorable: Mapping[int, str] = field(default_factory=dict)
    frame_of_reference_uid: str | None = None

    def __post_init__(self) -> None:
        if self.codes.shape != self.grid.shape:
            raise LabelError(f"segments of shape {self.codes.shape} on a grid of shape {self.grid.shape}")

    @property
    def names(self) -> dict[int, str]:
        """Number to name; where segments share one, the number is added: ``"GTV (2)"``."""
        return unique_names((s.number, s.name) for s in self.segments)

    def combinations(self) -> dict[int, Names]:
        """Return for every code the names of its segments."""
        names = self.names
        return {code: frozenset(names[n] for n in numbers) for code, numbers in self.members.items()}

    def label_map(self, ids: Mapping[Names, int]) -> LabelMap:
        """Return the label map in which each combination of names has the id that `ids` gives it.

        Raises
        ------
        LabelError
            If a combination that occurs has no id.
        """
        combinations = self.combinations()
        if absent := [" + ".join(sorted(c)) for c in combinations.values() if c not in ids]:
            raise LabelError(f"segments {', '.join(sorted(absent))} have no id; expected {sorted(map(sorted, ids))}")
        top = max([*combinations, 0])
        kind = smallest_label_dtype(0, max([*ids.values(), 0]))
        lut = np.zeros(top + 1, dtype=kind)
        for code, names in combinations.items():
            lut[code] = ids[names]
        return LabelMap(lut[self.codes], self.grid)


def unique_names(numbered: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return number to a name that no other number has: the number is added to names that stand twice.

    Examples
    --------
    >>> unique_names([(5, "body"), (2, "GTV"), (9, "GTV")])
    {5: 'body', 2: 'GTV (2)', 9: 'GTV (9)'}
    """
    names = dict(numbered)
    while len(repeated := {name for name, n in Counter(names.values()).items() if n > 1}):
        names = {i: f"{name} ({i})" if name in repeated else name for i, name in names.items()}
    return names


class SegmentPainter:
    """Makes `Segments` from masks that come one after the other, of parts of the grid, in any order.

    Parameters
    ----------
    grid : Grid
        Of the result.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._codes: IntArray = np.zeros(grid.shape, dtype=np.uint8, order="F")
        self._members: list[tuple[int, ...]] = [()]
        self._code_of: dict[tuple[int, ...], int] = {(): 0}

    def add(self, number: int, mask: NDArray[np.bool_], at: tuple[slice, slice, slice] | None = None) -> None:
        """Add the voxels of a mask to a segment.

        Parameters
        ----------
        number : int
            Of the segment.
        mask : (i, j, k) ndarray of bool
            Of the whole grid, or of the box `at`.
        at : tuple of slice, optional
            Box of the mask.
        """
        part = self._codes if at is None else self._codes[at]
        touched = part[mask]
        if touched.size == 0:
            return
        found = np.flatnonzero(np.bincount(touched))
        lut = np.zeros(int(found[-1]) + 1, dtype=np.int64)
        for code in found.tolist():
            lut[code] = self._code(self._members[code], number)
        kind = smallest_label_dtype(0, len(self._members))
        if kind != self._codes.dtype:
            self._codes = self._codes.astype(kind)
            part = self._codes if at is None else self._codes[at]
        part[mask] = lut[touched]

    def _code(self, members: tuple[int, ...], number: int) -> int:
        """Code of these segments with one more."""
        both = tuple(sorted({*members, number}))
        if both not in self._code_of:
            self._code_of[both] = len(self._members)
            self._members.append(both)
        return self._code_of[both]

    def segments(self, listed: Iterable[Segment]) -> Segments:
        """Return what was painted; `listed` names all segments, those without any voxel too."""
        present = np.zeros(len(self._members), dtype=np.bool_)
        for k in range(self._codes.shape[2]):  # slice by slice: counting takes eight bytes a voxel
            here = np.bincount(self._codes[:, :, k].ravel(order="K"))
            present[: len(here)] |= here > 0
        present[0] = True
        place = np.cumsum(present) - 1
        lut = np.where(present, place, 0).astype(smallest_label_dtype(0, int(place[-1])))
        kept = {int(place[code]): self._members[code] for code in np.flatnonzero(present).tolist() if code}
        codes = self._codes if present.all() and lut.dtype == self._codes.dtype else np.take(lut, self._codes.T).T
        return Segments(codes, self._grid, tuple(listed), kept)


def joined(masks: Iterable[tuple[Segment, NDArray[np.bool_]]], grid: Grid) -> Segments:
    """Return segments from one mask each, given one after the other so that only one is held at a time.

    Parameters
    ----------
    masks : iterable of (Segment, (i, j, k) ndarray of bool)
        Numbers must differ.
    grid : Grid
        Of every mask.
    """
    painter = SegmentPainter(grid)
    listed: list[Segment] = []
    for segment, mask in masks:
        listed.append(segment)
        painter.add(segment.number, mask)
    return painter.segments(listed)


def shared_ids(found: Iterable[Segments]) -> tuple[dict[Names, int], dict[str, tuple[int, ...]]]:
    """Return an id for every combination of names that occurs, and the regions: name to its ids.

    Segments of several files are brought together by name. A name without any voxel keeps an id of its own, so that
    its region can be scored as empty.

    Examples
    --------
    >>> import numpy as np
    >>> from medotter_viewer.core.grid import Grid
    >>> grid = Grid((3, 1, 1), np.eye(4))
    >>> masks = [(Segment(5, "body"), np.array([1, 1, 1], bool)), (Segment(2, "gtv"), np.array([0, 1, 0], bool))]
    >>> both = joined([(s, m.reshape(3, 1, 1)) for s, m in masks], grid)
    >>> ids, regions = shared_ids([both])
    >>> regions, both.label_map(ids).data.ravel().tolist()
    ({'body': (1, 3), 'gtv': (2, 3)}, [1, 3, 1])
    """
    names: dict[str, None] = {}
    combinations: dict[Names, None] = {}
    for one in found:
        names.update(dict.fromkeys(one.names.values()))
        combinations.update(dict.fromkeys(one.combinations().values()))
    ids: dict[Names, int] = {frozenset({name}): place for place, name in enumerate(names, 1)}
    for combination in sorted(combinations, key=sorted):
        if combination:
            ids.setdefault(combination, len(ids) + 1)
    regions = {name: tuple(i for c, i in ids.items() if name in c) for name in names}
    return ids, regions
