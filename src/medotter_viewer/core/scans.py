"""Scans whose structures are polygons: what one holds, what its structures are called, what is scored of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medotter_viewer.core.contours import ContourRules, ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.slice_stack import SliceStack

Seed = tuple[int, float, float]
"""Slice number and x, y in mm LPS of a point inside a tumour; not its centre."""

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "radiomics_gtv": ("Radiomics_gtv", "radiomics_gtv2", "radiomics_gtv_nw", "radiomics_gtvr")
}
_REVIEWED, _MANUAL, _AUTOMATIC = "manual and reviewed", "manual", "automatic"
_RELIABILITY: Mapping[str, str] = {
    **dict.fromkeys(("radiomics_gtv", "radiomics_ln_sum", "radiomics_ln_X"), _REVIEWED),
    **dict.fromkeys(("bronchi", "esophagus", "heart", "trachea"), _MANUAL),
    **dict.fromkeys(("body", "lungs", "lung_L", "lung_R"), _AUTOMATIC),
}


@dataclass(frozen=True, slots=True)
class StructureNames:
    """What the same structure is called in different scans; comparisons are exact, upper and lower case differ.

    The gross tumour volume has a few variants that need not be listed.

    Parameters
    ----------
    variants : mapping of str to tuple of str
        Type to the names of it. The type is a name of itself.

    Examples
    --------
    >>> names = StructureNames({"radiomics_gtv": ("GTV_Mass",), "heart": ()})
    >>> sorted(names.names_of("radiomics_gtv"))[:2], names.type_of("GTV_Mass"), names.reliability_of("heart")
    (['GTV_Mass', 'Radiomics_gtv'], 'radiomics_gtv', 'manual')
    """

    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def names_of(self, target: str) -> frozenset[str]:
        """Return every name of a type; of what is no type the name itself."""
        return frozenset((target, *_ALIASES.get(target, ()), *self.variants.get(target, ())))

    def type_of(self, name: str) -> str | None:
        """Return the type that a name belongs to, or None: the first one that lists it."""
        types = dict.fromkeys((*self.variants, *_RELIABILITY))
        return next((one for one in types if name in self.names_of(one)), None)

    def reliability_of(self, name: str) -> str | None:
        """Return how a structure's contours were made: ``manual and reviewed``, ``manual``, ``automatic`` or None."""
        return _RELIABILITY.get(self.type_of(name) or "")


@dataclass(frozen=True, slots=True, eq=False)
class ScanStructure:
    """One structure of a scan.

    Parameters
    ----------
    number : int
        Its id in the scan's files: place in ``structures.dat``, or ROI Number.
    name : str
        As written; other structures may have the same.
    contours : ScanContours
        Its rings by slice number.
    damage : str or None
        What of it could not be read: it has more rings than these.
    """

    number: int
    name: str
    contours: ScanContours
    damage: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """A scan folder without its pixels.

    Parameters
    ----------
    scan_id : str
        Name of the folder.
    folder : Path
        Where it is.
    thickness_mm : mapping of int to (float or None)
        Slice number to DICOM's (0018,0050): every slice that the scan has, in the order of numbers.
    structures : tuple of ScanStructure or None
        In the order of their files; None where nothing was drawn in this scan: there is no ground truth.
    stack : SliceStack or None
        Where the slices lie; None where the files do not say it.
    findings : tuple of Finding
        What was noticed. An error keeps the scan from being scored.
    """

    scan_id: str
    folder: Path
    thickness_mm: Mapping[int, float | None]
    structures: tuple[ScanStructure, ...] | None = None
    stack: SliceStack | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScanInputs:
    """What a case made of a scan folder is read from, and by which rules.

    Parameters
    ----------
    folder : Path
        The scan folder.
    rules : ContourRules
        Target and rules of the score.
    names : StructureNames
        What structures are called.
    submitted : ScanContours or None
        Predicted rings; without rings where a submission does not mention the scan, None without any submission.
    seeds : tuple of (int, float, float)
        Known points inside tumours.
    contrast : bool or None
        Whether contrast was given; None where no list says it.
    prediction : Path or None
        File or folder of this scan's prediction where it is no submission: a label map, RTSTRUCT or SEG.
    resample_prediction : bool
        Whether a label map on another grid is brought onto the scan's slices.
    """

    folder: Path
    rules: ContourRules = field(default_factory=ContourRules)
    names: StructureNames = field(default_factory=StructureNames)
    submitted: ScanContours | None = None
    seeds: tuple[Seed, ...] = ()
    contrast: bool | None = None
    prediction: Path | None = None
    resample_prediction: bool = False
