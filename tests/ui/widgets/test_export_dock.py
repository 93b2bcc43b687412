"""The export dock: what it writes, what it leaves out, what it refuses, and what stays as it was."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import Qt
from scan_files import TARGET, box, write_dicom_scan, write_png_scan

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.widgets.export import ExportDock


class Later:
    """Work that is done when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []

    def __call__(self, work: Callable[[], Any], on_done: Callable[[Any], None]) -> None:
        self.waiting.append((work, on_done))

    def go(self) -> None:
        work, on_done = self.waiting.pop(0)
        on_done(work())


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Two scans and a submission of both."""
    for name in ("TC1", "TC2"):
        write_png_scan(tmp_path / "scans", name, {TARGET: {1: [box(0, 0, 10)], 2: [box(0, 0, 10)]}}, n_slices=2)
    (tmp_path / "model").mkdir()
    lines = [f"{scan},{n},0,0,10,0,10,10,0,10\n" for scan in ("TC1", "TC2") for n in (1, 2)]
    (tmp_path / "model/submission.csv").write_text("".join(lines))
    return tmp_path


@pytest.fixture
def review(scans: Path, at_once: Any) -> Iterator[ReviewSession]:
    source = open_source(scans / "scans", predictions=scans / "model")
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    session.go_to("TC1")
    yield session
    session.close()


@pytest.fixture
def dock(review: ReviewSession, qtbot: Any) -> ExportDock:
    dock = ExportDock(review)
    qtbot.addWidget(dock)
    dock.show()
    return dock


def export(dock: ExportDock, file: Path, qtbot: Any) -> str:
    dock.file.line_edit.value = str(file)
    qtbot.mouseClick(dock.button, Qt.MouseButton.LeftButton)
    return dock.result.text()


def lines_of(file: Path) -> list[str]:
    return [line.split(",")[0] + " " + line.split(",")[1] for line in file.read_text().splitlines()]


def sources_of(file: Path) -> list[str]:
    with file.with_suffix(".scores.csv").open(newline="") as table:
        return [row["source"] for row in csv.DictReader(table) if row["kind"] == "polygon"]


def square(left: float) -> Any:
    return np.array(box(left, 0, 10), dtype=float)


def test_this_case_is_written_as_it_is_edited(dock: ExportDock, review: ReviewSession, scans: Path, qtbot: Any) -> None:
    review.edits.set_rings(1, [square(0), square(20)])
    assert dock.header.text() == "edited here and in no file: TC1"
    said = export(dock, scans / "out.csv", qtbot)
    assert said.split("\n")[:2] == [
        f"wrote out.csv, out.scores.csv in {scans}",
        f"{TARGET}: 3 polygons of 1 case",
    ]
    assert lines_of(scans / "out.csv") == ["TC1 1", "TC1 1", "TC1 2"]
    assert sources_of(scans / "out.csv") == ["imported", "edited", "imported"]


def test_generated_only_leaves_out_what_was_edited_and_says_how_much(
    dock: ExportDock, review: ReviewSession, scans: Path, qtbot: Any
) -> None:
    review.edits.set_rings(1, [square(0), square(20)])
    dock.generated_only.value = True
    said = export(dock, scans / "out.csv", qtbot)
    assert sources_of(scans / "out.csv") == ["imported", "imported"]
    assert "1 polygon" in said.split("\n")[2]
    assert "left out" in said


def test_all_cases_are_written_with_the_edits_of_one_that_was_left(
    dock: ExportDock, review: ReviewSession, scans: Path, qtbot: Any
) -> None:
    review.edits.set_rings(2, [])
    review.go_to("TC2")
    review.edits.set_rings(1, [square(5)])
    dock.what.value = "all 2 cases of split test"
    dock.format.value = "CSV + zip"
    export(dock, scans / "out", qtbot)  # takes the format's suffix
    assert lines_of(scans / "out.csv") == ["TC1 1", "TC2 1", "TC2 2"]
    assert sources_of(scans / "out.csv") == ["imported", "edited", "imported"]
    assert (scans / "out.zip").exists()


def test_the_prediction_that_is_reviewed_is_never_replaced(dock: ExportDock, scans: Path, qtbot: Any) -> None:
    file = scans / "model/submission.csv"
    before = file.read_bytes()
    said = export(dock, scans / "model/../model/submission.csv", qtbot)
    assert said.startswith("not written:")
    assert "choose another name" in said
    assert file.read_bytes() == before
    assert sorted(path.name for path in (scans / "model").iterdir()) == ["submission.csv"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "name a file first"), ("out.txt", "ends in .csv"), ("nowhere/out.csv", "there is no folder")],
)
def test_a_name_that_cannot_be_written_is_said_at_once(
    name: str, words: str, dock: ExportDock, scans: Path, qtbot: Any
) -> None:
    dock.file.line_edit.value = str(scans / name) if name else ""
    dock.button.click()
    assert words in dock.result.text()
    assert dock.button.isEnabled()


def test_an_rtstruct_is_of_one_case_and_needs_a_series(dock: ExportDock, scans: Path, qtbot: Any) -> None:
    dock.what.value = "all 2 cases of split test"
    dock.format.value = "RTSTRUCT"
    assert dock.what.value == "this case, as edited"
    assert not dock.what.enabled
    said = export(dock, scans / "out.dcm", qtbot)  # these scans are PNGs
    assert said.startswith("not written:")
    assert "series" in said
    assert not (scans / "out.dcm").exists()


def test_cancelling_leaves_old_files_as_they_were(review: ReviewSession, scans: Path, qtbot: Any) -> None:
    later = Later()
    dock = ExportDock(review, later)
    qtbot.addWidget(dock)
    dock.show()
    (scans / "out.csv").write_text("old")
    dock.what.value = "all 2 cases of split test"
    export(dock, scans / "out.csv", qtbot)
    assert dock.cancel.isVisible()
    assert not dock.button.isEnabled()
    qtbot.mouseClick(dock.cancel, Qt.MouseButton.LeftButton)
    later.go()
    assert dock.result.text().startswith("cancelled")
    assert (scans / "out.csv").read_text() == "old"
    assert sorted(path.name for path in scans.iterdir()) == ["model", "out.csv", "scans"]
    assert dock.button.isEnabled()
    assert not dock.cancel.isVisible()


def test_what_is_edited_after_the_click_is_not_in_the_file(review: ReviewSession, scans: Path, qtbot: Any) -> None:
    later = Later()
    dock = ExportDock(review, later)
    qtbot.addWidget(dock)
    export(dock, scans / "out.csv", qtbot)
    review.edits.set_rings(1, [])
    later.go()
    assert lines_of(scans / "out.csv") == ["TC1 1", "TC1 2"]


def test_a_case_that_cannot_be_written_is_named(dock: ExportDock, scans: Path, at_once: Any, qtbot: Any) -> None:
    session = ReviewSession(open_source(scans / "scans"), executor=at_once(), deliver=lambda call: call())
    session.go_to("TC1")
    other = ExportDock(session)
    qtbot.addWidget(other)
    said = export(other, scans / "out.csv", qtbot)
    session.close()
    assert said.startswith("nothing written")
    assert "TC1" in said
    assert not (scans / "out.csv").exists()


def test_a_dicom_scan_is_written_as_an_rtstruct_as_it_is_edited(tmp_path: Path, at_once: Any, qtbot: Any) -> None:
    from medotter_viewer.formats.dicom.rtstruct import read_structures

    write_dicom_scan(tmp_path / "scans", "TC1", {TARGET: {1: [box(0, 0, 10)]}}, n_slices=3)
    (tmp_path / "model.csv").write_text("TC1,1,0,0,10,0,10,10,0,10\n")
    source = open_source(tmp_path / "scans", predictions=tmp_path / "model.csv")
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    session.go_to("TC1")
    session.edits.set_rings(2, [square(20)])
    dock = ExportDock(session)
    qtbot.addWidget(dock)
    dock.format.value = "RTSTRUCT"
    said = export(dock, tmp_path / "out", qtbot)
    assert said.startswith("wrote out.dcm")
    assert "2 contours of 1 case" in said
    (roi,) = read_structures(tmp_path / "out.dcm")[0].rois
    assert roi.name == TARGET
    assert sorted(contour.points_lps[0, 2] for contour in roi.contours) == [0.0, 2.5]
    session.close()


def test_of_a_painted_label_map_generated_only_leaves_out_the_painted_slice(
    session: ReviewSession, bundle: Path, qtbot: Any
) -> None:
    session.go_to("A/one")
    session.pred_data[1:4, 1:5, 0] = 1  # type: ignore[index]
    session.edits.note_painted()
    dock = ExportDock(session)
    qtbot.addWidget(dock)
    dock.show()
    assert dock.region.value == "liver"
    assert dock.region.native.isVisible()
    export(dock, bundle / "out.csv", qtbot)
    assert sources_of(bundle / "out.csv") == ["edited", "model", "model", "model"]
    dock.generated_only.value = True
    said = export(dock, bundle / "out.csv", qtbot)
    assert sources_of(bundle / "out.csv") == ["model", "model", "model"]
    assert "left out" in said
    dock.region.value = "spleen"
    dock.generated_only.value = False
    assert "0 polygons of 1 case" in export(dock, bundle / "out.csv", qtbot)


def test_a_label_map_that_is_reviewed_is_no_place_for_an_export(session: ReviewSession, bundle: Path) -> None:
    from medotter_viewer.errors import WriteError
    from medotter_viewer.export.sources_kept import check_not_a_source

    for name, words in (
        ("data/one.nii.gz", "a ground truth"),
        ("data/one_img.nii.gz", "an image"),
        ("predictions/fast/A/two.nii.gz", "the prediction"),
    ):
        with pytest.raises(WriteError, match=words):
            check_not_a_source([bundle / "data/.." / name], session.source.entries("all"))
    check_not_a_source([bundle / "data/new.nii.gz"], session.source.entries("all"))


def test_a_what_if_is_written_without_and_said(session: ReviewSession, bundle: Path, qtbot: Any) -> None:
    session.go_to("A/one")
    session.edits.set_level_shift(1)
    dock = ExportDock(session)
    qtbot.addWidget(dock)
    dock.show()
    said = export(dock, bundle / "out.csv", qtbot)
    assert "labels are moved on the screen as a what-if: written as they are without it" in said
    assert set(sources_of(bundle / "out.csv")) == {"model"}


def test_what_was_exported_with_all_edits_is_no_more_said_to_be_in_no_file(
    dock: ExportDock, review: ReviewSession, scans: Path, qtbot: Any
) -> None:
    review.edits.set_rings(1, [square(0), square(20)])
    assert dock.header.text() == "edited here and in no file: TC1"
    dock.generated_only.value = True
    export(dock, scans / "out.csv", qtbot)
    assert dock.header.text() == "edited here and in no file: TC1"
    dock.generated_only.value = False
    export(dock, scans / "out.csv", qtbot)
    assert dock.header.text() == "edited here and saved: TC1"
    review.edits.undo()
    assert dock.header.text().startswith("nothing is edited")
