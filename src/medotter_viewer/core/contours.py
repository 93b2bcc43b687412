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
    """

    rings: Mapping[int, Sequence[Ring]] = field(default_factory=dict)

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
