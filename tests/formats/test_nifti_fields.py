"""The fields of a header are those that nibabel, another implementation, reads from the same bytes."""

from __future__ import annotations

import itertools

import nibabel
import numpy as np
import pytest

from medotter_viewer.formats.nifti_fields import NiftiFields, parse_fields

KINDS = {348: nibabel.Nifti1Header, 540: nibabel.Nifti2Header}
TYPES = [0, 1, 2, 4, 8, 16, 32, 64, 128, 255, 256, 512, 768, 1024, 1280, 1792, 2304]


def headers(length: int, order: str) -> list[nibabel.Nifti1Header]:
    """Twenty headers with every field that is read set to something."""
    made = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        header = KINDS[length](endianness=order)
        header["dim"] = [3 + seed % 3, *random.integers(1, 300, 5), 1, 1]
        header["datatype"] = TYPES[seed % len(TYPES)]
        header["pixdim"] = [(-1) ** seed, *random.uniform(0.1, 9, 7)]
        header["vox_offset"], header["xyzt_units"] = 352 + 16 * seed, seed % 4
        header["scl_slope"], header["scl_inter"] = random.normal(size=2)
        header["qform_code"], header["sform_code"] = random.integers(0, 5, 2)
        for name, value in zip("bcd", random.uniform(-0.57, 0.57, 3), strict=True):
            header[f"quatern_{name}"] = value
        for name in "xyz":
            header[f"qoffset_{name}"] = random.normal() * 100
            header[f"srow_{name}"] = random.normal(size=4) * 10
        made.append(header)
    return made


@pytest.mark.parametrize(("length", "order"), list(itertools.product(KINDS, "<>")))
def test_every_field_is_as_nibabel_reads_it(length: int, order: str) -> None:
    for theirs in headers(length, order):
        ours = parse_fields(theirs.binaryblock)
        assert (ours.length, ours.order) == (length, order)
        assert ours.shape == theirs.get_data_shape()
        assert ours.dtype.kind == theirs.get_data_dtype().kind
        assert ours.dtype.kind == "V" or ours.dtype == theirs.get_data_dtype()
        for name in ("datatype", "vox_offset", "xyzt_units", "qform_code", "sform_code"):
            assert getattr(ours, name) == theirs[name]
        assert (ours.scl_slope, ours.scl_inter) == theirs.get_slope_inter()
        np.testing.assert_array_equal(ours.steps, np.asarray(theirs["pixdim"][1:4], dtype=float))
        np.testing.assert_array_equal(ours.sform, theirs.get_sform())
        np.testing.assert_allclose(ours.qform, theirs.get_qform(), rtol=1e-13, atol=1e-13)


def fields(**values: float | tuple[float, ...]) -> NiftiFields:
    header = nibabel.Nifti1Header()
    header.set_data_shape((4, 5, 6))
    for name, value in values.items():
        header[name] = value
    return parse_fields(header.binaryblock)


@pytest.mark.parametrize(
    ("quaternion", "diagonal"),
    [((0, 0, 0), (2, 3, 4)), ((1, 0, 0), (2, -3, -4)), ((0, 1, 0), (-2, 3, -4)), ((0, 0, 1), (-2, -3, 4))],
)
def test_a_quaternion_of_half_a_turn_flips_two_axes(quaternion: tuple[float, ...], diagonal: tuple[float, ...]) -> None:
    b, c, d = quaternion
    found = fields(quatern_b=b, quatern_c=c, quatern_d=d, pixdim=(1, 2, 3, 4, 0, 0, 0, 0))
    np.testing.assert_array_equal(found.qform, np.diag([*diagonal, 1]))


@pytest.mark.parametrize(("qfac", "third"), [(-1, -4), (0, 4), (1, 4), (7, 4)])
def test_the_third_axis_is_flipped_by_a_negative_qfac_alone(qfac: float, third: float) -> None:
    found = fields(pixdim=(qfac, 2, 3, -4, 0, 0, 0, 0))
    np.testing.assert_array_equal(found.qform, np.diag([2, 3, third, 1]))


def test_a_quaternion_longer_than_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"length 1\.41, expected at most 1"):
        _ = fields(quatern_b=1, quatern_c=1).qform


def test_steps_of_absent_axes_are_one() -> None:
    found = fields(dim=(2, 4, 5, 0, 0, 0, 0, 0), pixdim=(1, 2, 3, 0, 0, 0, 0, 0))
    np.testing.assert_array_equal(found.steps, [2, 3, 1])


@pytest.mark.parametrize("start", [b"", bytes(540), b"\x5c\x01\0\0" + bytes(343), b"\x1c\x02\0\0" + bytes(535)])
def test_what_is_no_header_or_cut_short_is_refused(start: bytes) -> None:
    with pytest.raises(ValueError, match="no NIfTI header"):
        parse_fields(start)
