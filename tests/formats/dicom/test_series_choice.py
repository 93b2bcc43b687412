"""Several series in a folder are listed and one can be chosen; never is the first one taken silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, uid_of, write_series, write_slice
from rtstruct_files import Drawn, Structure, referring_to, square, write_rtstruct
from seg_files import write_seg

from medotter_viewer.errors import ReadError
from medotter_viewer.formats import registry
from medotter_viewer.formats.dicom import series
from medotter_viewer.formats.dicom.choice import SeriesChoice, listed, referenced_series, word_for
from medotter_viewer.formats.dicom.files import find_series

UIDS = {"thorax": "1.2.826.1.77.90210", "scout": "1.2.826.1.77.12", "lung": "1.2.826.1.77.4711"}


def write(folder: Path, name: str, count: int, **more: Any) -> list[Path]:
    names = [f"{name}{i}" for i in range(count)]
    return write_series(folder, ramp(count), names=names, thickness=1.0, more={"SeriesInstanceUID": UIDS[name], **more})


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Series 2 "Thorax  1.0", 3 slices; series 1 "Scout", 1 slice; series 12 "Lung", 2 slices."""
    write(tmp_path, "thorax", 3, SeriesNumber=2, SeriesDescription="Thorax 1.0")
    write(tmp_path, "scout", 1, SeriesNumber=1, SeriesDescription="Scout")
    write(tmp_path, "lung", 2, SeriesNumber=12, SeriesDescription="Lung")
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [UIDS["thorax"], "90210", "0210", "77.90210", "1.77.90210", "2", "Thorax 1.0", " Thorax   1.0 "],
)
def test_a_series_is_named_by_uid_ending_number_or_description(three: Path, text: str) -> None:
    for read in (series.read_grid, registry.read_grid):
        assert read(three, SeriesChoice(text))[0].shape == (4, 3, 3)
    assert series.read_volume(three, SeriesChoice(text))[0].data.shape == (4, 3, 3)
    assert len(series.slice_items(three, choice=SeriesChoice(text))) == 3


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("12", "2"),  # the number of one, the last component of another
        ("210", "none"),  # three characters that are no whole component
        ("Thorax", "none"),
        ("thorax 1.0", "none"),
        ("3", "none"),
        ("", "none"),
        ("1.2.826.1.77.9021", "none"),
    ],
)
def test_what_fits_none_or_several_is_refused_with_what_to_type(three: Path, text: str, many: str) -> None:
    with pytest.raises(ReadError) as caught:
        series.read_volume(three, SeriesChoice(text))
    message = str(caught.value)
    assert f"--series {text!r} fits {many} of 3 image series, expected one" in message
    for word in ("(--series 1)", "(--series 2)", f"(--series {UIDS['lung'][-12:]})"):  # 12 ends the UID of series 1
        assert word in message
    assert "SECRET" not in message


def test_without_a_choice_all_are_listed(three: Path) -> None:
    for read in (series.read_stack, series.read_volume, series.read_labels, registry.read_volume):
        with pytest.raises(
            ReadError, match=r"3 image series, expected one; choose one by --series.*folder of their own"
        ):
            read(three)


def test_what_to_type_fits_that_series_alone(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(1), series="a", names=["a"], more={"SeriesNumber": 5})
    write_series(tmp_path, ramp(1), series="b", names=["b"], more={"SeriesNumber": 5})
    found, _ = find_series(tmp_path)
    words = [word_for(one, found) for one in found]
    assert words == [one.uid[-12:] for one in found]
    for word in words:
        assert SeriesChoice(word).pick(found, tmp_path)[0] is found[words.index(word)]


def test_series_without_uid_and_number_are_named_by_description_or_not_at_all(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(1), names=["a"], more={"SeriesInstanceUID": None, "SeriesDescription": "early"})
    write_series(tmp_path, ramp(1), names=["b"], series="b", more={"SeriesDescription": "early"})
    found, _ = find_series(tmp_path)
    assert sorted(word_for(one, found) or "" for one in found) == ["", uid_of("series", "b")[-12:]]
    assert "nothing tells it from the others" in listed(found)


