"""Slices lie where Image Position says: order, distance, shear, gaps, and what does not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import AXIAL, ramp, uid_of, write_series, write_slice
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom import series

PIXELS = np.zeros((3, 4), dtype=np.int16)


def codes(findings: Any) -> list[str]:
    return [f.code for f in findings]


def depth_values(folder: Path) -> list[int]:
    """Value of each slice of a ramp, in the order of the volume."""
    volume, _ = series.read_volume(folder)
    return [int(v) for v in volume.data[0, 0]]


@pytest.mark.parametrize("numbers", [[None] * 4, [1, 1, 1, 1], [4, 3, 2, 1], [9, 2, 7, 2]])
def test_neither_names_nor_instance_numbers_order_slices(tmp_path: Path, numbers: list[int | None]) -> None:
    names = ["c.dcm", "a.dcm", "d.dcm", "b.dcm"]
    write_series(tmp_path, ramp(4), step=(0, 0, 2.5), names=names, numbers=numbers)
    stack, findings = series.read_stack(tmp_path)
    assert depth_values(tmp_path) == [0, 1, 2, 3]
    assert stack.grid.spacing == (1.0, 1.0, 2.5)
    assert stack.positions_mm.tolist() == [0, 2.5, 5, 7.5]
    assert [path.name for path in stack.files] == names
    assert stack.numbers == numbers
    assert findings == []


def test_slices_are_counted_along_the_normal_whatever_the_order_of_the_scan(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), step=(0, 0, -2), origin=(0, 0, 10))
    stack, _ = series.read_stack(tmp_path)
    assert depth_values(tmp_path) == [2, 1, 0]
    assert stack.positions_mm.tolist() == [6, 8, 10]


def test_the_affine_takes_voxels_to_ras_millimetres(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), step=(0, 0, 2), origin=(-10, -20, 30), spacing=(0.5, 0.25))
    grid, _ = series.read_grid(tmp_path)
    # LPS (-10, -20, 30) is RAS (10, 20, 30); columns run to the left, rows to the back.
    assert grid.affine.tolist() == [[-0.25, 0, 0, 10], [0, -0.5, 0, 20], [0, 0, 2, 30], [0, 0, 0, 1]]
    assert grid.shape == (4, 3, 3)
    assert grid.axcodes == "LPS"


@pytest.mark.parametrize(
    ("orientation", "axcodes"),
    [(AXIAL, "LPS"), ((-1, 0, 0, 0, 1, 0), "RPI"), ((-1, 0, 0, 0, -1, 0), "RAS"), ((1, 0, 0, 0, 0, -1), "LIP"),
     ((0, 1, 0, 0, 0, -1), "PIR")],
    ids=["head first", "feet first", "prone", "coronal", "sagittal"],
)  # fmt: skip
def test_every_orientation_is_counted_along_its_own_normal(tmp_path: Path, orientation: Any, axcodes: str) -> None:
    # Columns x rows in LPS, by hand: L x P = S, R x P = I, R x A = S, L x I = P, P x I = R.
    normal = np.cross(orientation[:3], orientation[3:])
    write_series(tmp_path, ramp(3), step=3 * normal, orientation=orientation)
    grid, _ = series.read_grid(tmp_path)
    assert grid.axcodes == axcodes
    assert grid.spacing == pytest.approx((1, 1, 3))
    assert depth_values(tmp_path) == [0, 1, 2]


@given(st.tuples(*[st.floats(-0.5, 0.5)] * 2), st.tuples(*[st.floats(-200, 200)] * 3), st.floats(0.5, 5))
def test_an_oblique_series_keeps_every_position(
    tmp_path_factory: pytest.TempPathFactory, angles: Any, origin: Any, distance: float
) -> None:
    folder = tmp_path_factory.mktemp("oblique")
    a, b = angles
    row = np.array([np.cos(a), np.sin(a), 0])
    other = np.array([-np.sin(a) * np.cos(b), np.cos(a) * np.cos(b), np.sin(b)])
    normal = np.cross(row, other)
    write_series(folder, ramp(3), step=distance * normal, origin=origin, orientation=[*row, *other], spacing=(1, 2))
    stack, findings = series.read_stack(folder)
    expected = np.asarray(origin) + 2 * row * 3 + 1 * other * 2 + 2 * distance * normal
    assert stack.grid.voxel_to_world([3, 2, 2]) == pytest.approx(expected * [-1, -1, 1], abs=1e-4)
    assert stack.to_lps(np.array([[3.0, 2.0]]), 2)[0] == pytest.approx(expected, abs=1e-4)
    assert findings == []


def test_thickness_never_spaces_slices(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), step=(0, 0, 2.5), thickness=5)
    stack, findings = series.read_stack(tmp_path)
    assert stack.grid.spacing[2] == 2.5
    assert stack.thickness_mm == [5, 5, 5]
    assert codes(findings) == ["thickness-is-not-distance"]
    assert "5 mm thickness" in findings[0].message
    assert "2.5 mm apart" in findings[0].message


@pytest.mark.parametrize(
    ("keys", "step", "noticed"),
    [({"thickness": 5}, 5, []), ({"thickness": 5, "more": {"SpacingBetweenSlices": "-3"}}, 3, []),
     ({}, 1, ["no-slice-thickness"])],
)  # fmt: skip
def test_a_single_slice_is_as_deep_as_its_header_says(tmp_path: Path, keys: Any, step: float, noticed: Any) -> None:
    grid, findings = series.read_grid(write_slice(tmp_path / "one.dcm", PIXELS, **keys))
    assert grid.spacing[2] == step
    assert codes(findings) == noticed


# ---------------------------------------------------------------- what does not belong


def test_two_slices_at_one_position_are_refused_with_both_names(tmp_path: Path) -> None:
    for name, z in (("0", 0), ("1", 1), ("2", 1), ("3", 2)):
        write_slice(tmp_path / f"{name}.dcm", np.full((3, 4), int(name), np.int16), position=(0, 0, z))
    with pytest.raises(ReadError, match=r"1\.dcm and 2\.dcm are different slices at one position \(1 mm"):
        series.read_stack(tmp_path)


def test_the_same_image_twice_is_left_out_with_a_note(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3))
    (tmp_path / "copy.dcm").write_bytes((tmp_path / "1.dcm").read_bytes())
    stack, findings = series.read_stack(tmp_path)
    assert len(stack) == 3
    assert codes(findings) == ["copy-left-out"]
    assert findings[0].file == str(tmp_path / "copy.dcm")
    assert "copy.dcm is a copy of 1.dcm" in findings[0].message


def test_one_uid_with_other_pixels_is_no_copy(tmp_path: Path) -> None:
    for name, value in (("a", 0), ("b", 1)):
        write_slice(tmp_path / f"{name}.dcm", np.full((3, 4), value, np.int16), sop_uid="same")
    with pytest.raises(ReadError, match=r"a\.dcm and b\.dcm are different slices"):
        series.read_stack(tmp_path)


def test_one_uid_for_all_slices_hides_none(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), sop_uid="same")
    assert depth_values(tmp_path) == [0, 1, 2]


def test_two_phases_in_one_series_are_refused_by_what_tells_them_apart(tmp_path: Path) -> None:
    for phase in (1, 2):
        write_series(tmp_path, ramp(2), names=[f"{phase}{i}.dcm" for i in range(2)],
                     more={"TemporalPositionIdentifier": phase, "AcquisitionNumber": 7})  # fmt: skip
    with pytest.raises(ReadError, match="2 volumes in one series, which differ in TemporalPositionIdentifier;"):
        series.read_stack(tmp_path)


def test_a_localizer_is_left_out_and_does_not_stretch_the_volume(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(4))
    write_slice(tmp_path / "scout.dcm", np.zeros((8, 6), np.int16), orientation=(1, 0, 0, 0, 0, -1), position=(0, 0, 9))
    (tmp_path / "README.txt").write_text("not DICOM")
    (tmp_path / "._0.dcm").write_bytes(b"\0\5\26\7" + b"\0" * 200)
    (tmp_path / "DICOMDIR").write_bytes((tmp_path / "0.dcm").read_bytes())
    (tmp_path / "sub").mkdir()
    stack, findings = series.read_stack(tmp_path)
    assert stack.grid.shape == (4, 3, 4)
    assert stack.grid.spacing == (1, 1, 1)
    assert codes(findings) == ["slice-left-out"]
    assert findings[0].file == str(tmp_path / "scout.dcm")
    assert "another orientation and size" in findings[0].message


@pytest.mark.parametrize(
    ("other", "word"),
    [({"spacing": (2, 2)}, "pixel spacing"), ({"orientation": (-1, 0, 0, 0, 1, 0)}, "orientation"),
     ({"position": None}, "position"), ({"pixels": np.zeros((4, 4), np.int16)}, "size")],
)  # fmt: skip
def test_every_kind_of_stray_slice_is_left_out_with_its_reason(tmp_path: Path, other: Any, word: str) -> None:
    write_series(tmp_path, ramp(3))
    write_slice(tmp_path / "stray.dcm", **{"pixels": PIXELS, "position": (0, 0, 1), **other})
    stack, findings = series.read_stack(tmp_path)
    assert len(stack) == 3
    assert codes(findings) == ["slice-left-out"]
    assert "stray.dcm" in findings[0].message
    assert word in findings[0].message


def test_as_many_slices_of_either_orientation_are_refused(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2))
    write_series(tmp_path, ramp(2), orientation=(1, 0, 0, 0, 0, -1), step=(0, 1, 0), names=["x.dcm", "y.dcm"])
    with pytest.raises(ReadError, match=r"different orientation: 0\.dcm, 1\.dcm; x\.dcm, y\.dcm"):
        series.read_stack(tmp_path)


def test_two_frames_of_reference_in_one_series_are_refused(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2))
    write_slice(tmp_path / "z.dcm", PIXELS, position=(0, 0, 2), frame="other")
    with pytest.raises(ReadError, match=r"2 frames of reference .*z\.dcm"):
        series.read_stack(tmp_path)


def test_the_frame_of_reference_and_uids_are_kept(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2), frame="here")
    stack, _ = series.read_stack(tmp_path)
    assert stack.frame_of_reference_uid == uid_of("frame", "here")
    assert stack.sop_uids == [uid_of("sop", str(tmp_path / f"{i}.dcm")) for i in range(2)]


def test_images_without_positions_are_no_stack(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(1), step=(0, 0, 1))
    (tmp_path / "0.dcm").unlink()
    for name in "ab":
        write_slice(tmp_path / f"{name}.dcm", PIXELS, position=None)
    with pytest.raises(ReadError, match=r"2 images without \(0020,0032\)"):
        series.read_stack(tmp_path)


# ---------------------------------------------------------------- distances


def write_at(folder: Path, depths: list[float], **keys: Any) -> None:
    for index, depth in enumerate(depths):
        write_slice(folder / f"{index}.dcm", np.full((3, 4), index, np.int16), position=(0, 0, depth), **keys)


def test_a_missing_slice_is_told_with_its_neighbours(tmp_path: Path) -> None:
    write_at(tmp_path, [0, 2, 4, 8, 10])
    stack, findings = series.read_stack(tmp_path)
    assert stack.is_uneven
    assert stack.grid.is_uneven
    assert stack.grid.spacing[2] == 2.5  # the mean
    assert codes(findings) == ["missing-slices"]
    assert "1 slice missing: 2 mm apart elsewhere, but 4 mm between 2.dcm and 3.dcm" in findings[0].message
    assert series.read_volume(tmp_path)[0].grid.is_uneven


def test_irregular_distances_are_told_with_their_extremes(tmp_path: Path) -> None:
    write_at(tmp_path, [0, 1, 2.3, 3.2, 4])
    stack, findings = series.read_stack(tmp_path)
    assert stack.is_uneven
    assert codes(findings) == ["uneven-slices"]
    assert "0.8 to 1.3 mm" in findings[0].message


@pytest.mark.parametrize(
    ("depths", "noticed"),
    [([0, 1, 2.009, 3.009], []), ([0, 1, 2.02, 3.02], ["nearly-even-slices"]), ([0, 5, 10.04, 15.04], []),
     ([0, 1.3, 2.5, 3.8, 5.0], ["nearly-even-slices"]), ([0, 1, 2, 3.2], ["uneven-slices"])],
)  # fmt: skip
def test_uneven_means_a_slice_off_its_place_by_a_twentieth_of_the_distance(
    tmp_path: Path, depths: list[float], noticed: list[str]
) -> None:
    write_at(tmp_path, depths)
    stack, findings = series.read_stack(tmp_path)
    assert codes(findings) == noticed
    assert stack.is_uneven is stack.grid.is_uneven is (noticed == ["uneven-slices"])


def test_a_tilted_gantry_shears_the_volume_by_its_positions(tmp_path: Path) -> None:
    # Tilted by 20 degrees about x; the table moves 4 mm along z from slice to slice.
    angle = np.radians(20)
    orientation = (1, 0, 0, 0, np.cos(angle), np.sin(angle))
    write_series(tmp_path, ramp(5), step=(0, 0, 4), orientation=orientation)
    stack, findings = series.read_stack(tmp_path)
    assert codes(findings) == ["gantry-tilt"]
    assert "20.00 deg" in findings[0].message
    assert stack.grid.affine[:3, 2] == pytest.approx([0, 0, 4])
    assert stack.grid.shear_deg == pytest.approx(20)
    assert not stack.is_uneven
    assert np.diff(stack.positions_mm) == pytest.approx([4 * np.cos(angle)] * 4)


def test_slices_beside_the_line_are_no_volume(tmp_path: Path) -> None:
    for index, x in enumerate([0, 0, 3, 0]):
        write_slice(tmp_path / f"{index}.dcm", PIXELS, position=(x, 0, index))
    with pytest.raises(ReadError, match=r"2\.dcm lies 3 mm beside the line"):
        series.read_stack(tmp_path)


def test_rounded_positions_are_no_tilt(tmp_path: Path) -> None:
    for index, x in enumerate([0, 0.0004, -0.0003, 0.0001]):
        write_slice(tmp_path / f"{index}.dcm", PIXELS, position=(x, 0, index))
    stack, findings = series.read_stack(tmp_path)
    assert findings == []
    assert stack.grid.affine[:3, 2].tolist() == [0, 0, 1]
