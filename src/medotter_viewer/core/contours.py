"""Polygons on the slices of one scan, and by which rules they are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.key_reader import KeyReader

Ring = NDArray[np.float64]
"""(n, 2) x, y in mm LPS, not closed: the last point is joined to the first."""
Origin = Literal["model", "edited", "imported"]
"""Who made a polygon: a model; a person who drew it or changed it; another file of polygons."""
Overlap = Literal["union", "sum", "union_if_both"]
"""What rings of one side that overlap are worth: see `metrics.lung.slice_areas`."""
OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)
ERROR_LENGTH_MM = 10.0
"""How thick a wrong layer on a tumour's surface weighs as much as the whole tumour."""

_CHOICES: Mapping[str, tuple[str, ...]] = {"overlap": OVERLAPS, "fill_rule": ("even_odd",)}
_FILES = ("structure_dict", "submission", "seed_locations", "clinical")
_FAR_MM = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class ScanContours:
    """The rings of one structure on the slices of a scan.

    Parameters
    ----------
    rings : mapping of int to sequence of (n, 2) ndarray
        Slice number (1-based, as in the scan's files) to rings in mm LPS. A hole is a keyhole within one ring.
    origins : mapping of int to sequence of {"model", "edited", "imported"}
        Slice number to who made each of its rings, where that is known.
    """

    rings: Mapping[int, Sequence[Ring]] = field(default_factory=dict)
    origins: Mapping[int, Sequence[Origin]] = field(default_factory=dict)

    def origins_of(self, number: int, unknown: Origin = "imported") -> tuple[Origin, ...]:
        """Return who made each ring of a slice; `unknown` where nothing says it."""
        return tuple(self.origins.get(number, (unknown,) * len(self.rings.get(number, ()))))

    def with_slice(self, number: int, rings: Sequence[Ring], *, unknown: Origin = "imported") -> ScanContours:
        """Return the contours with other rings on one slice: those that were there before keep who made them.

        Parameters
        ----------
        number : int
            Slice number.
        rings : sequence of (n, 2) ndarray
            What is to be on the slice; none empties it. A ring that was not there with the same points is ``edited``.
        unknown : {"model", "edited", "imported"}
            Who made a ring that was there, where nothing says it.

        Examples
        --------
        >>> square = np.array([(0.0, 0.0), (10, 0), (10, 10), (0, 10)])
        >>> before = ScanContours({7: [square, square + 20]})
        >>> before.with_slice(7, [square + 20, square + 1]).origins[7]
        ('imported', 'edited')
        """
        left = list(zip(self.rings.get(number, ()), self.origins_of(number, unknown), strict=True))
        found: list[Origin] = []
        for ring in rings:
            place = next((i for i, (old, _) in enumerate(left) if np.array_equal(old, ring)), None)
            found.append("edited" if place is None else left.pop(place)[1])
        all_rings, origins = dict(self.rings), dict(self.origins)
        for kept in (all_rings, origins):
            kept.pop(number, None)
        if len(rings):
            all_rings[number], origins[number] = list(rings), tuple(found)
        return ScanContours(dict(sorted(all_rings.items())), dict(sorted(origins.items())))

    @property
    def n_rings(self) -> int:
        """How many rings there are on all slices."""
        return sum(len(rings) for rings in self.rings.values())


@dataclass(frozen=True, slots=True)
class ContourRules:
    """The block ``lung_contour`` of eval_spec.yaml: which structure is scored, how, and where a scan's lists are.

    The block's ``fill_rule`` can only be ``even_odd``, within each ring.

    Parameters
    ----------
    target : str
        Type of the dictionary of structures, or exact name of a structure.
    overlap : {"union", "sum", "union_if_both"}
        What overlapping rings are worth.
    error_length_mm : float
        Length L of the score.
    structure_dict, seed_locations, clinical : str or None
        Files in the data root: name variants of structures, points inside tumours, what is known of each scan.
    submission : str
        File of a model's polygons in its folder of predictions.
    """

    target: str = "radiomics_gtv"
    overlap: Overlap = "union"
    error_length_mm: float = ERROR_LENGTH_MM
    structure_dict: str | None = None
    submission: str = "submission.csv"
    seed_locations: str | None = None
    clinical: str | None = None

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any], *, where: str) -> ContourRules:
        """Return the typed view of the block; keys that are absent or null take their defaults.

        Raises
        ------
        BundleError
            If a key holds something unusable; `where` and the key are named.
        """
        read = KeyReader(raw, where)
        read.check_choices(_CHOICES)
        return cls(
            **read.names("target", "overlap", *_FILES),  # type: ignore[arg-type]
            error_length_mm=read.length_mm("error_length_mm", ERROR_LENGTH_MM, longest=_FAR_MM),
        )
