"""Segmentations of 3D Slicer: names, colours, layers; what overlaps; the layout of before 2020."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.core.segments import Segment, Segments
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats import nrrd
from medotter_viewer.formats.seg_nrrd import matches, read_grid, read_labels, read_segments, read_volume

SPACE = {
    "space": "left-posterior-superior",
    "space directions": "(0.5,0,0) (0,2,0) (0,0,3)",
    "space origin": "(10,20,30)",
    "kinds": "domain domain domain",
}
FLAT = np.zeros((4, 3, 2), np.uint8)
FLAT[0], FLAT[1, 0] = 1, 7


def segment(index: int, name: str, **fields: Any) -> dict[str, Any]:
    told = {"ID": f"Segment_{index + 1}", "Name": name, "Color": "1 0.5 0", "Layer": "0", **fields}
    return {f"Segment{index}_{key}": value for key, value in told.items() if value is not None}


def write(folder: Path, array: NDArray[np.uint8], *segments: dict[str, Any], list_axis: bool = False) -> Path:
    space = dict(SPACE)
    if list_axis:
        space["space directions"], space["kinds"] = "none " + space["space directions"], "list domain domain domain"
    lines = [
        *("NRRD0004", "type: unsigned char", f"dimension: {array.ndim}"),
        f"sizes: {' '.join(map(str, array.shape))}",
        "encoding: raw",
        *(f"{key}: {value}" for key, value in space.items()),
        *(f"{key}:={value}" for one in segments for key, value in one.items()),
        "Segmentation_ContainedRepresentationNames:=Binary labelmap|",
    ]
    path = folder / "a.seg.nrrd"
    path.write_bytes(("\n".join(lines) + "\n\n").encode() + array.tobytes(order="F"))
    return path


def voxels(segments: Segments) -> dict[str, list[list[int]]]:
    """Name to the voxels of each segment."""
    found: dict[str, list[list[int]]] = {name: [] for name in segments.names.values()}
    for code, names in segments.combinations().items():
        for name in names:
            found[name] += np.argwhere(segments.codes == code).tolist()
    return {name: sorted(places) for name, places in found.items()}


def test_names_values_and_colours_of_one_layer(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        FLAT,
        segment(0, "Tumör", LabelValue="7", Color="0.2 0 1"),
        segment(1, "body", LabelValue="1"),
        segment(2, "nowhere", LabelValue="9", Color=None),
    )
    segments, findings = read_segments(path)
    assert segments.segments == (
        Segment(7, "Tumör", (51, 0, 255)),
        Segment(1, "body", (255, 128, 0)),
        Segment(9, "nowhere", None),
    )
    assert voxels(segments) == {
        "Tumör": np.argwhere(FLAT == 7).tolist(),
        "body": np.argwhere(FLAT == 1).tolist(),
        "nowhere": [],
    }
    assert findings == []
    assert segments.grid.affine.tolist() == [[-0.5, 0, 0, -10], [0, -2, 0, -20], [0, 0, 3, 30], [0, 0, 0, 1]]
    labels, findings = read_labels(path)
    assert labels.data.tolist() == FLAT.tolist()
    assert findings == []
    assert read_volume(path)[0].data.tolist() == FLAT.tolist()
    assert read_grid(path)[0].shape == (4, 3, 2)


def test_segments_in_two_layers_may_overlap(tmp_path: Path) -> None:
    layers = np.zeros((2, 4, 3, 2), np.uint8)
    layers[0, :3] = 1
    layers[0, 3] = 2
    layers[1, 1:3, 0] = 1
    path = write(
        tmp_path,
        layers,
        segment(0, "body", LabelValue="1"),
        segment(1, "air", LabelValue="2"),
        segment(2, "gtv", LabelValue="1", Layer="1"),
        list_axis=True,
    )
    segments, findings = read_segments(path)
    assert findings == []
    assert [one.number for one in segments.segments] == [1, 2, 3]  # values stand twice
    assert voxels(segments) == {
        "body": np.argwhere(layers[0] == 1).tolist(),
        "air": np.argwhere(layers[0] == 2).tolist(),
        "gtv": np.argwhere(layers[1] == 1).tolist(),
    }
    assert frozenset({"body", "gtv"}) in segments.combinations().values()
    with pytest.raises(LabelError, match=r"2 layers, which may overlap \(body, air, gtv\)"):
        read_labels(path)
    with pytest.raises(ReadError, match="4-dimensional"):
        read_volume(path)


def test_one_binary_volume_for_each_segment_is_the_layout_of_before_2020(tmp_path: Path) -> None:
    layers = np.zeros((2, 4, 3, 2), np.uint8)
    layers[0, :3] = 1
    layers[1, 2:] = 1
    names = [segment(0, "a", Layer=None), segment(1, "b", Layer=None)]
    segments, _ = read_segments(write(tmp_path, layers, *names, list_axis=True))
    assert [one.number for one in segments.segments] == [1, 2]
    assert voxels(segments) == {"a": np.argwhere(layers[0]).tolist(), "b": np.argwhere(layers[1]).tolist()}


def test_one_layer_on_a_list_axis_is_one_label_map(tmp_path: Path) -> None:
    path = write(tmp_path, FLAT[None], segment(0, "body", LabelValue="1"), list_axis=True)
    assert read_labels(path)[0].data.tolist() == FLAT.tolist()
    assert voxels(read_segments(path)[0]) == {"body": np.argwhere(FLAT == 1).tolist()}


def test_a_value_that_no_segment_has_is_background_and_said(tmp_path: Path) -> None:
    segments, (note,) = read_segments(write(tmp_path, FLAT, segment(0, "body", LabelValue="1")))
    assert (note.severity, note.code) == ("warning", "unlisted-segment-value")
    assert "values 7 belong" in note.message
    assert np.argwhere(segments.codes).tolist() == np.argwhere(FLAT == 1).tolist()
    assert list(segments.members) == [1]


def test_two_segments_of_one_value_share_their_voxels(tmp_path: Path) -> None:
    both = [segment(0, "a", LabelValue="1"), segment(1, "b", LabelValue="1")]
    found = voxels(read_segments(write(tmp_path, np.minimum(FLAT, 1), *both))[0])
    assert found["a"] == found["b"] == np.argwhere(FLAT).tolist()


def test_tenth_segments_come_after_the_second(tmp_path: Path) -> None:
    listed = [segment(index, f"s{index}", LabelValue=str(index + 1)) for index in (10, 2, 0)]
    segments, _ = read_segments(write(tmp_path, np.minimum(FLAT, 1), *listed))
    assert [one.name for one in segments.segments] == ["s0", "s2", "s10"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"LabelValue": "x"}, "Segment0_LabelValue: got 'x'"),
        ({"LabelValue": "1.5"}, "Segment0_LabelValue"),
        ({"LabelValue": "1", "Layer": "3"}, "layer 3 and value 1"),
        ({"LabelValue": "1", "Layer": "-1"}, "layer -1"),
        ({"LabelValue": "0"}, "value 0"),
    ],
)
def test_a_segment_that_cannot_be_found_is_damage(tmp_path: Path, fields: dict[str, str], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_segments(write(tmp_path, FLAT, segment(0, "a", **fields)))


def test_without_segments_it_is_a_plain_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no segments are listed"):
        read_segments(write(tmp_path, FLAT))


@pytest.mark.parametrize("colour", ["", "1 2", "red green blue", "nan 0 0"])
def test_a_colour_that_cannot_be_read_is_none(tmp_path: Path, colour: str) -> None:
    segments, _ = read_segments(write(tmp_path, FLAT, segment(0, "a", LabelValue="1", Color=colour)))
    assert segments.segments[0].color is None


def test_it_is_told_from_a_plain_nrrd_by_its_fields(tmp_path: Path) -> None:
    start = write(tmp_path, FLAT, segment(0, "a", LabelValue="1")).read_bytes()[:4096]
    assert matches(start)
    assert nrrd.matches(start)
    assert not matches(b"NRRD0004\ntype: short\n")
