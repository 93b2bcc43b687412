"""Which files are DICOM is told by their content, and a folder's series are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import EXPLICIT, IMPLICIT, ramp, uid_of, write_series, write_slice

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom import file, files, series
from medotter_viewer.formats.dicom.choice import SeriesChoice

PIXELS = np.zeros((3, 4), dtype=np.int16)
RTSTRUCT, SEG = {"sop_class": files.RTSTRUCT_CLASS}, {"sop_class": files.SEG_CLASSES[0]}
REPORT = {"sop_class": "1.2.840.10008.5.1.4.1.1.88.11", "modality": "SR"}
NO_IMAGE = {"Rows": None, "Columns": None, "PixelData": None}


@pytest.mark.parametrize("syntax", [EXPLICIT, IMPLICIT])
@pytest.mark.parametrize("preamble", [True, False])
def test_dicom_is_known_by_its_content_with_or_without_a_preamble(tmp_path: Path, syntax: str, preamble: bool) -> None:
    path = write_slice(tmp_path / "IM0001", ramp(4)[3], syntax=syntax, preamble=preamble)
    assert file.matches(path.read_bytes()[:4096])
    assert series.read_volume(path)[0].data.max() == 3


@pytest.mark.parametrize(
    "start",
    [b"", b"DICM", b"\0" * 200, b"\x89PNG\r\n\x1a\n" + b"\0" * 200, b"\x5c\x01\0\0" + b"\0" * 400, b"PK\3\4" * 50,
     b"\x08\0\x05\0 is a text that starts unluckily".ljust(200), b"\x1f\x8b\x08\0" + b"\0" * 200],
)  # fmt: skip
def test_other_files_are_not_dicom(start: bytes) -> None:
    assert not files.is_dicom(start)


def test_a_file_that_is_not_dicom_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "image.dcm"
    path.write_text("nothing of the kind")
    with pytest.raises(ReadError, match=r"image\.dcm: not a DICOM file"):
        file.read_volume(path)
    with pytest.raises(ReadError, match="no such file"):
        file.read_volume(tmp_path / "absent.dcm")


@pytest.mark.parametrize(
    ("keys", "kind", "words"),
    [({}, "image", ""), (RTSTRUCT, "rtstruct", "contours .*image series"), (SEG, "seg", "segmentation"),
     (REPORT, "other", "Basic Text SR"), ({"modality": "RTDOSE"}, "other", "without an image")],
)  # fmt: skip
def test_every_object_is_named_and_only_images_are_read(tmp_path: Path, keys: Any, kind: str, words: str) -> None:
    more = {} if kind in ("image", "seg") or keys == {"modality": "RTDOSE"} else NO_IMAGE
    path = write_slice(tmp_path / "object.dcm", PIXELS, **keys, more=more)
    assert files.sop_kind(path) == kind
    if kind == "image":
        file.read_volume(path)
        return
    for read in (file.read_volume, file.read_labels, file.read_grid):
        with pytest.raises(ReadError, match=words) as caught:
            read(path)
        assert "SECRET" not in str(caught.value)


def test_a_folder_of_two_series_lists_them_and_says_what_to_do(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2), series="a", more={"SeriesNumber": 2, "SeriesDescription": "thorax 1.0"})
    write_series(tmp_path, ramp(3), series="b", names=["x", "y", "z"], modality="MR", more={"SeriesNumber": 1})
    found, findings = files.find_series(tmp_path)
    assert [(s.number, s.modality, s.description, len(s.files)) for s in found] == [
        (1, "MR", "", 3), (2, "CT", "thorax 1.0", 2)]  # fmt: skip
    assert [s.uid for s in found] == [uid_of("series", "b"), uid_of("series", "a")]
    assert findings == []
    with pytest.raises(ReadError) as caught:
        series.read_volume(tmp_path)
    message = str(caught.value)
    assert "2 image series, expected one" in message
    assert "series 1 MR (3 images" in message
    assert 'series 2 CT "thorax 1.0" (2 images' in message
    assert uid_of("series", "a")[-12:] in message
    assert "a folder of their own" in message
    assert "SECRET" not in message


def test_one_of_several_series_can_be_chosen(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2), series="a")
    write_series(tmp_path, ramp(3), series="b", names=["x", "y", "z"])
    assert series.read_volume(tmp_path, SeriesChoice(uid_of("series", "b")))[0].data.shape == (4, 3, 3)
    # A file is that image alone.
    assert series.read_volume(tmp_path / "x")[0].data.shape == (4, 3, 1)


def test_what_is_no_image_is_passed_over(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(2))
    write_slice(tmp_path / "rt.dcm", PIXELS, **RTSTRUCT, more=NO_IMAGE)
    write_slice(tmp_path / "report.dcm", PIXELS, **REPORT, more=NO_IMAGE)
    (tmp_path / ".hidden.dcm").write_bytes((tmp_path / "0.dcm").read_bytes())
    write_slice(tmp_path / "sub" / "other.dcm", PIXELS, position=(0, 0, 9))
    stack, findings = series.read_stack(tmp_path)
    assert len(stack) == 2
    assert findings == []


def test_a_damaged_file_of_a_folder_is_named(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(4))
    content = (tmp_path / "3.dcm").read_bytes()
    (tmp_path / "3.dcm").write_bytes(content[:400])  # before its rows and columns
    (tmp_path / "empty.dcm").write_bytes(content[:132])
    stack, findings = series.read_stack(tmp_path)
    assert len(stack) == 3
    assert [(f.code, f.file) for f in findings] == [
        ("unreadable-file", str(tmp_path / name)) for name in ("3.dcm", "empty.dcm")
    ]


def test_an_empty_folder_and_one_without_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no DICOM images"):
        series.read_volume(tmp_path)
    assert not series.matches_folder(tmp_path)
    write_slice(tmp_path / "rt.dcm", PIXELS, **RTSTRUCT, more=NO_IMAGE)
    assert not series.matches_folder(tmp_path)
    write_slice(tmp_path / "image", PIXELS)
    assert series.matches_folder(tmp_path)


def test_info_lists_slices_in_the_order_of_the_volume(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), step=(0, 0, -2), origin=(5, 6, 7), rescale=(1, -10))
    items = series.slice_items(tmp_path)
    assert items == [
        {"slice": 1, "file": "2.dcm", "world": [-5, -6, 3], "range": [-8, -8]},
        {"slice": 2, "file": "1.dcm", "world": [-5, -6, 5], "range": [-9, -9]},
        {"slice": 3, "file": "0.dcm", "world": [-5, -6, 7], "range": [-10, -10]},
    ]
    volume, _ = series.read_volume(tmp_path)
    assert series.slice_items(tmp_path, volume) == items


def test_no_message_or_finding_names_the_patient(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), thickness=4)
    write_slice(tmp_path / "scout.dcm", np.zeros((9, 9), np.int16))
    _, findings = series.read_volume(tmp_path)
    assert findings
    assert not any("SECRET" in str(f.to_dict()) for f in findings)


@pytest.mark.real_data
def test_a_real_series_is_read(shared_data: Path) -> None:
    folder = shared_data / "bundles" / "scans_dicom" / "data" / "STS_002" / "CT"
    volume, findings = series.read_volume(folder)
    stack, _ = series.read_stack(folder)
    assert volume.data.shape == (161, 143, 48)
    assert volume.data.dtype == np.int16
    assert volume.unit == "HU"
    assert findings == []
    assert stack.grid.spacing == pytest.approx((0.9765625, 0.9765625, 3.27))
    assert sorted(n for n in stack.numbers if n) == list(range(1, 49))
    zero_based, _ = series.read_stack(shared_data / "bundles" / "scans_dicom" / "data_zero_based" / "STS_002" / "CT")
    assert sorted(n for n in zero_based.numbers if n is not None) == list(range(48))
