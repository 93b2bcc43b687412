"""The fields of a NIfTI-1 or NIfTI-2 header, by their places in its bytes; what they mean is judged elsewhere.

nibabel could parse them, but importing it imports pydicom and all of its decoders, which costs every command more than
a second.

References
----------
nifti.nimh.nih.gov, ``nifti1.h`` and ``nifti2.h``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZES: Mapping[bytes, tuple[int, str]] = {
    b"\x5c\x01\0\0": (348, "<"),
    b"\0\0\x01\x5c": (348, ">"),
    b"\x1c\x02\0\0": (540, "<"),
    b"\0\0\x02\x1c": (540, ">"),
}
"""How a header begins, with its length in bytes and its byte order."""

_PLACES: Mapping[int, Mapping[str, tuple[int, str]]] = {
    348: {
        "dim": (40, "8h"), "datatype": (70, "h"), "pixdim": (76, "8f"), "vox_offset": (108, "f"),
        "scl_slope": (112, "f"), "scl_inter": (116, "f"), "xyzt_units": (123, "B"), "qform_code": (252, "h"),
        "sform_code": (254, "h"), "quatern": (256, "3f"), "qoffset": (268, "3f"), "srow": (280, "12f"),
    },
    540: {
        "datatype": (12, "h"), "dim": (16, "8q"), "pixdim": (104, "8d"), "vox_offset": (168, "q"),
        "scl_slope": (176, "d"), "scl_inter": (184, "d"), "qform_code": (344, "i"), "sform_code": (348, "i"),
        "quatern": (352, "3d"), "qoffset": (376, "3d"), "srow": (400, "12d"), "xyzt_units": (500, "i"),
    },
}  # fmt: skip
_DTYPES: Mapping[int, Any] = {
    0: "V", 1: "V", 2: "u1", 4: "i2", 8: "i4", 16: "f4", 32: "c8", 64: "f8", 255: "V", 256: "i1", 512: "u2", 768: "u4",
    1024: "i8", 1280: "u8", 1536: "V", 1792: "c16", 2048: "V",
    128: [(one, "u1") for one in "RGB"], 2304: [(one, "u1") for one in "RGBA"],
}  # fmt: skip
_ROUNDING = {348: 3 * float(np.finfo(np.float32).eps), 540: 3 * float(np.finfo(np.float64).eps)}


@dataclass(frozen=True, slots=True, eq=False)
class NiftiFields:
    """What a header says about where voxels lie and how they are stored, as it stands there.

    Parameters
    ----------
    length : {348, 540}
        Bytes of a header of this version.
    order : {"<", ">"}
        Byte order of header and voxels.
    dim, datatype, pixdim, vox_offset, scl_slope, scl_inter, xyzt_units, qform_code, sform_code, quatern, qoffset, srow
        The fields of these names; quaternion and offset as triples, the rows of the sform as one.
    """

    length: int
    order: str
    dim: tuple[int, ...]
    datatype: int
    pixdim: tuple[float, ...]
    vox_offset: float
    scl_slope: float
    scl_inter: float
    xyzt_units: int
    qform_code: int
    sform_code: int
    quatern: tuple[float, ...]
    qoffset: tuple[float, ...]
    srow: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes along the axes that are there."""
        return self.dim[1 : 1 + max(0, self.dim[0])]

    @property
    def dtype(self) -> np.dtype[Any]:
        """How one voxel is stored; colours are structured, and what numpy has no type for is void.

        Raises
        ------
        KeyError
            If no type has this code.
        """
        stored: np.dtype[Any] = np.dtype(_DTYPES[self.datatype])
        return stored.newbyteorder("<" if self.order == "<" else ">")

    @property
    def steps(self) -> NDArray[np.float64]:
        """(3,) lengths of the steps, in the file's unit: their signs say nothing, those of absent axes are 1."""
        steps = np.abs(np.array(self.pixdim[1:4], dtype=np.float64))
        steps[len(self.shape) :] = 1
        return steps

    @property
    def sform(self) -> NDArray[np.float64]:
        """(4, 4) voxel index to world RAS+, in the file's unit."""
        return np.vstack([np.reshape(self.srow, (3, 4)), (0, 0, 0, 1)])

    @property
    def qform(self) -> NDArray[np.float64]:
        """(4, 4) voxel index to world RAS+, in the file's unit: a rotation, with the third axis flipped by qfac.

        qfac is taken by its sign: the format says so, and 0 is common.

        Raises
        ------
        ValueError
            If the quaternion is longer than 1.
        """
        # In long doubles, so that an affine is the exact one to the last bit of a double, as others have it.
        with np.errstate(all="ignore"):  # a quaternion that is no number gives a grid that is refused
            b, c, d = np.array(self.quatern, dtype=np.longdouble)
            rest = 1 - (b * b + c * c + d * d)
            if rest < -_ROUNDING[self.length]:
                raise ValueError(f"its quaternion has the length {float(np.sqrt(1 - rest)):.3g}, expected at most 1")
            a = rest * 0 if rest < _ROUNDING[self.length] else np.sqrt(rest)
            axis = np.array([b, c, d])
            double = axis * (2 / (a * a + b * b + c * c + d * d))
            (bb, bc, bd), (_, cc, cd), (_, _, dd) = np.outer(axis, double)
            ab, ac, ad = a * double
            rotation = np.array(
                [
                    [1 - (cc + dd), bc - ad, bd + ac],
                    [bc + ad, 1 - (bb + dd), cd - ab],
                    [bd - ac, cd + ab, 1 - (bb + cc)],
                ]
            )
        affine = np.eye(4)
        affine[:3, :3] = rotation * self.steps * (1, 1, -1 if self.pixdim[0] < 0 else 1)
        affine[:3, 3] = self.qoffset
        return affine


def parse_fields(start: bytes) -> NiftiFields:
    """Return the fields of a header.

    Parameters
    ----------
    start : bytes
        The header, whole.

    Raises
    ------
    ValueError
        If it does not begin as one of `SIZES`, or is cut short.
    """
    length, order = SIZES.get(start[:4], (0, "<"))
    if not length or len(start) < length:
        raise ValueError("no NIfTI header")
    found: dict[str, Any] = {}
    for name, (place, form) in _PLACES[length].items():
        values = struct.unpack_from(order + form, start, place)
        found[name] = values if len(values) > 1 else values[0]
    return NiftiFields(length, order, **found)
