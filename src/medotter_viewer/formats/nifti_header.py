"""The header of a NIfTI file: how its voxels are stored, and where they lie in RAS+ mm.

nibabel parses it; what it says is judged here.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import PASS_FRACTION, Grid
from medotter_viewer.errors import GridMismatchError, ReadError

_MM = {1: 1000.0, 2: 1.0, 3: 0.001}  # xyzt_units: metre, millimetre, micrometre
_UNIT_NAMES = {1: "metre", 3: "micrometre"}


@dataclass(frozen=True, slots=True, eq=False)
class NiftiHeader:
    """What the header says, and what was noticed about it.

    Parameters
    ----------
    raw : nibabel header
        As nibabel parsed it.
    grid : Grid
        Where the voxels lie, mm RAS+.
    path : Path
        For messages.
    findings : list of Finding
        What was noticed.
    """

    raw: Any
    grid: Grid
    path: Path
    findings: list[Finding] = field(default_factory=list)

    @property
    def dtype(self) -> np.dtype[Any]:
        """How one voxel is stored, in the file's byte order; colours are structured."""
        from nibabel.spatialimages import HeaderDataError

        try:
            stored: np.dtype[Any] = self.raw.get_data_dtype()
        except (HeaderDataError, KeyError) as error:
            raise ReadError(f"{self.path}: damaged NIfTI header: no voxel type has the code {error}") from error
        return stored

    @property
    def scaling(self) -> tuple[float, float]:
        """Slope and intercept; 1 and 0 where the header gives none that can be used."""
        from nibabel.spatialimages import HeaderDataError

        try:
            slope, inter = self.raw.get_slope_inter()
        except HeaderDataError as error:  # the intercept is no number
            if float(self.raw["scl_slope"]) != 1.0:
                raise ReadError(f"{self.path}: damaged NIfTI header: {error}") from error
            slope = None
        return (1.0, 0.0) if slope is None else (float(slope), float(inter or 0.0))

    @property
    def offset(self) -> float:
        """Byte at which the voxels start, as the header says."""
        return float(self.raw["vox_offset"])

    @property
    def smallest_offset(self) -> int:
        """Byte at which voxels start at the earliest: behind the header."""
        return 352 if self.raw.sizeof_hdr == 348 else 544


def read_header(stream: io.BufferedIOBase, path: Path) -> NiftiHeader:
    """Return the header of a NIfTI-1 or NIfTI-2 file; the stream is left behind it.

    Raises
    ------
    ReadError
        If it is none, is damaged, or describes several volumes.
    """
    import nibabel
    from nibabel.spatialimages import HeaderDataError
    from nibabel.wrapstruct import WrapStructError

    start = stream.read(540)
    size = start[:4]
    version = {b"\x5c\x01\0\0": 1, b"\0\0\x01\x5c": 1, b"\x1c\x02\0\0": 2, b"\0\0\x02\x1c": 2}.get(size)
    if version is None or len(start) < (348 if version == 1 else 540):
        raise ReadError(f"{path}: not a NIfTI file (starts with {start[:8]!r}); expected .nii or .nii.gz")
    kind = nibabel.Nifti1Header if version == 1 else nibabel.Nifti2Header
    try:
        # Extensions are skipped: the voxels start at vox_offset.
        raw = kind(start[: kind.sizeof_hdr], check=False)
        if not 1 <= (n_axes := int(raw["dim"][0])) <= 7:
            raise ReadError(f"{path}: damaged NIfTI header: {n_axes} axes, expected three")
        _mend_steps(raw)
        notes: list[Finding] = []
        with np.errstate(all="ignore"):  # a form that is no number is refused by Grid
            header = NiftiHeader(raw, _grid(raw, path, notes), path, notes)
    except (HeaderDataError, WrapStructError, GridMismatchError, ValueError) as error:
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


def _mend_steps(raw: Any) -> None:
    """Read qfac by its sign (the format says so, and 0 is common), steps without it, those of absent axes as 1."""
    steps = raw["pixdim"]
    steps[0] = -1 if steps[0] < 0 else 1
    steps[1:4] = np.abs(steps[1:4])
    steps[1 + len(raw.get_data_shape()) : 4] = 1


def _grid(raw: Any, path: Path, notes: list[Finding]) -> Grid:
    """Position in mm: sform first, then qform, else none."""
    shape = _spatial_shape(raw, path)
    unit = int(raw["xyzt_units"]) & 7
    to_mm = np.array([[_MM.get(unit, 1.0)]] * 3 + [[1.0]])
    if unit in _UNIT_NAMES:
        message = f"lengths are given in {_UNIT_NAMES[unit]} and were converted to mm"
        notes.append(Finding("info", "unit-converted", message, file=str(path)))
    forms = {}
    for name, code, get in (("sform", "sform_code", raw.get_sform), ("qform", "qform_code", raw.get_qform)):
        if int(raw[code]) > 0:
            try:
                forms[name] = Grid(shape, to_mm * get())
            except ValueError as error:  # GridMismatchError, or nibabel's for a quaternion longer than 1
                notes.append(Finding("warning", "unusable-form", f"{name}: {error}; not used", file=str(path)))
    if not forms:
        zooms = np.asarray(raw["pixdim"][1:4], dtype=np.float64)
        return Grid(shape, to_mm * np.diag([*zooms, 1.0]), has_world=False)
    if len(forms) == 2:
        apart = forms["sform"].corner_displacement_mm(forms["qform"])
        if apart > PASS_FRACTION * min(forms["sform"].spacing):
            message = f"qform and sform differ by {apart:.1f} mm; the sform is used"
            notes.append(Finding("warning", "qform-sform-differ", message, file=str(path)))
    return forms.get("sform") or forms["qform"]


def _spatial_shape(raw: Any, path: Path) -> tuple[int, ...]:
    shape = tuple(int(n) for n in raw.get_data_shape())
    if not 1 <= len(shape) <= 7 or min(shape) < 1:
        raise ReadError(f"{path}: shape {shape}, expected three positive numbers")
    if any(n != 1 for n in shape[3:]):
        raise ReadError(
            f"{path}: {len(shape)}-dimensional, shape {shape}; expected one 3-D volume; store one file per channel"
        )
    return (*shape[:3], *(1,) * (3 - len(shape)))
