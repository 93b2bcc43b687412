"""Where the voxels of an array lie in the patient: the only place that compares two grids.

Frame: RAS+ millimetres. Arrays keep the axis order of their file; nothing here reorders or resamples.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medotter_viewer.errors import GridMismatchError

PASS_FRACTION, REFUSE_FRACTION = 0.05, 0.5
"""Corner displacement, as a part of the smallest spacing, up to which two grids are one / may be compared."""

LPS_TO_RAS: NDArray[np.float64] = np.diag([-1.0, -1.0, 1.0, 1.0])
"""From the world of DICOM and ITK to this one; its own inverse."""

OBLIQUE_DEG = 0.1
"""Beyond it an axis does not run along the patient's: it is said, and x, y contours cannot be written."""

_FLAT = 1e-9  # volume spanned by the three unit directions
_LONGEST = 1e12  # mm; beyond it, and below its inverse, sums of squares lose their digits
_CODES = (("L", "R"), ("P", "A"), ("I", "S"))


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Shape and position of a 3-D array.

    Parameters
    ----------
    shape : tuple of int
        Number of voxels along each array axis.
    affine : (4, 4) array_like of float
        Voxel index (centres at integers) to world mm, RAS+.
    has_world : bool, default True
        False for a file that does not say where it lies (no form code): `affine` then holds the spacing only.
    unit : {"mm", "px"}
        ``px`` for pictures and plain arrays, which know no lengths: one step is one pixel.
    is_uneven : bool, default False
        Whether the steps along the last axis vary, as between the slices of some scans; `affine` then holds their
        mean, and distances across slices mean nothing.

    Raises
    ------
    GridMismatchError
        If the affine is not an invertible 4x4 matrix of numbers that can be lengths, or the shape is not three
        positive numbers.

    Examples
    --------
    >>> grid = Grid((10, 20, 30), np.diag([2.0, 2.0, 5.0, 1.0]))
    >>> grid.spacing, grid.axcodes, grid.voxel_volume_mm3
    ((2.0, 2.0, 5.0), 'RAS', 20.0)
    """

    shape: tuple[int, ...]
    affine: NDArray[np.float64]
    has_world: bool = True
    unit: Literal["mm", "px"] = "mm"
    is_uneven: bool = False

    def __post_init__(self) -> None:
        affine = np.array(self.affine, dtype=np.float64)
        if affine.shape != (4, 4) or not np.isfinite(affine).all():
            raise GridMismatchError(f"affine: got {affine.tolist()}, expected a finite 4x4 matrix")
        shape = tuple(int(n) for n in self.shape)
        if len(shape) != 3 or min(shape) < 1:
            raise GridMismatchError(f"shape: got {shape}, expected three positive numbers")
        if np.abs(affine).max() > _LONGEST:
            raise GridMismatchError(f"affine: got {affine.tolist()}, expected lengths of at most {_LONGEST:g} mm")
        steps = np.linalg.norm(affine[:3, :3], axis=0)
        # Of the directions alone: how small the voxels are does not matter.
        if steps.min() < 1 / _LONGEST or abs(np.linalg.det(affine[:3, :3] / steps)) < _FLAT:
            raise GridMismatchError(f"affine: got {affine.tolist()}, which flattens the volume")
        affine.setflags(write=False)
        object.__setattr__(self, "affine", affine)
        object.__setattr__(self, "shape", shape)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Millimetres per step along each array axis, in axis order."""
        return tuple(float(s) for s in np.linalg.norm(self.affine[:3, :3], axis=0))

    @property
    def voxel_volume_mm3(self) -> float:
        """Volume of one voxel in mm3."""
        i, j, k = self.affine[:3, :3].T
        return float(abs(np.dot(i, np.cross(j, k))))

    @property
    def diagonal_mm(self) -> float:
        """Physical diagonal of the volume in mm: the length of shape times spacing."""
        return float(np.linalg.norm(np.multiply(self.shape, self.spacing)))

    @property
    def world_axes(self) -> tuple[tuple[int, int], ...]:
        """For each array axis the world axis (0 x, 1 y, 2 z) it follows most closely, and the sign (+1 or -1).

        The three array axes are given three different world axes: of the six assignments the one whose
        direction cosines have the largest sum.
        """
        # Rounded, so that at 45 degrees the last digits of an affine do not decide.
        cosines = np.round(self.affine[:3, :3] / np.asarray(self.spacing), 4)
        best = max(
            itertools.permutations(range(3)), key=lambda p: round(sum(abs(cosines[w, a]) for a, w in enumerate(p)), 4)
        )
        return tuple((w, 1 if cosines[w, a] >= 0 else -1) for a, w in enumerate(best))

    @property
    def axcodes(self) -> str:
        """The direction in which each array axis grows, e.g. ``"RAS"`` or ``"LPS"``."""
        return "".join(_CODES[w][(sign + 1) // 2] for w, sign in self.world_axes)

    @property
    def oblique_deg(self) -> float:
        """Largest angle in degrees between an array axis and the world axis it follows."""
        cosines = self.affine[:3, :3] / np.asarray(self.spacing)
        along = [abs(cosines[w, a]) for a, (w, _) in enumerate(self.world_axes)]
        across = [np.linalg.norm(np.delete(cosines[:, a], w)) for a, (w, _) in enumerate(self.world_axes)]
        return float(np.degrees(max(np.arctan2(across, along))))

    @property
    def shear_deg(self) -> float:
        """Largest deviation in degrees of two array axes from a right angle."""
        cosines = self.affine[:3, :3] / np.asarray(self.spacing)
        gram = np.abs((cosines.T @ cosines)[np.triu_indices(3, 1)])
        return float(np.degrees(np.arcsin(np.clip(gram.max(), 0, 1))))

    def voxel_to_world(self, points_voxel: ArrayLike) -> NDArray[np.float64]:
        """Return (..., 3) world mm RAS+ of (..., 3) voxel coordinates."""
        return np.asarray(points_voxel, dtype=np.float64) @ self.affine[:3, :3].T + self.affine[:3, 3]

    def world_to_voxel(self, points_world: ArrayLike) -> NDArray[np.float64]:
        """Return (..., 3) voxel coordinates of (..., 3) world mm RAS+."""
        offset = np.asarray(points_world, dtype=np.float64) - self.affine[:3, 3]
        return np.asarray(np.linalg.solve(self.affine[:3, :3], offset[..., None])[..., 0])

    def corners_world(self) -> NDArray[np.float64]:
        """Return the (8, 3) world positions of the centres of the corner voxels."""
        return self.voxel_to_world(list(itertools.product(*((0, n - 1) for n in self.shape))))

    def corner_displacement_mm(self, other: Grid) -> float:
        """Return by how many mm the worst corner of `other` lies elsewhere.

        Raises
        ------
        GridMismatchError
            If the shapes differ: corners cannot be paired.
        """
        if self.shape != other.shape:
            raise GridMismatchError(f"shapes differ: {self.shape} and {other.shape}")
        return float(np.linalg.norm(self.corners_world() - other.corners_world(), axis=1).max())

    def describe(self) -> str:
        """Return shape, spacing and axis codes in one phrase for messages."""
        if self.unit == "px":
            return f"{' x '.join(map(str, self.shape))} pixels"
        spacing = " x ".join(f"{s:.4g}" for s in self.spacing)
        axes = self.axcodes if self.has_world else "orientation unknown"
        uneven = ", uneven slices" if self.is_uneven else ""
        return f"{' x '.join(map(str, self.shape))} voxels of {spacing} mm, {axes}{uneven}"
