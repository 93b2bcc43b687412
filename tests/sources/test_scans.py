"""Scan folders of both layouts: what one holds, and what is said of damaged ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dicom_files import uid_of
from rtstruct_files import Drawn, Structure, square, write_rtstruct
from scan_files import TARGET, box, tags, write_dicom_scan, write_png_scan

from medotter_viewer.core.scans import Scan
from medotter_viewer.errors import ReadError
from medotter_viewer.sources.info import path_info
from medotter_viewer.sources.scans import find_scans, is_scan, read_scan, read_scan_volume, scan_slices


def codes(scan: Scan) -> list[str]:
    return sorted(f.code for f in scan.findings)


def rings_of(scan: Scan, name: str) -> dict[int, list[list[list[float]]]]:
    (found,) = (one for one in scan.structures or () if one.name == name)
    return {number: [ring.tolist() for ring in rings] for number, rings in found.contours.rings.items()}


# ---------------------------------------------------------------- which folders are scans


def test_a_scan_is_a_folder_with_tags_or_one_with_images_and_contours(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "B", {TARGET: {}})
    write_dicom_scan(tmp_path, "A", {TARGET: {}})
    (tmp_path / "C" / "CT").mkdir(parents=True)
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    assert [path.name for path in find_scans(tmp_path)] == ["A", "B"]
    assert find_scans(tmp_path / "B") == [tmp_path / "B"]
    assert not is_scan(tmp_path)
    assert find_scans(tmp_path / "C") == find_scans(tmp_path / "nowhere") == []


def test_slices_are_those_that_have_tags_or_a_picture_and_instance_numbers_literally(tmp_path: Path) -> None:
    write_png_scan(tmp_path, "P", {TARGET: {}}, n_slices=3, pictures={2: np.zeros((64, 64), np.uint16)})
    write_dicom_scan(tmp_path, "D", {TARGET: {}}, n_slices=3, first=0)
    assert scan_slices(tmp_path) == {"D": {0, 1, 2}, "P": {1, 2, 3}}


def test_a_scan_that_cannot_be_read_allows_every_slice(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "D", {TARGET: {}})
    next((folder / "CT").iterdir()).unlink()
    assert 12345 in scan_slices(tmp_path)["D"]
    with pytest.raises(ReadError, match="CT"):
        read_scan(folder)


# ---------------------------------------------------------------- the layout with PNGs


def test_slices_are_ordered_by_number_not_by_name(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {TARGET: {}}, n_slices=12)
    scan, findings = read_scan(folder)
    volume, _ = read_scan_volume(scan)
    assert list(scan.thickness_mm) == list(range(1, 13))
    assert volume.data[0, 0].tolist() == [100 + n - 1024 for n in range(1, 13)]
    assert (volume.data.shape, volume.unit, volume.grid.spacing) == ((64, 64, 12), "HU", (1.0, 1.0, 2.5))
    assert findings == []


def test_slices_lie_along_the_normal_whatever_their_numbers(tmp_path: Path) -> None:
    aux = {n: tags(n, step=-2.5) for n in (1, 2, 3)}
    scan, _ = read_scan(write_png_scan(tmp_path, "S", {TARGET: {}}, n_slices=3, aux=aux))
    assert scan.stack is not None
    assert list(scan.stack.numbers) == [3, 2, 1]
    assert scan.stack.origins_lps[:, 2].tolist() == [-5, -2.5, 0]
    assert [path.name for path in scan.stack.files] == ["3.png", "2.png", "1.png"]


def test_the_affine_is_that_of_the_same_scan_in_dicom(tmp_path: Path) -> None:
    png, _ = read_scan(write_png_scan(tmp_path, "P", {TARGET: {}}, n_slices=3))
    dicom, _ = read_scan(write_dicom_scan(tmp_path, "D", {TARGET: {}}, n_slices=3))
    assert png.stack is not None
    assert dicom.stack is not None
    assert np.allclose(png.stack.grid.affine, dicom.stack.grid.affine)
    assert np.allclose(png.stack.origins_lps, dicom.stack.origins_lps)
    assert png.stack.grid.shape == dicom.stack.grid.shape
    pixels = [read_scan_volume(scan)[0].data for scan in (png, dicom)]
    assert np.array_equal(*pixels)


@pytest.mark.parametrize("name", ["contour", "contours"])
def test_both_names_of_the_contour_folder_are_taken(tmp_path: Path, name: str) -> None:
    folder = write_png_scan(tmp_path, "S", {"BODY": {}, TARGET: {1: [box(0, 0, 10)]}}, contours=name)
    assert rings_of(read_scan(folder)[0], TARGET) == {1: [[[0, 0], [10, 0], [10, 10], [0, 10]]]}


def test_two_contour_folders_are_an_error_because_one_must_be_wrong(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}})
    (folder / "contour").mkdir()
    assert [(f.code, f.severity) for f in read_scan(folder)[0].findings] == [("scan-two-contour-folders", "error")]


def test_what_is_missing_is_said_and_strangers_are_passed_over(tmp_path: Path) -> None:
    pictures = {n: np.zeros((64, 64), np.uint16) for n in (1, 2, 5)}
    folder = write_png_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, n_slices=3, pictures=pictures)
    (folder / "auxiliary" / ".DS_Store").write_bytes(b"\0")
    (folder / "auxiliary" / "01.dat").write_text("no slice")
    (folder / "contours" / "2.7.dat").write_text("0,0,0,1,0,0,1,1,0\n")
    (folder / "contours" / "9.1.dat").write_text("0,0,0,1,0,0,1,1,0\n")
    scan, findings = read_scan(folder)
    messages = {f.code: f.message for f in findings}
    assert codes(scan) == [
        "scan-file-ignored",
        "scan-slice-incomplete",
        "scan-slice-incomplete",
        "scan-slice-missing",
        "scan-slice-unknown",
        "scan-structure-unknown",
    ]
    assert "2.7.dat: contours of structure 7, but structures.dat names 1" in messages["scan-structure-unknown"]
    assert "9.1.dat" in messages["scan-slice-unknown"]
    assert "01.dat" in messages["scan-file-ignored"]
    assert "there is no slice 4" in messages["scan-slice-missing"]
    assert any("auxiliary/5.dat" in f.message for f in findings)
    assert any("pngs/3.png" in f.message for f in findings)


def test_a_slice_number_of_nine_digits_does_not_count_up_to_it(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {TARGET: {}})
    (folder / "auxiliary" / "999999999.dat").write_text(tags(2))
    message = next(f.message for f in read_scan(folder)[1] if f.code == "scan-slice-missing")
    assert "no slice 2, 3, 4, 5, 6, 7, 8, 9 and 999999989 more" in message


def test_a_scan_without_pictures_still_has_slices_and_contours(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {TARGET: {2: [box(0, 0, 10)]}}, n_slices=2, pictures={})
    scan, _ = read_scan(folder)
    assert codes(scan) == ["scan-without-image"]
    assert scan.stack is not None
    assert scan.stack.grid.shape == (64, 64, 2)
    with pytest.raises(ReadError, match="no slice has a picture"):
        read_scan_volume(scan)


def test_a_scan_whose_tags_do_not_say_where_it_lies_keeps_its_contours(tmp_path: Path) -> None:
    aux = {1: "(0018.0050),2\n"}
    scan, _ = read_scan(write_png_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, aux=aux))
    assert (scan.stack, codes(scan), dict(scan.thickness_mm)) == (None, ["scan-without-position"], {1: 2.0})
    assert list(rings_of(scan, TARGET)) == [1]


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (tags(2, spacing="1,2"), "different pixel spacing"),
        (tags(1), "lie at one position"),
        (tags(2).replace("1,0,0,0,1,0", "0,1,0,0,0,1"), "different orientation"),
        (tags(2).replace("(0028.0010),64", "(0028.0010),32"), "different size"),
        (tags(2).replace("(0020.0032),0.0,0.0,2.5\n", ""), "no (0020.0032) or (0028.0030) in slice 2"),
    ],
)
def test_slices_that_make_no_volume_are_named(tmp_path: Path, second: str, reason: str) -> None:
    scan, findings = read_scan(write_png_scan(tmp_path, "S", {TARGET: {}}, n_slices=2, aux={2: second}))
    assert scan.stack is None
    assert any(f.code == "scan-without-position" and reason in f.message for f in findings)


def test_unequal_pixels_follow_the_order_of_dicom_and_say_so(tmp_path: Path) -> None:
    aux = {1: tags(1, spacing="2,0.5")}  # between rows, between columns
    scan, findings = read_scan(write_png_scan(tmp_path, "S", {TARGET: {}}, aux=aux))
    assert scan.stack is not None
    assert scan.stack.grid.spacing[:2] == (0.5, 2.0)
    assert [f.code for f in findings] == ["scan-spacing-order"]


def test_uneven_slices_are_drawn_at_their_mean_distance_and_say_so(tmp_path: Path) -> None:
    aux = {3: tags(4)}
    scan, findings = read_scan(write_png_scan(tmp_path, "S", {TARGET: {}}, n_slices=3, aux=aux))
    assert scan.stack is not None
    assert (scan.stack.is_uneven, scan.stack.grid.is_uneven, scan.stack.grid.spacing[2]) == (True, True, 3.75)
    assert [f.code for f in findings] == ["uneven-slices"]


def test_damaged_tags_spoil_one_slice_and_are_an_error(tmp_path: Path) -> None:
    aux = {2: tags(2, spacing="0,9,0,9")}
    scan, findings = read_scan(write_png_scan(tmp_path, "S", {TARGET: {}}, n_slices=2, aux=aux))
    assert [(f.code, f.severity) for f in findings if f.severity == "error"] == [("unreadable-file", "error")]
    assert dict(scan.thickness_mm) == {1: 1.0, 2: None}


def test_a_scan_in_which_nothing_was_drawn_has_no_structures(tmp_path: Path) -> None:
    folder = write_png_scan(tmp_path, "S", {TARGET: {}})
    (folder / "structures.dat").unlink()
    (folder / "contours").rmdir()
    assert read_scan(folder)[0].structures is None


# ---------------------------------------------------------------- the layout with DICOM files


def test_contours_lie_on_the_slice_whose_image_they_name(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {"BODY": {}, TARGET: {2: [box(1, 2, 10)]}}, n_slices=3)
    scan, findings = read_scan(folder)
    assert rings_of(scan, TARGET) == {2: [[[1, 2], [11, 2], [11, 12], [1, 12]]]}
    assert [(one.number, one.name) for one in scan.structures or ()] == [(1, "BODY"), (2, TARGET)]
    assert [f for f in findings if f.severity != "info"] == []


def test_numbers_from_zero_are_taken_literally(tmp_path: Path) -> None:
    scan, _ = read_scan(write_dicom_scan(tmp_path, "S", {TARGET: {0: [box(0, 0, 10)]}}, n_slices=2, first=0))
    assert list(scan.thickness_mm) == [0, 1]
    assert list(rings_of(scan, TARGET)) == [0]


def test_contours_that_name_no_image_lie_at_their_height(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {3: [box(0, 0, 10)]}}, n_slices=3, named=False)
    assert list(rings_of(read_scan(folder)[0], TARGET)) == [3]
    rings = [Drawn(square(0, 0, 10, 2.5), image=uid_of("sop", "another series"))]
    write_rtstruct(folder / "RTst" / "rt.dcm", [Structure(1, TARGET, rings)])
    scan, findings = read_scan(folder)
    assert list(rings_of(scan, TARGET)) == [2]
    assert [f.code for f in findings if f.severity == "warning"] == ["contour-other-series"]


def test_another_frame_of_reference_is_an_error_that_names_both(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, frame="elsewhere", named=False)
    scan, findings = read_scan(folder)
    (error,) = (f for f in findings if f.severity == "error")
    assert uid_of("frame", "elsewhere") in error.message
    assert uid_of("frame", "frame of reference") in error.message
    assert scan.structures == ()


def test_contours_that_all_name_images_of_the_series_are_on_them_whatever_frame_is_told(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, frame="elsewhere")
    scan, findings = read_scan(folder)
    assert list(rings_of(scan, TARGET)) == [1]
    assert [f.code for f in findings if f.severity == "warning"] == ["contour-frame-of-reference"]


def test_a_contour_of_another_frame_must_lie_on_the_image_that_it_names(tmp_path: Path) -> None:
    """The name alone would place it by a position that means nothing in this frame."""
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, n_slices=3)
    ring = Drawn(square(0, 0, 10, 5.0), image=uid_of("sop", "S 1"))  # slice 1 lies at 0 mm
    write_rtstruct(folder / "RTst" / "rt.dcm", [Structure(1, TARGET, [ring])], frame="elsewhere")
    scan, findings = read_scan(folder)
    assert [f.code for f in findings if f.severity == "error"] == ["unreadable-contours"]
    assert scan.structures == ()


def test_an_image_beside_the_structure_set_is_no_second_one(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}})
    image = next((folder / "CT").iterdir())
    (folder / "RTst" / "stray.dcm").write_bytes(image.read_bytes())
    scan, _ = read_scan(folder)
    assert list(rings_of(scan, TARGET)) == [1]


def test_two_images_of_one_number_or_none_are_refused(tmp_path: Path) -> None:
    twice = write_dicom_scan(tmp_path, "A", {TARGET: {}})
    more = write_dicom_scan(tmp_path, "B", {TARGET: {}}, n_slices=2)
    (more / "CT" / "IM1.dcm").rename(twice / "CT" / "second.dcm")  # number 2, at 2.5 mm
    numbers = {path.name: path for path in (twice / "CT").iterdir()}
    import pydicom

    image = pydicom.dcmread(numbers["second.dcm"])
    image.InstanceNumber = 1
    image.save_as(numbers["second.dcm"])
    with pytest.raises(ReadError, match="Instance Number 1 stands in 2 images"):
        read_scan(twice)
    del image.InstanceNumber
    image.save_as(numbers["second.dcm"])
    with pytest.raises(ReadError, match="no Instance Number"):
        read_scan(twice)


def test_two_structure_sets_are_an_error(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {}})
    write_rtstruct(folder / "RTst" / "other.dcm", [Structure(1, "BODY")])
    assert [f.code for f in read_scan(folder)[1] if f.severity == "error"] == ["scan-several-structure-sets"]


def test_damage_in_one_structure_is_kept_with_that_structure(tmp_path: Path) -> None:
    folder = write_dicom_scan(tmp_path, "S", {TARGET: {}})
    drawn = [
        Structure(1, "BODY", [Drawn("0\\0\\0\\1\\x\\0\\1\\1\\0")]),
        Structure(2, TARGET, [Drawn(square(0, 0, 4, 0))]),
    ]
    write_rtstruct(folder / "RTst" / "rt.dcm", drawn)
    scan, findings = read_scan(folder)
    assert [f for f in findings if f.severity == "error"] == []
    assert [one.damage is not None for one in scan.structures or ()] == [True, False]


# ---------------------------------------------------------------- info


@pytest.mark.parametrize("write", [write_png_scan, write_dicom_scan])
def test_info_lists_slices_along_the_normal_and_structures(tmp_path: Path, write: object) -> None:
    structures = {"BODY": {1: [box(0, 0, 20)]}, TARGET: {1: [box(0, 0, 10), box(5, 0, 10)], 2: [box(0, 0, 2)]}}
    folder = write(tmp_path, "S", structures, n_slices=2)  # type: ignore[operator]
    found = path_info(folder)
    assert (found["kind"], found["shape"], found["spacing"]) == ("scan", [64, 64, 2], [1.0, 1.0, 2.5])
    slices, drawn = found["items"][:2], found["items"][2:]
    assert [(item["slice"], item["world"], item["range"]) for item in slices] == [
        (1, [0.0, 0.0, 0.0], [-923.0, -923.0]),
        (2, [0.0, 0.0, 2.5], [-922.0, -922.0]),
    ]
    assert [(i["number"], i["name"], i["contours"], i["area_mm2"], i["reliability"]) for i in drawn] == [
        (1, "BODY", 1, 400.0, None),
        (2, TARGET, 3, 154.0, "manual and reviewed"),
    ]
    above = path_info(tmp_path)
    assert (above["kind"], above["items"]) == ("scans", [{"kind": "scan", "id": "S", "slices": 2}])


def test_info_of_a_scan_without_image_or_position_still_names_its_slices(tmp_path: Path) -> None:
    found = path_info(write_png_scan(tmp_path, "S", {TARGET: {}}, aux={1: "(0018.0050),2\n"}, pictures={}))
    assert (found["shape"], [item["slice"] for item in found["items"][:1]]) == (None, [1])


def test_contours_stay_usable_among_blank_lines_strangers_and_a_missing_picture(tmp_path: Path) -> None:
    picture = {1: np.full((64, 64), 7, np.uint16)}
    folder = write_png_scan(tmp_path, "S", {TARGET: {1: [box(0, 0, 10)]}}, n_slices=2, pictures=picture)
    ring = folder / "contours" / "1.1.dat"
    ring.write_text(ring.read_text().rstrip("\n") + "\n\n")
    (folder / "contours" / "2.7.dat").write_text("0,0,0,1,0,0,1,1,0\n")
    for place in (tmp_path, folder, *(folder / name for name in ("auxiliary", "contours", "pngs"))):
        (place / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    assert find_scans(tmp_path) == [folder]
    scan, findings = read_scan(folder)
    assert rings_of(scan, TARGET) == {1: [[[0, 0], [10, 0], [10, 10], [0, 10]]]}
    assert [f for f in findings if f.severity == "error"] == []
    told = " ".join(f.message for f in findings)
    assert "2.7.dat" in told
    assert "pngs/2.png" in told
    assert ".DS_Store" not in told
    volume, _ = read_scan_volume(scan)
    assert volume.data.shape == (64, 64, 2)
