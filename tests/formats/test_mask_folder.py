"""Folders of one mask for each nucleus: ids, order, overlap, sizes; and which folders are no such thing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.mask_folder import matches_folder, read_grid, read_labels, read_volume

BLANK = np.zeros((4, 5), np.uint8)


def mask(*places: tuple[int, int], value: int = 255) -> NDArray[np.uint8]:
    array = BLANK.copy()
    for row, column in places:
        array[row, column] = value
    return array


def write(folder: Path, pictures: Mapping[str, NDArray[Any]], name: str = "masks") -> Path:
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    for file, array in pictures.items():
        if file.endswith("png"):
            Image.fromarray(array).save(path / file)
        else:
            tifffile.imwrite(path / file, array)
    return path


def codes(findings: list[Finding]) -> list[str]:
    return [f"{f.severity} {f.code}" for f in findings]


def test_each_mask_is_one_id_in_the_natural_order_of_the_names(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {
            "10.png": mask((0, 0)),
            "2.png": mask((1, 1), (1, 2)),
            "1.tif": mask((3, 4), value=1),
            "n007.png": mask((2, 2)),
        },
    )
    labels, findings = read_labels(path)
    expected = BLANK.copy()
    expected[3, 4], expected[1, 1:3], expected[0, 0], expected[2, 2] = 1, 2, 3, 4
    assert labels.data.tolist() == [expected.tolist()]
    assert labels.data.dtype == np.uint8
    assert labels.grid.unit == "px"
    assert findings == []
    assert read_grid(path)[0].shape == (1, 4, 5)
    assert read_volume(path)[0].data.tolist() == [expected.tolist()]
    assert matches_folder(path)


def test_more_than_255_masks_keep_their_ids(tmp_path: Path) -> None:
    path = write(tmp_path, {f"{n}.png": mask(divmod(n % 20, 5)) for n in range(300)})
    labels, findings = read_labels(path)
    assert labels.data.dtype == np.uint16
    assert labels.data.max() == 300
    assert codes(findings) == ["warning overlapping-masks"]
    assert "20 pixels" in findings[0].message
    assert "280 masks are covered altogether" in findings[0].message


def test_the_later_name_has_the_pixels_that_two_masks_share(tmp_path: Path) -> None:
    path = write(
        tmp_path, {"a.png": mask((0, 0), (0, 1), (0, 2)), "b.png": mask((0, 1), (0, 2)), "c.png": mask((0, 2))}
    )
    labels, (note,) = read_labels(path)
    assert labels.data[0, 0].tolist() == [1, 2, 3, 0, 0]
    assert (note.severity, note.code, note.file) == ("warning", "overlapping-masks", str(path))
    assert note.message == "2 pixels are set in more than one mask: the later name has them"


def test_an_empty_mask_takes_an_id_and_is_named(tmp_path: Path) -> None:
    labels, (note,) = read_labels(write(tmp_path, {"1.png": mask((0, 0)), "2.png": BLANK, "3.png": mask((1, 1))}))
    assert (labels.data[0, 0, 0], labels.data[0, 1, 1]) == (1, 3)
    assert (note.severity, note.code) == ("info", "empty-mask")
    assert note.message == "1 of 3 masks have no pixel: 2.png"


@pytest.mark.parametrize("channels", [3, 4])
def test_a_picture_of_three_equal_colours_is_a_mask_whatever_its_alpha(tmp_path: Path, channels: int) -> None:
    colours = np.repeat(mask((2, 3))[..., None], channels, axis=-1)
    colours[..., 3:] = 255
    path = write(tmp_path, {"1.png": colours})
    assert np.argwhere(read_labels(path)[0].data).tolist() == [[0, 2, 3]]
    assert matches_folder(path)
    colours[2, 3, 0] = 254
    with pytest.raises(LabelError, match=r"1\.png: a picture in colours"):
        read_labels(write(tmp_path, {"1.png": colours}))
    assert not matches_folder(path)


def test_other_sizes_are_refused_with_both_names(tmp_path: Path) -> None:
    path = write(tmp_path, {"1.png": BLANK, "2.png": np.zeros((4, 6), np.uint8)})
    with pytest.raises(ReadError, match=r"2\.png: mask of 1 x 4 x 6 pixels, but 1\.png is of 1 x 4 x 5 pixels"):
        read_labels(path)
    assert not matches_folder(path)


def test_three_values_are_no_mask(tmp_path: Path) -> None:
    path = write(tmp_path, {"1.png": mask((0, 0)), "2.png": mask((0, 0)) + mask((1, 1), value=7)})
    with pytest.raises(LabelError, match=r"2\.png: 3 values, expected a mask of 0 and one other value"):
        read_labels(path)
    assert not matches_folder(path)


def test_what_systems_leave_behind_is_not_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path, {"1.png": mask((0, 0))})
    for name in (".DS_Store", "._1.png", "Thumbs.db"):
        (path / name).write_bytes(b"junk")
    assert matches_folder(path)
    assert read_labels(path)[0].data.max() == 1


def test_a_damaged_mask_is_named_by_the_reader(tmp_path: Path) -> None:
    path = write(tmp_path, {"1.png": mask((0, 0))})
    (path / "2.png").write_bytes((path / "1.png").read_bytes()[:40])
    assert matches_folder(path)
    with pytest.raises(ReadError, match=r"2\.png"):
        read_labels(path)


def test_folders_of_other_things_are_left_alone(tmp_path: Path) -> None:
    ramp = np.arange(20, dtype=np.uint8).reshape(4, 5)
    assert not matches_folder(write(tmp_path / "a", {"1.png": ramp, "2.png": ramp}))  # slices, or label maps
    assert not matches_folder(write(tmp_path / "b", {"1.png": mask((0, 0))}, name="images"))
    assert not matches_folder(write(tmp_path / "c", {}))
    other = write(tmp_path / "d", {"1.png": mask((0, 0))})
    (other / "notes.txt").write_text("x")
    assert not matches_folder(other)
    nested = write(tmp_path / "e", {"1.png": mask((0, 0))})
    (nested / "more").mkdir()
    assert not matches_folder(nested)
    assert not matches_folder(tmp_path / "nowhere" / "masks")


def test_a_folder_without_masks_or_that_is_not_there_is_a_read_error(tmp_path: Path) -> None:
    for read in (read_labels, read_volume, read_grid):
        with pytest.raises(ReadError, match="no masks in this folder"):
            read(write(tmp_path, {}))
        with pytest.raises(ReadError, match="No such file"):
            read(tmp_path / "nowhere")
