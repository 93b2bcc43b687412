"""The header of a NIfTI file: how its voxels are stored, and where they lie in RAS+ mm.

`nifti_fields` parses it; what it says is judged here.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.nifti_fields import SIZES, NiftiFields, parse_fields

_MM = {1: 1000.0, 2: 1.0, 3: 0.001}  # xyzt_units: metre, millimetre, micrometre
_UNIT_NAMES = {1: "metre", 3: "micrometre"}


@dataclass(frozen=True, slots=True, eq=False)
class NiftiHeader:
    """What the header says, and what was noticed about it.

    Parameters
    ----------
    fields : NiftiFields
        As they stand in the file.
    grid : Grid
        Where the voxels lie, mm RAS+.
    path : Path
        For messages.
    findings : list of Finding
        What was noticed.
    """

    fields: NiftiFields
    grid: Grid
    path: Path
    findings: list[Finding] = field(default_factory=list)

    @property
    def dtype(self) -> np.dtype[Any]:
        """How one voxel is stored, in the file's byte order; colours are structured."""
        try:
            return self.fields.dtype
        except KeyError as error:
            raise ReadError(f"{self.path}: damaged NIfTI header: no voxel type has the code {error}") from error

    @property
    def scaling(self) -> tuple[float, float]:
        """Slope and intercept; 1 and 0 where the header gives none that can be used."""
        slope, inter = self.fields.scl_slope, self.fields.scl_inter
        if slope == 0 or not math.isfinite(slope):
            return 1.0, 0.0
        if math.isfinite(inter):
            return slope, inter
        if slope != 1:
            raise ReadError(f"{self.path}: damaged NIfTI header: slope {slope:g}, but intercept {inter}")
        return 1.0, 0.0

    @property
    def offset(self) -> float:
        """Byte at which the voxels start, as the header says."""
        return float(self.fields.vox_offset)

    @property
    def smallest_offset(self) -> int:
        """Byte at which voxels start at the earliest: behind the header."""
        return self.fields.length + 4


def read_header(stream: io.BufferedIOBase, path: Path) -> NiftiHeader:
    """Return the header of a NIfTI-1 or NIfTI-2 file; the stream is left behind it.

    Raises
    ------
    ReadError
        If it is none, is damaged, or describes several volumes.
    """
    start = stream.read(540)
    length, _ = SIZES.get(start[:4], (540, "<"))
    if start[:4] not in SIZES or len(start) < length:
        raise ReadError(f"{path}: not a NIfTI file (starts with {start[:8]!r}); expected .nii or .nii.gz")
    # Extensions are skipped: the voxels start at vox_offset.
    fields = parse_fields(start)
    if not 1 <= fields.dim[0] <= 7:
        raise ReadError(f"{path}: damaged NIfTI header: {fields.dim[0]} axes, expected three")
    notes: list[Finding] = []
    try:
        with np.errstate(all="ignore"):  # a form that is no number is refused by Grid
            header = NiftiHeader(fields, _grid(fields, path, notes), path, notes)
    except GridMismatchError as error:
        raise ReadError(f"{path}: damaged NIfTI header: {error}") from error
    if header.grid.shear_deg > 0.1:
        notes.append(
            Finding(
                "info",
                "sheared-axes",
                f"axes are {header.grid.shear_deg:.2f} deg from orthogonal (sheared); distances use the voxel "
                "edge lengths",
                file=str(path),
            )
        )
    return header


def _grid(fields: NiftiFields, path: Path, notes: list[Finding]) -> Grid:
    """Position in mm: sform first, then qform, else none."""
    shape = _spatial_shape(fields.shape, path)
    unit = fields.xyzt_units & 7
    to_mm = np.array([[_MM.get(unit, 1.0)]] * 3 + [[1.0]])
    if unit in _UNIT_NAMES:
        message = f"lengths are given in {_UNIT_NAMES[unit]} and were converted to mm"
        notes.append(Finding("info", "unit-converted", message, file=str(path)))
    forms = {}
    for name, code in (("sform", fields.sform_code), ("qform", fields.qform_code)):
        if code > 0:
            try:
                forms[name] = Grid(shape, to_mm * getattr(fields, name))
            except ValueError as error:  # GridMismatchError, or a quaternion longer than 1
                notes.append(Finding("warning", "unusable-form", f"{name}: {error}; not used", file=str(path)))
    if not forms:
        return Grid(shape, to_mm * np.diag([*fields.steps, 1.0]), has_world=False)
    if len(forms) == 2:
        apart = forms["sform"].corner_displacement_mm(forms["qform"])
        if apart > PASS_FRACTION * min(forms["sform"].spacing):
            message = f"qform and sform differ by {apart:.1f} mm; the sform is used"
            notes.append(Finding("warning", "qform-sform-differ", message, file=str(path)))
    return forms.get("sform") or forms["qform"]


def _spatial_shape(shape: tuple[int, ...], path: Path) -> tuple[int, ...]:
    if min(shape) < 1:
        raise ReadError(f"{path}: shape {shape}, expected three positive numbers")
    if any(n != 1 for n in shape[3:]):
        raise ReadError(
            f"{path}: {len(shape)}-dimensional, shape {shape}; expected one 3-D volume; store one file per channel"
        )
    return (*shape[:3], *(1,) * (3 - len(shape)))
