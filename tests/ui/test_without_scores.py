"""Cases without ground truth, and cases of a single slice: what is said of them, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
from PIL import Image
from review_windows import settle, wait_for

from medotter_viewer import open_source
from medotter_viewer.errors import ReadError

AFFINE = np.diag([-1.0, -1.0, 2.0, 1.0])


@pytest.fixture
def opened(qapp: Any) -> Iterator[Callable[..., Any]]:
    """Open a window on files."""
    from medotter_viewer.ui.window import open_window

    windows = []

    def open_(**files: Path) -> Any:
        window = open_window(open_source(**files))
        windows.append(window)
        wait_for(lambda: window.session.opened is not None, "first case open")
        settle(0.1)
        return window

    yield open_
    for window in windows:
        window.close()
        window.viewer.close()
    settle(0.1)


def _volume(path: Path, n_slices: int = 5) -> Path:
    data = np.zeros((8, 9, n_slices), dtype=np.uint8)
    data[2:5, 3:6] = 1
    nib.save(nib.Nifti1Image(data, AFFINE), path)  # type: ignore[attr-defined]
    return path


def _is_shown(widget: Any) -> bool:
    """Whether a widget would be seen if its window were."""
    return not widget.isHidden()


@pytest.mark.parametrize(
    ("parts", "words"),
    [(("image",), "image only: nothing to score"), (("image", "pred"), "no ground truth: nothing to score")],
)
def test_without_ground_truth_one_line_says_so_and_nothing_else(
    opened: Any, tmp_path: Path, parts: tuple[str, ...], words: str
) -> None:
    window = opened(**{part: _volume(tmp_path / f"{part}.nii.gz") for part in parts})
    scores, cases = window.docks.scores, window.docks.cases
    assert scores.message.text() == words
    assert scores.stack.currentWidget() is scores.message
    assert not _is_shown(scores.header)
    assert not _is_shown(scores.plot)
    assert window.overlay.banner_text == ""
    assert cases.footer.text() == "1 case"
    assert [cell.text for cell in cases.model.cells(0)] == ["▸", parts[-1], ""]


@pytest.mark.parametrize(("n_slices", "plotted"), [(5, True), (1, False)])
def test_slices_are_plotted_and_counted_where_there_are_several(
    opened: Any, tmp_path: Path, n_slices: int, plotted: bool
) -> None:
    window = opened(gt=_volume(tmp_path / "a.nii.gz", n_slices), image=_volume(tmp_path / "i.nii.gz", n_slices))
    assert _is_shown(window.docks.scores.plot) is plotted
    assert ("slice" in window.overlay.corner_text) is plotted
    assert "W " in window.overlay.corner_text  # grey values have a window


def test_a_picture_in_colour_has_neither_slice_nor_window_in_its_corner(opened: Any, tmp_path: Path) -> None:
    mask = np.zeros((20, 30), dtype=np.uint8)
    mask[5:10, 5:10] = 1
    Image.fromarray(mask).save(tmp_path / "gt.png")
    Image.fromarray(np.full((20, 30, 3), (200, 20, 90), dtype=np.uint8)).save(tmp_path / "image.png")
    window = opened(gt=tmp_path / "gt.png", image=tmp_path / "image.png")
    assert window.overlay.corner_text == ""
    assert not _is_shown(window.docks.scores.plot)


def test_a_picture_of_a_file_that_cannot_be_read_is_refused(opened: Any, tmp_path: Path) -> None:
    from medotter_viewer.ui.app import check_shown

    (tmp_path / "note.txt").write_text("no image")
    with pytest.raises(ReadError, match=r"case note: nothing to show: .*note\.txt"):
        check_shown(opened(image=tmp_path / "note.txt"))
    check_shown(opened(image=_volume(tmp_path / "image.nii.gz")))
