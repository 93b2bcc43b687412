"""DICOM SEG files, written by highdicom."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, write_series
from seg_files import write_seg

from medotter_viewer.core.segments import Segments
from medotter_viewer.errors import MedotterViewerError, ReadError
from medotter_viewer.formats.dicom.cielab import to_rgb
from medotter_viewer.formats.dicom.seg import read_segments
from medotter_viewer.formats.dicom.series import read_stack


@pytest.fixture
def series(tmp_path: Path) -> list[Path]:
    """Five slices of 7 columns and 5 rows, 3 mm apart, whose files run against their positions."""
    return write_series(
        tmp_path / "ct", ramp(5, (5, 7)), step=(0, 0, -3), origin=(-10, -20, 30), spacing=(2.0, 0.5), thickness=3.0
    )


@pytest.fixture
def masks() -> np.ndarray:
    """Two segments that overlap, (slice, row, column, segment)."""
    masks = np.zeros((5, 5, 7, 2), dtype=np.uint8)
    masks[1:4, 1:4, 2:6, 0] = 1
    masks[2:4, 0:3, 4:7, 1] = 1
    return masks


def mask_of(segments: Segments, number: int) -> np.ndarray:
    return np.isin(segments.codes, [code for code, of in segments.members.items() if number in of])


def edited(path: Path, **elements: Any) -> Path:
    """The same file with elements set, or removed where they are None."""
    import pydicom

    file = pydicom.dcmread(path)
    for keyword, value in elements.items():
        if value is None:
            delattr(file, keyword)
        else:
            setattr(file, keyword, value)
    file.save_as(path)
    return path


@pytest.mark.parametrize("omit_empty", [False, True])
def test_segments_that_overlap_are_read_on_the_slices_of_their_series(
    tmp_path: Path, series: list[Path], masks: np.ndarray, omit_empty: bool
) -> None:
    path = write_seg(tmp_path / "seg.dcm", series, masks, ["liver", "lesion"], omit_empty=omit_empty)
    segments, findings = read_segments(path)
    assert findings == []
    assert [(s.number, s.name) for s in segments.segments] == [(1, "liver"), (2, "lesion")]
    stack, _ = read_stack(series[0].parent)
    first = 1 if omit_empty else 0  # in the order of positions the files 4 and 0 hold nothing
    assert segments.grid.shape == (7, 5, 3 if omit_empty else 5)
    np.testing.assert_allclose(segments.grid.affine[:3, :3], stack.grid.affine[:3, :3], atol=1e-9)
    np.testing.assert_allclose(segments.grid.affine[:3, 3], stack.grid.voxel_to_world((0, 0, first)), atol=1e-9)
    wanted = masks[::-1].transpose(2, 1, 0, 3)
    for number in (1, 2):
        expected = wanted[..., number - 1] > 0
        assert (mask_of(segments, number) == (expected[:, :, 1:4] if omit_empty else expected)).all()


def test_frames_left_out_in_the_middle_are_empty_slices(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    masks[2] = 0
    segments, findings = read_segments(write_seg(tmp_path / "seg.dcm", series, masks, ["a", "b"]))
    assert findings == []
    assert segments.grid.spacing == pytest.approx((0.5, 2, 3))
    assert (segments.codes > 0).any(axis=(0, 1)).tolist() == [True, False, True]


def test_a_label_map_is_read_by_its_ids(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    labels = np.where(masks[..., 1], 2, masks[..., 0]).astype(np.uint8)
    path = write_seg(tmp_path / "seg.dcm", series, labels, ["liver", "lesion"], kind="LABELMAP", omit_empty=False)
    segments, findings = read_segments(path)
    assert findings == []
    assert [s.name for s in segments.segments] == ["liver", "lesion"]
    read = np.where(mask_of(segments, 2), 2, mask_of(segments, 1))
    assert (read == labels[::-1].transpose(2, 1, 0)).all()


def test_rows_and_columns_that_fill_no_whole_byte_are_read(tmp_path: Path) -> None:
    slices = write_series(tmp_path / "ct", ramp(3, (3, 3)), thickness=1.0)
    masks = np.random.default_rng(0).integers(0, 2, (3, 3, 3, 1)).astype(np.uint8)
    segments, _ = read_segments(write_seg(tmp_path / "seg.dcm", slices, masks, ["x"], omit_empty=False))
    assert (segments.codes == masks[..., 0].transpose(2, 1, 0)).all()


def test_colours_come_back_as_they_were_chosen(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    colors = [(255, 165, 0), (12, 200, 90)]
    segments, _ = read_segments(write_seg(tmp_path / "seg.dcm", series, masks, ["a", "b"], colors=colors))
    for segment, color in zip(segments.segments, colors, strict=True):
        assert segment.color is not None
        assert np.abs(np.subtract(segment.color, color)).max() <= 1


def test_no_stored_colour_leaves_the_range_of_a_byte() -> None:
    for stored in itertools.product((0, 30000, 65535), repeat=3):
        assert all(0 <= value <= 255 for value in to_rgb(stored))


def test_fractions_are_refused_with_what_to_do(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    path = write_seg(tmp_path / "seg.dcm", series, masks[..., :1] * 0.5, ["tumour"], kind="FRACTIONAL")
    with pytest.raises(ReadError, match=r"a fractional segmentation: frame 1 holds 12[78] of 255.*save it as BINARY"):
        read_segments(path)


def test_fractions_that_are_all_or_nothing_are_a_mask(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    path = write_seg(tmp_path / "seg.dcm", series, masks[..., :1] * 1.0, ["tumour"], kind="FRACTIONAL")
    segments, findings = read_segments(path)
    assert [f.code for f in findings] == ["fractional-segments"]
    assert int(mask_of(segments, 1).sum()) == int(masks[..., 0].sum())


@pytest.mark.parametrize(
    ("elements", "word"),
    [
        ({"SegmentationType": None}, "SegmentationType is missing"),
        ({"NumberOfFrames": 4}, "frames, but 5 are described"),
        ({"PixelData": b"\0" * 2}, "truncated: 2 of"),
        ({"PixelData": None}, "no pixel data"),
        ({"PerFrameFunctionalGroupsSequence": None}, "nothing says where its frames lie"),
        ({"SharedFunctionalGroupsSequence": None}, "does not say where it lies"),
        ({"Rows": 0}, "0 rows"),
        ({"SOPClassUID": "1.2.840.10008.5.1.4.1.1.2"}, "not a DICOM segmentation"),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    tmp_path: Path, series: list[Path], masks: np.ndarray, elements: dict[str, Any], word: str
) -> None:
    path = edited(write_seg(tmp_path / "seg.dcm", series, masks, ["a", "b"]), **elements)
    with pytest.raises(ReadError, match=word) as caught:
        read_segments(path)
    assert str(path) in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_frames_at_uneven_distances_say_so(tmp_path: Path) -> None:
    slices = write_series(tmp_path / "ct", ramp(3, (4, 4)), thickness=1.0)
    path = write_seg(tmp_path / "seg.dcm", slices, np.ones((3, 4, 4, 1), np.uint8), ["a"])
    import pydicom

    file = pydicom.dcmread(path)
    for frame, z in zip(file.PerFrameFunctionalGroupsSequence, (0, 1, 2.4), strict=True):
        frame.PlanePositionSequence[0].ImagePositionPatient = [0, 0, z]
    for measures in file.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence:
        measures.SliceThickness = 1
    file.save_as(path)
    segments, (finding,) = read_segments(path)
    assert finding.code == "uneven-slices"
    assert segments.grid.is_uneven
    assert segments.codes.shape == (4, 4, 3)
    assert segments.codes.all()


def test_frames_far_apart_may_not_ask_for_more_memory_than_the_file_is_worth(tmp_path: Path) -> None:
    slices = write_series(tmp_path / "ct", ramp(2, (4, 4)), thickness=1.0)
    path = write_seg(tmp_path / "seg.dcm", slices, np.ones((2, 4, 4, 1), np.uint8), ["a"])
    import pydicom

    file = pydicom.dcmread(path)
    file.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0].SpacingBetweenSlices = 0.02
    file.PerFrameFunctionalGroupsSequence[1].PlanePositionSequence[0].ImagePositionPatient = [0, 0, 1e6]
    file.save_as(path)
    with pytest.raises(ReadError, match="more than can be held"):
        read_segments(path)


def test_a_damaged_file_gives_only_our_errors(tmp_path: Path, series: list[Path], masks: np.ndarray) -> None:
    path = write_seg(tmp_path / "seg.dcm", series, masks, ["a", "b"])
    content = path.read_bytes()
    rng = np.random.default_rng(3)
    refused = 0
    for n in range(150):
        damaged = bytearray(content)
        for at in rng.integers(300, len(content), 3):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(bytes(damaged[: rng.integers(400, len(content))] if n % 3 == 0 else damaged))
        try:
            read_segments(path)
        except MedotterViewerError:
            refused += 1
    assert refused > 50