def test_a_name_that_does_not_fit_the_only_series_is_refused(tmp_path: Path) -> None:
    (file,) = write(tmp_path / "ct", "scout", 1, SeriesNumber=1)
    assert series.read_grid(file, SeriesChoice("1"))[0].shape == (4, 3, 1)
    assert registry.read_grid(file, SeriesChoice("1"))[0].shape == (4, 3, 1)
    for path in (tmp_path / "ct", file):
        with pytest.raises(ReadError, match="--series '7'"):
            series.read_grid(path, SeriesChoice("7"))


def test_a_series_of_what_is_no_dicom_image_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2), dtype=np.uint8))
    rt = write_rtstruct(tmp_path / "rt.dcm", [])
    for path in (tmp_path / "a.npy", rt):
        with pytest.raises(ReadError, match="--series is for images of DICOM; leave it out"):
            registry.read_volume(path, SeriesChoice("1"))


def test_what_an_rtstruct_or_seg_refers_to_is_taken_and_said(
    three: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    drawn = [Structure(1, "A", [Drawn(square(0, 0, 2, 1))])]
    rt = write_rtstruct(elsewhere / "rt.dcm", drawn, more=referring_to(UIDS["lung"], "1.2.3"))
    slices = [three / f"lung{i}" for i in range(2)]
    seg = write_seg(elsewhere / "seg" / "s.dcm", slices, np.ones((2, 3, 4, 1), dtype=np.uint8), ["A"])
    assert referenced_series(rt) == {UIDS["lung"], "1.2.3"}
    assert referenced_series(seg) == referenced_series(seg.parent) == {UIDS["lung"]}
    for file in (rt, seg, seg.parent):
        grid, findings = series.read_grid(three, SeriesChoice(None, (file,)))
        assert grid.shape == (4, 3, 2)
        assert [(f.severity, f.code) for f in findings] == [("info", "series-chosen")]
        assert 'series 12 CT "Lung"' in findings[0].message
    # What is given by name counts more.
    grid, findings = series.read_grid(three, SeriesChoice("2", (rt,)))
    assert (grid.shape, findings) == ((4, 3, 3), [])


def test_references_to_none_or_several_series_choose_none(
    three: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    both = write_rtstruct(elsewhere / "both.dcm", [], more=referring_to(UIDS["lung"], UIDS["thorax"]))
    other = write_rtstruct(elsewhere / "other.dcm", [], more=referring_to("1.2.3"))
    damaged = elsewhere / "damaged.dcm"
    damaged.write_bytes(both.read_bytes()[:200])
    with pytest.raises(ReadError, match="the segments refer to 2 of them"):
        series.read_grid(three, SeriesChoice(None, (both,)))
    for file in (other, damaged, elsewhere / "none.dcm"):
        with pytest.raises(ReadError, match="3 image series, expected one; choose"):
            series.read_grid(three, SeriesChoice(None, (file,)))


def test_one_image_series_with_structures_and_reports_is_one_series(tmp_path: Path) -> None:
    slices = write_series(tmp_path, ramp(2), thickness=1.0)
    write_rtstruct(tmp_path / "rt.dcm", [Structure(1, "A", [Drawn(square(0, 0, 2, 1))])])
    write_seg(tmp_path / "seg.dcm", slices, np.ones((2, 3, 4, 1), dtype=np.uint8), ["A"])
    nothing: dict[str, Any] = dict.fromkeys(("Rows", "Columns", "PixelData"))
    for name, modality, sop_class in (
        ("sr", "SR", "1.2.840.10008.5.1.4.1.1.88.11"),
        ("plan", "RTPLAN", "1.2.840.10008.5.1.4.1.1.481.5"),
    ):
        write_slice(tmp_path / name, ramp(1)[0], series=name, modality=modality, sop_class=sop_class, more=nothing)
    volume, findings = series.read_volume(tmp_path)
    assert (volume.data.shape, findings) == ((4, 3, 2), [])
