"""The polygons of a submission in little memory: coordinates in blocks, rings as views of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.contours import Ring


@dataclass(frozen=True, slots=True, eq=False)
class PolygonBlock:
    """Some consecutive polygons of a submission.

    Parameters
    ----------
    points : (m, 2) ndarray of float64
        x, y in mm LPS of all points.
    starts : (n + 1,) ndarray of int64
        Points ``starts[i]`` to ``starts[i + 1]`` are those of polygon i.
    scans : (n,) ndarray of int32
        Index into the list of scans.
    slices : (n,) ndarray of int32
        1-based slice numbers.
    lines : (n,) ndarray of int32
        1-based line numbers.
    """

    points: NDArray[np.float64]
    starts: NDArray[np.int64]
    scans: NDArray[np.int32]
    slices: NDArray[np.int32]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        """How many polygons there are."""
        return len(self.lines)

    def ring(self, index: int) -> Ring:
        """Return the (n, 2) points of one polygon."""
        return self.points[self.starts[index] : self.starts[index + 1]]


class SubmissionRings(Mapping[str, Mapping[int, Sequence[Ring]]]):
    """Scan id to slice number to rings, in the order of the file.

    Parameters
    ----------
    blocks : sequence of PolygonBlock
        All polygons.
    scan_ids : sequence of str
        What the blocks' indices mean; those without polygon are left out.

    Attributes
    ----------
    blocks, scan_ids : tuple
        As given, without empty blocks: for what looks at all polygons at once.
    """

    def __init__(self, blocks: Sequence[PolygonBlock] = (), scan_ids: Sequence[str] = ()) -> None:
        self.blocks = tuple(block for block in blocks if len(block))
        self.scan_ids = tuple(scan_ids)
        self._first = np.cumsum([0, *map(len, self.blocks)])
        nothing = [np.zeros(0, dtype=np.int32)]
        scans = np.concatenate([block.scans for block in self.blocks] or nothing)
        slices = np.concatenate([block.slices for block in self.blocks] or nothing)
        self._order = np.lexsort((slices, scans))  # stable: lines of one slice keep their order
        self._slices = slices[self._order]
        scans = scans[self._order]
        cuts = np.searchsorted(scans, np.arange(len(scan_ids) + 1))
        self._ranges = {s: (int(a), int(b)) for s, a, b in zip(scan_ids, cuts[:-1], cuts[1:], strict=True) if a < b}

    def __getitem__(self, scan_id: str) -> Mapping[int, Sequence[Ring]]:
        """Return the rings of a scan by slice number; (n, 2) x, y in mm LPS, as written, not to be changed."""
        start, stop = self._ranges[scan_id]
        return _ScanRings(self, start, self._slices[start:stop])

    def __iter__(self) -> Iterator[str]:
        """Iterate over scan ids, in order of first appearance."""
        return iter(self._ranges)

    def __len__(self) -> int:
        """How many scans have a polygon."""
        return len(self._ranges)

    def at(self, start: int, stop: int) -> list[Ring]:
        """Return the rings of some places in the order by scan and slice."""
        found = []
        for place in self._order[start:stop].tolist():
            block = int(np.searchsorted(self._first, place, side="right")) - 1
            found.append(self.blocks[block].ring(place - int(self._first[block])))
        return found


class _ScanRings(Mapping[int, Sequence[Ring]]):
    """Slice number to rings of one scan."""

    def __init__(self, rings: SubmissionRings, start: int, slices: NDArray[np.int32]) -> None:
        numbers, first = np.unique(slices, return_index=True)
        bounds = [*(first + start).tolist(), start + len(slices)]
        self._rings = rings
        self._ranges = dict(zip(numbers.tolist(), pairwise(bounds), strict=True))

    def __getitem__(self, slice_number: int) -> Sequence[Ring]:
        return self._rings.at(*self._ranges[slice_number])

    def __iter__(self) -> Iterator[int]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)
