"""Images of several frames: enhanced ones by their functional groups, older ones only where they say enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ENHANCED_CT, write_slice

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom import file, series


def write_enhanced(
    path: Path,
    depths: Sequence[float],
    *,
    rescales: Sequence[tuple[float, float]] | None = None,
    indices: Sequence[Sequence[int]] | None = None,
    leave_out: str = "",
    frames: int | None = None,
    **more: Any,
) -> Path:
    """An enhanced CT whose frames hold their index; orientation and pixel measures are shared."""
    from pydicom.dataset import Dataset

    def item(**elements: Any) -> Any:
        made = Dataset()
        for keyword, value in elements.items():
            setattr(made, keyword, value)
        return made

    shared = item(
        PlaneOrientationSequence=[item(ImageOrientationPatient=[1, 0, 0, 0, 1, 0])],
        PixelMeasuresSequence=[item(PixelSpacing=[2, 3], SliceThickness=5)],
    )
    per_frame = []
    for index, depth in enumerate(depths):
        frame = item(PlanePositionSequence=[item(ImagePositionPatient=[10, 20, depth])])
        if rescales is not None:
            slope, intercept = rescales[index]
            frame.PixelValueTransformationSequence = [
                item(RescaleSlope=slope, RescaleIntercept=intercept, RescaleType="HU")
            ]
        if indices is not None:
            frame.FrameContentSequence = [item(DimensionIndexValues=list(indices[index]))]
        per_frame.append(frame)
    if leave_out:
        for one in (shared, *per_frame):
            if leave_out in one:
                delattr(one, leave_out)
    count = len(depths) if frames is None else frames
    pixels = np.repeat(np.arange(count, dtype=np.int16), 12)
    pointers = [item(DimensionIndexPointer=0x00209128), item(DimensionIndexPointer=0x00200032)]
    elements = {
        "NumberOfFrames": count, "SharedFunctionalGroupsSequence": [shared], "DimensionIndexSequence": pointers,
        "PerFrameFunctionalGroupsSequence": per_frame, "PixelData": pixels.tobytes(), **more,
    }  # fmt: skip
    first = np.zeros((3, 4), np.int16)
    return write_slice(path, first, position=None, orientation=None, spacing=None, sop_class=ENHANCED_CT, more=elements)


def test_frames_are_sorted_by_their_positions(tmp_path: Path) -> None:
    path = write_enhanced(tmp_path / "i.dcm", [4, 0, 2])
    volume, findings = file.read_volume(path)
    assert volume.data[0, 0].tolist() == [1, 2, 0]
    assert volume.grid.affine.tolist() == [[-3, 0, 0, -10], [0, -2, 0, -20], [0, 0, 2, 0], [0, 0, 0, 1]]
    assert volume.unit == "HU"
    assert [f.code for f in findings] == ["thickness-is-not-distance"]
    stack, _ = series.read_stack(path)
    assert stack.thickness_mm == [5, 5, 5]
    assert stack.numbers == [2, 3, 1]


def test_each_frame_has_its_own_rescale(tmp_path: Path) -> None:
    path = write_enhanced(tmp_path / "i.dcm", [0, 5, 10], rescales=[(1, -5), (2, -5), (3, 0)])
    assert file.read_volume(path)[0].data[0, 0].tolist() == [-5, -3, 6]


def test_a_folder_with_one_enhanced_file_is_a_series(tmp_path: Path) -> None:
    write_enhanced(tmp_path / "i.dcm", [0, 5])
    assert series.read_volume(tmp_path)[0].data.shape == (4, 3, 2)
    assert [i["file"] for i in series.slice_items(tmp_path)] == ["i.dcm", "i.dcm"]


def test_two_phases_in_one_file_are_refused_by_their_dimension(tmp_path: Path) -> None:
    indices = [[1, 1], [1, 2], [2, 1], [2, 2]]
    path = write_enhanced(tmp_path / "i.dcm", [0, 5, 0, 5], indices=indices)
    with pytest.raises(ReadError, match="2 volumes in one series, which differ in TemporalPositionIndex") as caught:
        file.read_volume(path)
    assert "frame 1" in str(caught.value)
    assert "frame 3" in str(caught.value)


@pytest.mark.parametrize(
    ("group", "word"),
    [("PlanePositionSequence", "position"), ("PlaneOrientationSequence", "orientation"),
     ("PixelMeasuresSequence", "pixel spacing")],
)  # fmt: skip
def test_frames_that_do_not_say_where_they_lie_are_refused(tmp_path: Path, group: str, word: str) -> None:
    path = write_enhanced(tmp_path / "i.dcm", [0, 5], leave_out=group)
    with pytest.raises(ReadError, match=rf"i\.dcm: frame 1: no {word}"):
        file.read_volume(path)


def test_more_frames_than_functional_groups_are_refused(tmp_path: Path) -> None:
    path = write_enhanced(tmp_path / "i.dcm", [0, 5], frames=3)
    with pytest.raises(ReadError, match="3 frames, but functional groups for 2"):
        file.read_volume(path)


def write_older(path: Path, **keys: Any) -> Path:
    more = {"NumberOfFrames": 3, "PixelData": np.repeat(np.arange(3, dtype=np.int16), 12).tobytes()}
    return write_slice(path, np.zeros((3, 4), np.int16), **{**keys, "more": {**more, **keys.get("more", {})}})


@pytest.mark.parametrize("keys", [{}, {"position": None, "more": {"SpacingBetweenSlices": 2}}])
def test_frames_of_a_film_are_no_volume(tmp_path: Path, keys: Any) -> None:
    with pytest.raises(ReadError, match="3 frames without positions"):
        file.read_volume(write_older(tmp_path / "i.dcm", **keys))


def test_older_frames_are_placed_by_their_spacing_with_a_warning(tmp_path: Path) -> None:
    path = write_older(tmp_path / "i.dcm", position=(0, 0, 7), more={"SpacingBetweenSlices": 2})
    volume, findings = file.read_volume(path)
    assert volume.data[0, 0].tolist() == [0, 1, 2]
    assert volume.grid.affine[:3, 2:].tolist() == [[0, 0], [0, 0], [2, 7]]
    assert [(f.severity, f.code) for f in findings] == [("warning", "positions-from-spacing")]


def test_fewer_frames_than_promised_are_refused(tmp_path: Path) -> None:
    more = {"SpacingBetweenSlices": 2, "NumberOfFrames": 4}
    with pytest.raises(ReadError, match="truncated: 72 of 96 bytes"):
        file.read_volume(write_older(tmp_path / "i.dcm", more=more))
