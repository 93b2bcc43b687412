"""A number of a header is what it says, or an error that shows its text; nothing is repaired or guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dicom_files import BIG_ENDIAN, IMPLICIT, write_slice

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom import series
from medotter_viewer.formats.dicom.files import read_header

PIXELS = np.zeros((3, 4), dtype=np.int16)


@pytest.mark.parametrize(
    "text",
    ["0,976562\\0,976562", "0.976562", "0.976562,0.976562", "", "  ", "0.976562\\", "0.9\\0.9\\0.9", "nan\\nan",
     "1e400\\1e400", "0x1\\0x1", "1_0\\1_0", "0.9 mm\\0.9 mm", "\u0661\\\u0661".encode("utf-8").decode("latin-1")],
)  # fmt: skip
def test_a_malformed_pixel_spacing_is_refused_with_file_tag_and_text(tmp_path: Path, text: str) -> None:
    path = write_slice(tmp_path / "image.dcm", PIXELS, texts={"PixelSpacing": text})
    with pytest.raises(ReadError) as caught:
        series.read_grid(path)
    message = str(caught.value)
    assert "image.dcm" in message
    assert "(0028,0030) PixelSpacing" in message
    assert text.strip(" ") in message


@pytest.mark.parametrize("text", ["0\\0", "-1\\1", "1\\0"])
def test_a_pixel_spacing_that_is_no_length_is_refused(tmp_path: Path, text: str) -> None:
    path = write_slice(tmp_path / "image.dcm", PIXELS, texts={"PixelSpacing": text})
    with pytest.raises(ReadError, match=r"PixelSpacing is .*expected two positive lengths"):
        series.read_grid(path)


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [("9.76562e-1\\9.7E-1", 0.976562, 0.97), ("+.5\\1.", 0.5, 1.0), (" 0.9 \\ 0.8 ", 0.9, 0.8), ("2\\3\0", 2, 3)],
)
def test_the_numbers_of_dicom_are_read_rows_before_columns(
    tmp_path: Path, text: str, rows: float, columns: float
) -> None:
    path = write_slice(tmp_path / "image.dcm", PIXELS, texts={"PixelSpacing": text}, thickness=5)
    grid, findings = series.read_grid(path)
    assert grid.spacing == pytest.approx((columns, rows, 5.0))  # array axes: columns, rows, slices
    assert findings == []


@pytest.mark.parametrize(
    ("keyword", "text"),
    [("ImagePositionPatient", "0\\0"), ("ImagePositionPatient", "0\\0\\1,5"), ("ImageOrientationPatient", "1\\0\\0"),
     ("ImageOrientationPatient", "1\\0\\0\\1\\0\\0"), ("ImageOrientationPatient", "0\\0\\0\\0\\1\\0"),
     ("RescaleSlope", "1,5"), ("RescaleIntercept", "1\\2")],
)  # fmt: skip
def test_other_numbers_that_geometry_or_values_need_are_refused_too(tmp_path: Path, keyword: str, text: str) -> None:
    path = write_slice(tmp_path / "image.dcm", PIXELS, texts={keyword: text})
    with pytest.raises(ReadError, match=keyword):
        series.read_grid(path)


@pytest.mark.parametrize(
    ("keyword", "text"), [("InstanceNumber", "1.0"), ("SliceThickness", "2,5"), ("SeriesNumber", "x")]
)
def test_numbers_that_nothing_depends_on_may_be_malformed(tmp_path: Path, keyword: str, text: str) -> None:
    paths = [
        write_slice(tmp_path / f"{i}.dcm", PIXELS, position=(0, 0, i), texts={keyword: text}) for i in range(2)
    ]  # fmt: skip
    stack, _ = series.read_stack(tmp_path)
    assert len(stack) == len(paths)
    assert stack.numbers == ([None, None] if keyword == "InstanceNumber" else [1, 1])
    assert stack.thickness_mm == [None, None]


def test_a_position_without_its_orientation_or_spacing_is_refused(tmp_path: Path) -> None:
    bare = write_slice(tmp_path / "a.dcm", PIXELS, orientation=None)
    with pytest.raises(ReadError, match=r"no \(0020,0037\)"):
        series.read_grid(bare)
    bare = write_slice(tmp_path / "b.dcm", PIXELS, spacing=None)
    with pytest.raises(ReadError, match=r"no \(0028,0030\)"):
        series.read_grid(bare)


@pytest.mark.parametrize("syntax", [IMPLICIT, BIG_ENDIAN])
def test_binary_numbers_are_read_in_every_byte_order(tmp_path: Path, syntax: str) -> None:
    header = read_header(write_slice(tmp_path / "image.dcm", PIXELS, syntax=syntax))
    assert (header.whole("Rows"), header.whole("Columns"), header.whole("InstanceNumber")) == (3, 4, 1)
    assert header.numbers("ImageOrientationPatient", 6) == (1, 0, 0, 0, 1, 0)
    assert header.number("SliceThickness") is None
    assert header.text("Modality") == "CT"


def test_texts_for_people_are_read_in_their_character_set(tmp_path: Path) -> None:
    more = {"SpecificCharacterSet": "ISO_IR 192", "SeriesDescription": "Schädel nativ"}
    header = read_header(write_slice(tmp_path / "image.dcm", PIXELS, more=more))
    assert header.words("SeriesDescription") == "Schädel nativ"
