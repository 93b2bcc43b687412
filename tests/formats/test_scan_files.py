"""The text files and pictures of scan folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scan_files import write_png

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.scan_aux import read_slice_tags
from medotter_viewer.formats.scan_pngs import read_pngs
from medotter_viewer.formats.scan_structures import read_rings, read_structure_names
from medotter_viewer.formats.scan_tables import read_clinical, read_seeds, read_structure_dict


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---------------------------------------------------------------- tags


@pytest.mark.parametrize(
    "text",
    [
        "(0020.0032),-250,-250,-47.5\n(0018.0050),2.5\n(0028.0030),9.76562e-1,9.76562e-1\n",
        "(0020.0032), -250 , -250,-47.5\r\n(0018.0050),2.5\r\n(0028.0030),0.976562,0.976562\r\n",
        "\ufeff(0020.0032),-250,-250,-47.5\n\n(0018.0050),2.5\n(0028.0030),.976562,+0.976562E0",
    ],
)
def test_blanks_ends_of_line_and_powers_of_ten_make_no_difference(tmp_path: Path, text: str) -> None:
    tags, findings = read_slice_tags(write(tmp_path / "1.dat", text))
    assert (tags.origin_lps, tags.thickness_mm, tags.spacing_mm) == ((-250, -250, -47.5), 2.5, (0.976562, 0.976562))
    assert findings == []


def test_tags_that_are_not_needed_and_empty_values_are_passed_over(tmp_path: Path) -> None:
    text = "(0008.0070),MAKER, INC\n(0028.1052),\n(0018.0050)\n(0018.0050),5\n(0028.1054),HU\n(0018.1020),1,5 a\n"
    tags, findings = read_slice_tags(write(tmp_path / "1.dat", text))
    assert (tags.intercept, tags.thickness_mm, tags.unit, findings) == (None, 5.0, "HU", [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("(0018.0050),2,5", r"line 2: tag \(0018.0050\): got '2,5', expected 1 number"),
        ("(0018.0050),thin", r"line 2: tag \(0018.0050\): got 'thin', expected a number"),
        ("(0028.0030),0.9", r"line 2: tag \(0028.0030\): got '0.9', expected 2 numbers"),
        ("(0028.0030),0,1", "lengths above 0 mm"),
        ("(0028.0030),nan,1", "got 'nan'"),
        ("(0028.0030),1_0,1", "got '1_0'"),
        ("(0028.0030),1e999,1", "too large"),
        ("(0028.0010),1e9", "number of pixels"),
        ("(0028.0010),2.5", "number of pixels"),
        ("(0020.0032),1,2,4", "lines 1 and 2: tag .* stands twice"),
    ],
)
def test_a_needed_tag_that_holds_no_number_is_refused_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path / "1.dat", f"(0020.0032),1,2,3\n{line}\n")
    with pytest.raises(ReadError, match=reason) as caught:
        read_slice_tags(path)
    assert str(path) in str(caught.value)


def test_the_same_tag_twice_is_no_question_and_a_line_without_tag_is_noted(tmp_path: Path) -> None:
    tags, findings = read_slice_tags(write(tmp_path / "1.dat", "(0018.0050),5\n(0018.0050),5\nhello\n"))
    assert tags.thickness_mm == 5
    assert [(f.code, f.where) for f in findings] == [("scan-line-unknown", "3")]


def test_a_file_that_is_no_text_of_tags_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"1.0 MiB, expected a text of at most 1 MiB"):
        read_slice_tags(write(tmp_path / "1.dat", b"x" * ((1 << 20) + 1)))
    with pytest.raises(ReadError, match="not a regular file"):
        read_slice_tags(tmp_path)


# ---------------------------------------------------------------- structures


def test_names_are_taken_as_written_and_an_end_of_line_is_none(tmp_path: Path) -> None:
    for end in ("", "\n", "\r\n", "\n\n"):
        names, findings = read_structure_names(write(tmp_path / "structures.dat", f"BODY|radiomics_ln_sum |Gtv{end}"))
        assert (names, findings) == (["BODY", "radiomics_ln_sum ", "Gtv"], [])


def test_a_name_that_stands_twice_is_noted(tmp_path: Path) -> None:
    _, findings = read_structure_names(write(tmp_path / "structures.dat", "a|b|a"))
    assert [f.code for f in findings] == ["scan-name-repeated"]


@pytest.mark.parametrize(("text", "reason"), [("", "empty"), ("\n", "empty"), ("a|b\nc", "line 2")])
def test_what_is_no_list_of_names_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        read_structure_names(write(tmp_path / "structures.dat", text))


# ---------------------------------------------------------------- rings


def test_each_line_is_a_ring_and_z_is_dropped(tmp_path: Path) -> None:
    rings, findings = read_rings(write(tmp_path / "1.1.dat", "0,0,7,1e1,0,7, 10,10,7\r\n-1.5,2,7,3,4,7,5,6,7,\n"))
    assert [ring.tolist() for ring in rings] == [[[0, 0], [10, 0], [10, 10]], [[-1.5, 2], [3, 4], [5, 6]]]
    assert findings == []


def test_blank_lines_leftovers_and_short_rings_are_noted_with_their_lines(tmp_path: Path) -> None:
    rings, findings = read_rings(write(tmp_path / "1.1.dat", "\n0,0,0,1,0,0,1,1,0,9\n5,5,5\n\n"))
    assert [len(ring) for ring in rings] == [3, 1]
    assert {(f.code, f.where, f.severity) for f in findings} == {
        ("scan-blank-line", "1", "warning"),
        ("scan-odd-values", "2", "warning"),
        ("contour-without-area", "3", "info"),
    }
    assert "line 1, 4" in findings[0].message


@pytest.mark.parametrize("value", ["nan", "inf", "1_0", "1 0", "", "x", "0x1", "1e", "²", "1e7", "1e400"])
def test_a_value_that_is_no_coordinate_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(ReadError, match="line 2"):
        read_rings(write(tmp_path / "1.1.dat", f"0,0,0,1,0,0,1,1,0\n0,0,0,{value},0,0,1,1,0\n"))


# ---------------------------------------------------------------- lists


def test_the_dictionary_extends_the_names_that_are_built_in(tmp_path: Path) -> None:
    text = "radiomics_gtv|GTV_Mass_CT|ROI-1\nheart|Heart\nradiomics_ln_sum|radiomics_ln_sum \n"
    names, findings = read_structure_dict(write(tmp_path / "structure_dict.dat", text))
    built_in = {"radiomics_gtv", "Radiomics_gtv", "radiomics_gtv2", "radiomics_gtv_nw", "radiomics_gtvr"}
    assert names.names_of("radiomics_gtv") == built_in | {"GTV_Mass_CT", "ROI-1"}
    assert names.names_of("some ROI") == {"some ROI"}
    assert [names.reliability_of(n) for n in ("ROI-1", "radiomics_ln_sum ", "Heart", "body", "heArt")] == [
        "manual and reviewed",
        "manual and reviewed",
        "manual",
        "automatic",
        None,
    ]
    assert findings == []


def test_a_name_of_two_types_is_of_both_and_noted(tmp_path: Path) -> None:
    names, findings = read_structure_dict(write(tmp_path / "structure_dict.dat", "a|x\nb|x\n"))
    assert "x" in names.names_of("a") & names.names_of("b")
    assert [(f.code, f.where) for f in findings] == [("scan-name-shared", "2")]
    with pytest.raises(ReadError, match="line 1"):
        read_structure_dict(write(tmp_path / "structure_dict.dat", "|x\n"))


def test_seeds_and_contrast_are_read_and_bad_lines_left_out(tmp_path: Path) -> None:
    seeds, findings = read_seeds(
        write(tmp_path / "a_seed_locations.csv", "S,2,1.5,-3\nS,3,0,0\nT,1\nT,x,1,2\nT,1,nan,2\n")
    )
    assert seeds == {"S": ((2, 1.5, -3.0), (3, 0.0, 0.0))}
    assert [f.where for f in findings] == ["3", "4", "5"]
    contrast, findings = read_clinical(write(tmp_path / "a_clinical.csv", "S,1\nT, 0\nU,yes\n\n"))
    assert (contrast, [f.where for f in findings]) == ({"S": True, "T": False}, ["3"])


# ---------------------------------------------------------------- pictures


def test_values_written_without_sign_are_negative_again_and_said(tmp_path: Path) -> None:
    stored = np.array([[63536, 0, 1], [32767, 32768, 65535]], dtype=np.uint16)
    path = write_png(tmp_path / "1.png", stored)
    values, findings = read_pngs([path], (3, 2), [(1.0, 0.0)])
    assert values[:, :, 0].T.tolist() == [[-2000, 0, 1], [32767, -32768, -1]]
    assert values.dtype == np.int16
    assert [f.code for f in findings] == ["scan-values-signed"]
    assert "3 values" in findings[0].message


def test_each_slice_is_rescaled_by_its_own_numbers(tmp_path: Path) -> None:
    files = [write_png(tmp_path / f"{n}.png", np.full((2, 2), n, dtype=np.uint16)) for n in (1, 2)]
    values, findings = read_pngs(files, (2, 2), [(1.0, -1024.0), (1.0, -1000.0)])
    assert (values[0, 0].tolist(), values.dtype, findings) == ([-1023, -998], np.int16, [])
    values, _ = read_pngs(files, (2, 2), [(0.5, 1.0), (2.0, 0.0)])
    assert (values[0, 0].tolist(), values.dtype) == ([1.5, 4.0], np.float32)
    values, _ = read_pngs(files, (2, 2), [(1.0, 40000.0), (1.0, 0.0)])  # does not fit 16 bits
    assert (values[0, 0].tolist(), values.dtype) == ([40001.0, 2.0], np.float32)


def test_a_slice_without_picture_gets_the_lowest_value(tmp_path: Path) -> None:
    path = write_png(tmp_path / "1.png", np.array([[7, 9]], dtype=np.uint16))
    values, _ = read_pngs([None, path], (2, 1), [(1.0, 5.0), (1.0, 0.0)])
    assert values[:, 0, :].T.tolist() == [[7, 7], [7, 9]]
    with pytest.raises(ReadError, match="no slice has a picture"):
        read_pngs([None], (2, 1), [(1.0, 0.0)])


def test_pictures_of_another_size_in_colour_or_damaged_are_refused(tmp_path: Path) -> None:
    path = write_png(tmp_path / "1.png", np.zeros((2, 3), dtype=np.uint16))
    with pytest.raises(ReadError, match="3 x 2 pixels, expected 4 x 4"):
        read_pngs([path], (4, 4), [(1.0, 0.0)])
    colour = write_png(tmp_path / "2.png", np.zeros((2, 3, 3), dtype=np.uint8))
    with pytest.raises(ReadError, match="in colour"):
        read_pngs([colour], (3, 2), [(1.0, 0.0)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ReadError, match=r"1\.png"):
        read_pngs([path], (3, 2), [(1.0, 0.0)])
    with pytest.raises(ReadError, match=r"3\.png"):
        read_pngs([tmp_path / "3.png"], (3, 2), [(1.0, 0.0)])
