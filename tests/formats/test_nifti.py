"""Files written by nibabel, read by us: values, types, positions, units."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer import Grid, LabelMap
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError, WriteError
from medotter_viewer.formats.nifti import read_grid, read_labels, read_volume, write_labels, write_volume

AFFINE = np.array([[-0.5, 0, 0, 90.0], [0, 2.0, 0, -126.0], [0, 0, 3.0, -72.0], [0, 0, 0, 1.0]])
IDS = (np.arange(24) % 5).reshape(2, 3, 4)


def header_of(
    array: NDArray[Any], affine: NDArray[np.float64] | None = AFFINE, version: int = 1, endian: str = "<"
) -> Any:
    """Header of an array: both forms say where it lies (codes 1 and 2), none where there is no affine."""
    header = (nibabel.Nifti1Header if version == 1 else nibabel.Nifti2Header)(endianness=endian)
    header.set_data_shape(array.shape)
    header.set_data_dtype(array.dtype)
    header.set_xyzt_units("mm")
    if affine is not None:
        header.set_zooms([*nibabel.affines.voxel_sizes(affine), *[1.0] * 4][: array.ndim])
        header.set_qform(affine, 1)
        header.set_sform(affine, 2)
    header["vox_offset"] = 352 if version == 1 else 544
    header["magic"] = b"n+1" if version == 1 else header["magic"]
    return header


def file_of(path: Path, array: NDArray[Any], header: Any, **fields: Any) -> Path:
    """Write header and voxels as they are; `fields` overwrite those of the header."""
    for name, value in fields.items():
        header[name] = value
    data = header.binaryblock + bytes(4) + array.astype(array.dtype.newbyteorder(header.endianness)).tobytes(order="F")
    path.write_bytes(gzip.compress(data, 1, mtime=0) if path.name.endswith(".gz") else data)
    return path


def write(path: Path, array: NDArray[Any], affine: NDArray[np.float64] | None = AFFINE, **fields: Any) -> Path:
    return file_of(path, array, header_of(array, affine), **fields)


def codes(findings: list[Finding]) -> list[str]:
    return [f"{f.severity} {f.code}" for f in findings]


# ---------------------------------------------------------------- types of voxels


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_every_type_and_byte_order_gives_the_same_ids(
    tmp_path: Path, dtype: str, endian: str, version: int, name: str
) -> None:
    array = IDS.astype(dtype)
    path = file_of(tmp_path / name, array, header_of(array, version=version, endian=endian))
    labels, findings = read_labels(path)
    assert labels.data.tolist() == IDS.tolist()
    assert labels.data.dtype == np.uint8
    assert labels.data.flags.f_contiguous
    np.testing.assert_array_equal(labels.grid.affine, nibabel.load(path).affine)
    assert findings == []


@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f4", "f8"])
def test_images_are_in_native_byte_order_and_equal_nibabels(tmp_path: Path, dtype: str, endian: str) -> None:
    array = (np.arange(24) * 5).reshape(2, 3, 4).astype(dtype)
    path = file_of(tmp_path / "a.nii", array, header_of(array, endian=endian))
    volume, findings = read_volume(path)
    assert volume.data.dtype.isnative
    assert volume.data.dtype == (np.float32 if dtype == "f8" else dtype)
    np.testing.assert_array_equal(volume.data, np.asarray(nibabel.load(path).dataobj))
    assert findings == []


def test_ids_of_several_lengths_get_the_smallest_type(tmp_path: Path) -> None:
    for largest, dtype in [(255, "uint8"), (256, "uint16"), (70_000, "int32"), (2**31, "uint32"), (2**40, "int64")]:
        array = np.array([0, 3, largest], dtype=np.int64).reshape(3, 1, 1)
        labels, _ = read_labels(write(tmp_path / "a.nii", array))
        assert labels.data.ravel().tolist() == [0, 3, largest]
        assert labels.data.dtype == dtype


def test_ids_beyond_64_bits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="64-bit"):
        read_labels(write(tmp_path / "a.nii", np.full((1, 1, 1), 2**63, dtype=np.uint64)))
    with pytest.raises(LabelError, match="64-bit"):
        read_labels(write(tmp_path / "a.nii", np.full((1, 1, 1), 1e30, dtype=np.float32)))


def test_negative_ids_keep_their_value(tmp_path: Path) -> None:
    array = np.array([-1, -32768, 0, 5], dtype=np.int16).reshape(4, 1, 1)
    labels, _ = read_labels(write(tmp_path / "a.nii", array))
    assert labels.data.ravel().tolist() == [-1, -32768, 0, 5]
    assert labels.data.dtype == np.int32


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_are_refused_by_type(tmp_path: Path, dtype: Any) -> None:
    array = np.zeros((2, 3, 4), dtype=dtype)
    path = tmp_path / "a.nii"
    nibabel.save(nibabel.Nifti1Image(array, AFFINE), path)
    for read in (read_labels, read_volume):
        with pytest.raises(ReadError, match="expected whole or real numbers"):
            read(path)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
@pytest.mark.parametrize("samples", ["RGB", "RGBA"])
def test_colours_are_an_image_and_no_label_ids(tmp_path: Path, samples: str, name: str) -> None:
    array = np.zeros((2, 3, 4), dtype=[(channel, "u1") for channel in samples])
    array["R"][1, 2, 3], array["G"][0, 1, 2], array["B"][...] = 200, 90, 7
    path = tmp_path / name
    nibabel.save(nibabel.Nifti1Image(array, AFFINE), path)
    volume, findings = read_volume(path)
    assert volume.rgb
    assert volume.data.dtype == np.uint8
    assert volume.data[1, 2, 3].tolist() == [200, 0, 7]
    assert volume.data[0, 1, 2].tolist() == [0, 90, 7]
    assert volume.data.sum(axis=(0, 1, 2)).tolist() == [200, 90, 7 * 24]
    assert codes(findings) == (["info alpha-left-out"] if samples == "RGBA" else [])
    with pytest.raises(LabelError, match=rf"{len(samples)} channels of colour for each voxel: these are no label ids"):
        read_labels(path)


def test_colours_that_are_opaque_everywhere_need_no_note(tmp_path: Path) -> None:
    array = np.full((2, 1, 1), 255, dtype=[(channel, "u1") for channel in "RGBA"])
    nibabel.save(nibabel.Nifti1Image(array, AFFINE), tmp_path / "a.nii")
    assert read_volume(tmp_path / "a.nii")[1] == []


@pytest.mark.parametrize(
    ("code", "message"),
    [(0, "expected whole or real"), (1, "expected whole or real"), (3, "code 3"), (9999, "code 9999")],
)
def test_unknown_types_are_damage(tmp_path: Path, code: int, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_labels(write(tmp_path / "a.nii", IDS.astype(np.uint8), datatype=code))


# ---------------------------------------------------------------- ids that are not whole


@pytest.mark.parametrize(("off", "warned"), [(1e-6, False), (9e-4, False), (0.02, True), (0.0499, True)])
@pytest.mark.parametrize("sign", [1, -1])
def test_ids_off_by_a_hair_are_rounded_and_beyond_a_thousandth_said_to_be(
    tmp_path: Path, off: float, warned: bool, sign: int
) -> None:
    labels, findings = read_labels(write(tmp_path / "a.nii.gz", IDS + sign * off))
    assert labels.data.tolist() == IDS.tolist()
    assert codes(findings) == (["warning fractional-labels"] if warned else [])
    if warned:
        assert f"up to {off:.4f} from a whole number" in findings[0].message
        assert findings[0].file == str(tmp_path / "a.nii.gz")


def test_interpolated_labels_are_refused_with_numbers(tmp_path: Path) -> None:
    array = np.repeat([0, 0.37, 1.5, 2.62], 8).reshape(2, 4, 4).astype(np.float32)
    path = write(tmp_path / "a.nii", array)
    with pytest.raises(LabelError, match=r"24 of 32 voxels are not whole numbers, largest deviation 0\.5 "):
        read_labels(path)
    np.testing.assert_array_equal(read_volume(path)[0].data, array)


def test_ids_of_single_precision_are_not_truncated(tmp_path: Path) -> None:
    array = np.repeat(np.array([0, 0.99999994, 2.9999998, 4.0000005], dtype=np.float32), 8).reshape(4, 4, 2)
    labels, findings = read_labels(write(tmp_path / "a.nii", array))
    assert np.bincount(labels.data.ravel()).tolist() == [8, 8, 0, 8, 8]
    assert findings == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_voxel_that_is_no_number_is_no_label_but_may_be_an_image(tmp_path: Path, value: float) -> None:
    array = IDS.astype(np.float32)
    array[0, 0, :3] = value
    path = write(tmp_path / "a.nii", array)
    with pytest.raises(LabelError, match="3 of 24 voxels are NaN or infinite"):
        read_labels(path)
    np.testing.assert_array_equal(read_volume(path)[0].data, array)


# ---------------------------------------------------------------- scaling


@pytest.mark.parametrize(
    ("slope", "inter", "expected"),
    [
        (0, 7, [0, 1, 2, 4]),
        (np.nan, np.nan, [0, 1, 2, 4]),
        (np.nan, 3, [0, 1, 2, 4]),
        (np.inf, 0, [0, 1, 2, 4]),
        (1, 0, [0, 1, 2, 4]),
        (2, 0, [0, 2, 4, 8]),
        (1, 3, [3, 4, 5, 7]),
        (2, -1, [-1, 1, 3, 7]),
        (-1, 4, [4, 3, 2, 0]),
    ],
)
def test_a_slope_is_used_unless_it_is_zero_or_no_number(
    tmp_path: Path, slope: float, inter: float, expected: list[int]
) -> None:
    array = np.array([0, 1, 2, 4], dtype=np.uint8).reshape(4, 1, 1)
    path = write(tmp_path / "a.nii", array, scl_slope=slope, scl_inter=inter)
    labels, findings = read_labels(path)
    assert labels.data.ravel().tolist() == expected
    assert findings == []
    volume, _ = read_volume(path)
    assert volume.data.ravel().tolist() == expected
    if np.isfinite(slope):
        np.testing.assert_array_equal(volume.data, np.asarray(nibabel.load(path).dataobj))


def test_a_real_slope_beside_an_intercept_that_is_no_number_is_damage(tmp_path: Path) -> None:
    array = IDS.astype(np.uint8)
    with pytest.raises(ReadError, match=r"damaged NIfTI header: .*intercept"):
        read_labels(write(tmp_path / "a.nii", array, scl_slope=2, scl_inter=np.nan))
    assert read_labels(write(tmp_path / "a.nii", array, scl_slope=1, scl_inter=np.nan))[0].data.tolist() == IDS.tolist()


def test_ids_behind_a_slope_that_nibabel_chose_come_back(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(np.repeat(np.arange(8.0), 4).reshape(4, 4, 2), AFFINE)
    image.set_data_dtype(np.int16)
    nibabel.save(image, tmp_path / "a.nii.gz")
    assert nibabel.load(tmp_path / "a.nii.gz").get_fdata().max() != 7  # 6.99995..: it did choose one
    labels, findings = read_labels(tmp_path / "a.nii.gz")
    assert np.bincount(labels.data.ravel()).tolist() == [4] * 8
    assert findings == []


def test_values_beyond_single_precision_are_infinite_without_a_warning(tmp_path: Path) -> None:
    array = np.array([0, 1e300, -1e300]).reshape(3, 1, 1)
    assert read_volume(write(tmp_path / "a.nii", array))[0].data.ravel().tolist() == [0, np.inf, -np.inf]
    scaled = read_volume(write(tmp_path / "a.nii", array, scl_slope=3e38))[0]
    assert scaled.data.ravel().tolist() == [0, np.inf, -np.inf]


def test_ct_values_are_scaled_as_nibabel_scales_them(tmp_path: Path) -> None:
    array = np.array([0, 1024, 4095], dtype=np.int16).reshape(3, 1, 1)
    volume, _ = read_volume(write(tmp_path / "a.nii.gz", array, scl_slope=1, scl_inter=-1024))
    assert volume.data.ravel().tolist() == [-1024, 0, 3071]
    assert volume.data.dtype == np.float32


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("shape", "read_as"),
    [((5, 4), (5, 4, 1)), ((6,), (6, 1, 1)), ((2, 3, 4, 1), (2, 3, 4)), ((2, 3, 4, 1, 1), (2, 3, 4))],
)
def test_missing_and_single_axes_are_put_right_with_a_note(
    tmp_path: Path, shape: tuple[int, ...], read_as: tuple[int, ...]
) -> None:
    array = (np.arange(np.prod(shape)) % 7).astype(np.uint8).reshape(shape)
    labels, findings = read_labels(write(tmp_path / "a.nii", array))
    assert labels.data.tolist() == array.reshape(read_as).tolist()
    assert labels.grid.shape == read_as
    assert labels.grid.spacing[0] == pytest.approx(0.5)
    assert codes(findings) == ["info singleton-axes"]


def test_a_slice_without_a_third_step_lies_where_its_qform_says(tmp_path: Path) -> None:
    array = np.ones((5, 4), dtype=np.uint8)
    grid, findings = read_grid(write(tmp_path / "a.nii", array, sform_code=0, pixdim=[1, 0.5, 2, 0, 0, 0, 0, 0]))
    assert grid.has_world
    assert grid.spacing == pytest.approx((0.5, 2.0, 1.0))
    assert grid.affine[:3, 3].tolist() == [90, -126, -72]
    assert findings == []


@pytest.mark.parametrize("shape", [(2, 3, 4, 2), (2, 3, 4, 1, 3)])
def test_several_volumes_in_one_file_are_refused_with_the_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = write(tmp_path / "a.nii", np.zeros(shape, dtype=np.uint8))
    for read in (read_labels, read_volume, read_grid):
        with pytest.raises(ReadError, match=rf"{len(shape)}-dimensional.*one file per channel"):
            read(path)


@pytest.mark.parametrize("dim", [[3, 2, 0, 4], [3, 2, -3, 4], [0, 2, 3, 4], [-3, 2, 3, 4], [8, 2, 3, 4]])
def test_impossible_shapes_are_damage(tmp_path: Path, dim: list[int]) -> None:
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), dim=[*dim, 1, 1, 1, 1][:8])
    with pytest.raises(ReadError, match="shape"):
        read_labels(path)


# ---------------------------------------------------------------- where it lies


def test_the_sform_is_used_before_the_qform_and_10_mm_between_them_is_said(tmp_path: Path) -> None:
    moved = AFFINE.copy()
    moved[0, 3] += 10
    header = header_of(IDS.astype(np.uint8))
    header.set_sform(moved, 2)
    labels, findings = read_labels(file_of(tmp_path / "a.nii", IDS.astype(np.uint8), header))
    np.testing.assert_allclose(labels.grid.affine, moved)
    assert codes(findings) == ["warning qform-sform-differ"]
    assert "qform and sform differ by 10.0 mm" in findings[0].message


@pytest.mark.parametrize(("apart", "said"), [(0.02, False), (0.03, True)])
def test_forms_are_one_up_to_a_twentieth_of_the_smallest_step(tmp_path: Path, apart: float, said: bool) -> None:
    moved = AFFINE.copy()
    moved[0, 3] += apart  # smallest step 0.5: limit 0.025
    header = header_of(IDS.astype(np.uint8))
    header.set_sform(moved, 2)
    _, findings = read_grid(file_of(tmp_path / "a.nii", IDS.astype(np.uint8), header))
    assert codes(findings) == (["warning qform-sform-differ"] if said else [])


@pytest.mark.parametrize("form", ["sform", "qform"])
def test_one_form_alone_is_enough(tmp_path: Path, form: str) -> None:
    other = {"sform": "qform_code", "qform": "sform_code"}[form]
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), **{other: 0})
    grid, findings = read_grid(path)
    assert grid.has_world
    np.testing.assert_allclose(grid.affine, AFFINE, atol=1e-6)
    np.testing.assert_allclose(grid.affine, nibabel.load(path).affine)
    assert findings == []


def test_an_oblique_qform_is_nibabels(tmp_path: Path) -> None:
    affine = nibabel.affines.from_matvec(
        nibabel.eulerangles.euler2mat(0.3, -0.2, 0.1) @ np.diag([-0.5, 2, 3]), [1, 2, 3]
    )
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), affine, sform_code=0)
    np.testing.assert_array_equal(read_grid(path)[0].affine, nibabel.load(path).affine)


def test_without_form_codes_only_the_steps_are_known(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), qform_code=0, sform_code=0)
    grid, findings = read_grid(path)
    assert not grid.has_world
    np.testing.assert_allclose(grid.affine, np.diag([0.5, 2.0, 3.0, 1.0]))
    assert findings == []


def test_a_shear_of_two_hundredths_loads_with_a_note(tmp_path: Path) -> None:
    affine = np.diag([1.0, 1.0, 3.0, 1.0])
    affine[0, 1] = 0.02
    header = header_of(IDS.astype(np.uint8), None)
    header.set_sform(affine, 2)
    grid, findings = read_grid(file_of(tmp_path / "a.nii", IDS.astype(np.uint8), header))
    np.testing.assert_allclose(grid.spacing, [1.0, 1.0002, 3.0], atol=1e-5)
    assert codes(findings) == ["info sheared-axes"]
    assert "1.15 deg from orthogonal" in findings[0].message


@pytest.mark.parametrize("field", ["srow_x", "srow_y", "srow_z"])
@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_an_unusable_sform_leaves_a_good_qform(tmp_path: Path, field: str, value: float) -> None:
    grid, findings = read_grid(write(tmp_path / "a.nii", IDS.astype(np.uint8), **{field: [value] * 4}))
    np.testing.assert_allclose(grid.affine, AFFINE, atol=1e-6)
    assert codes(findings) == ["warning unusable-form"]
    assert findings[0].message.startswith("sform: affine: got")


@pytest.mark.parametrize("quaternion", [[5, 0, 0], [0.9, 0.9, 0]])
def test_an_impossible_quaternion_leaves_a_good_sform(tmp_path: Path, quaternion: list[float]) -> None:
    fields = dict(zip(("quatern_b", "quatern_c", "quatern_d"), quaternion, strict=True))
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), **fields)
    grid, findings = read_grid(path)
    np.testing.assert_array_equal(grid.affine, nibabel.load(path).affine)
    assert codes(findings) == ["warning unusable-form"]
    assert findings[0].message.startswith("qform:")


@pytest.mark.parametrize(("qfac", "sign"), [(0.0, 1), (1.0, 1), (-1.0, -1), (0.5, 1)])
def test_the_sign_of_qfac_turns_the_third_axis_and_0_counts_as_1(tmp_path: Path, qfac: float, sign: int) -> None:
    steps = [qfac, 0.5, 2, 3, 1, 1, 1, 1]
    header = header_of(IDS.astype(np.uint8), np.diag([0.5, 2.0, 3.0, 1.0]))
    grid, findings = read_grid(file_of(tmp_path / "a.nii", IDS.astype(np.uint8), header, pixdim=steps, sform_code=0))
    np.testing.assert_allclose(grid.affine, np.diag([0.5, 2.0, 3.0 * sign, 1.0]))
    assert findings == []


def test_negative_steps_are_lengths_and_zero_steps_are_damage(tmp_path: Path) -> None:
    array = IDS.astype(np.uint8)
    for codes_of_forms in ({"sform_code": 0}, {"sform_code": 0, "qform_code": 0}):
        path = write(tmp_path / "a.nii", array, pixdim=[-1, -0.5, 2, 3, 0, 0, 0, 0], **codes_of_forms)
        assert read_grid(path)[0].spacing == pytest.approx((0.5, 2.0, 3.0))
        path = write(tmp_path / "a.nii", array, pixdim=[1, 0, 2, 3, 0, 0, 0, 0], **codes_of_forms)
        with pytest.raises(ReadError, match=r"damaged NIfTI header: .*flattens"):
            read_grid(path)


@pytest.mark.parametrize(
    ("unit", "factor", "notes"),
    [
        *[(0, 1, []), (2, 1, []), (3, 0.001, ["info unit-converted"]), (1, 1000, ["info unit-converted"])],
        *[(2 + 8, 1, []), (7, 1, []), (3 + 16, 0.001, ["info unit-converted"])],
    ],
)
@pytest.mark.parametrize("form", [{}, {"sform_code": 0}, {"sform_code": 0, "qform_code": 0}])
def test_lengths_leave_as_millimetres_whatever_unit_the_file_uses(
    tmp_path: Path, unit: int, factor: float, notes: list[str], form: dict[str, int]
) -> None:
    grid, findings = read_grid(write(tmp_path / "a.nii", IDS.astype(np.uint8), xyzt_units=unit, **form))
    assert grid.spacing == pytest.approx((0.5 * factor, 2 * factor, 3 * factor))
    if grid.has_world:
        np.testing.assert_allclose(grid.affine[:3, 3], AFFINE[:3, 3] * factor)
    assert codes(findings) == notes


def test_500_microns_are_half_a_millimetre(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nii", IDS.astype(np.uint8), np.diag([500.0, 500.0, 500.0, 1.0]), xyzt_units=3)
    assert read_grid(path)[0].spacing == pytest.approx((0.5, 0.5, 0.5))


def test_read_grid_says_what_read_labels_says(tmp_path: Path) -> None:
    moved = AFFINE.copy()
    moved[0, 3] += 10
    header = header_of(IDS.astype(np.uint8))
    header.set_sform(moved, 2)
    path = file_of(tmp_path / "a.nii", IDS.astype(np.uint8), header, xyzt_units=3)
    (grid, notes), (labels, all_notes) = read_grid(path), read_labels(path)
    np.testing.assert_array_equal(grid.affine, labels.grid.affine)
    assert notes == all_notes
    assert len(notes) == 2


def test_header_extensions_are_skipped(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(IDS.astype(np.uint8), AFFINE)
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a remark of some length" * 9))
    nibabel.save(image, tmp_path / "a.nii.gz")
    assert nibabel.load(tmp_path / "a.nii.gz").dataobj.offset > 352
    assert read_labels(tmp_path / "a.nii.gz")[0].data.tolist() == IDS.tolist()


# ---------------------------------------------------------------- writing


@given(
    hnp.arrays(
        np.int64,
        hnp.array_shapes(min_dims=3, max_dims=3, max_side=4),
        elements=st.sampled_from([0, 1, 255, 256, 65_536, 70_000, 2**31, 2**40, -1]),
    )
)
def test_ids_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, array: NDArray[Any]) -> None:
    path = tmp_path_factory.mktemp("ids") / "a.nii.gz"
    write_labels(path, LabelMap(array, Grid(array.shape, AFFINE)))
    labels, findings = read_labels(path)
    assert labels.data.tolist() == array.tolist()
    np.testing.assert_allclose(labels.grid.affine, AFFINE)
    assert findings == []
    np.testing.assert_array_equal(np.asarray(nibabel.load(path).dataobj), array)


@pytest.mark.parametrize(
    ("largest", "dtype"), [(1, "uint8"), (256, "uint16"), (70_000, "int32"), (2**31, "uint32"), (2**32, "int64")]
)
def test_the_file_has_the_smallest_type_and_the_unit(tmp_path: Path, largest: int, dtype: str) -> None:
    array = np.full((2, 3, 4), largest, dtype=np.int64)
    write_labels(tmp_path / "a.nii", LabelMap(array, Grid(array.shape, AFFINE)))
    header = nibabel.load(tmp_path / "a.nii").header
    assert header.get_data_dtype() == dtype
    assert header.get_xyzt_units()[0] == "mm"
    assert header["sform_code"] > 0


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4"])
def test_an_image_comes_back_as_it_was_written(tmp_path: Path, dtype: str) -> None:
    array = (np.arange(24).reshape(2, 3, 4) * 3.5).astype(dtype)
    write_volume(tmp_path / "a.nii.gz", Volume(array, Grid(array.shape, AFFINE)))
    volume, findings = read_volume(tmp_path / "a.nii.gz")
    assert volume.data.dtype == dtype
    assert volume.data.tolist() == array.tolist()
    np.testing.assert_allclose(volume.grid.affine, AFFINE)
    assert findings == []


def test_a_map_without_position_is_written_without_one(tmp_path: Path) -> None:
    grid = Grid((2, 3, 4), np.diag([0.5, 2.0, 3.0, 1.0]), has_world=False)
    write_labels(tmp_path / "a.nii", LabelMap(IDS, grid))
    back, _ = read_grid(tmp_path / "a.nii")
    assert not back.has_world
    assert back.spacing == (0.5, 2.0, 3.0)


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.nii.gz"
    path.write_bytes(b"precious")
    with pytest.raises(WriteError, match="exists"):
        write_labels(path, LabelMap(IDS, Grid(IDS.shape, AFFINE)))
    with pytest.raises(WriteError, match="exists"):
        write_volume(path, Volume(IDS, Grid(IDS.shape, AFFINE)))
    assert path.read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["a.txt", "a.mha", "a.img", "nii", "none/a.nii"])
def test_what_cannot_be_written_is_a_write_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteError, match=name.rsplit("/", maxsplit=1)[-1]):
        write_labels(tmp_path / name, LabelMap(IDS, Grid(IDS.shape, AFFINE)))


def test_a_type_that_nifti_lacks_is_a_write_error(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="not storable as NIfTI"):
        write_volume(tmp_path / "a.nii", Volume(IDS.astype(np.float16), Grid(IDS.shape, AFFINE)))
    assert not (tmp_path / "a.nii").exists()
