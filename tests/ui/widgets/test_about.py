"""The About panel: what it says of a task, its rules, its files and its versions, and that it can be taken along."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import Qt
from qtpy.QtGui import QGuiApplication

import medotter_viewer
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.widgets.about import AboutDock
from medotter_viewer.ui.widgets.about_facts import about, as_text

GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1
TASK = {
    "task": {"id": "t", "name": "Tiny & sound", "modality": "CT", "description": "two\n  lines <b>of</b> words"},
    "canonical_labels": {"one": [1]},
    "label_remap": {"A": {1: 1}},
}
SPEC = {
    "eval_regions": {"one": [1]},
    "metrics": ["dice", "hd95"],
    "main_region": "one",
    "hd95": {"percentile": 90, "spacing": [1.0, 1.0, 2.5]},
    "empty_structure": {"hd95": {"gt_nonempty_pred_empty": 373.13}},
    "aggregation": {"unit": "patient"},
}


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Three test cases of which two are predicted, and one for training that is not."""
    cases = {
        name: {"dataset": "A", "gt": GT, "image": GT.astype(np.int16), "spacing": (1.0, 2.0, 3.0)}
        for name in ("A/1", "A/2", "A/3")
    }
    cases["A/4"] = {**cases["A/1"], "split": "train"}
    return write_bundle(tmp_path, cases, task=TASK, eval_spec=SPEC, predictions={"A/1": GT, "A/2": GT})


@pytest.fixture
def review(tiny: Any, at_once: Any) -> Iterator[ReviewSession]:
    source = open_source(tiny.bundle, predictions=tiny.predictions, model_name="unet")
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call(), hd95="pooled")
    session.go_to("A/1")
    yield session
    session.close()


@pytest.fixture
def dock(review: ReviewSession, qtbot: Any) -> AboutDock:
    dock = AboutDock(review)
    qtbot.addWidget(dock)
    dock.show()
    return dock


def said(session: ReviewSession, title: str) -> dict[str, str]:
    """Names and values of a section."""
    (found,) = [section for section in about(session) if section.title == title]
    return dict(found.rows)


def test_the_task_is_named_with_version_hash_and_where_it_lies(review: ReviewSession, tiny: Any) -> None:
    task = said(review, "Task")
    assert (task["version"], task["hash"], task["model"]) == ("1.0", "0123456789ab", "unet")
    assert task["opened from"] == str(tiny.bundle.absolute())
    assert task["predictions"] == str(tiny.predictions)
    assert task["modality"] == "CT"
    assert task["description"] == "two lines <b>of</b> words"


def test_the_rules_in_force_are_those_of_this_window_and_this_task(review: ReviewSession) -> None:
    rules = said(review, "Definitions in force")
    assert rules["headline"] == "dice of one"
    assert rules["hd95"].startswith("pooled: percentile of the distances of both directions together")
    assert rules["hd95 percentile"] == "90, linear"
    assert rules["hd95 spacing"] == "1 × 1 × 2.5 mm, fixed by the task"
    assert rules["empty: hd95"] == "prediction empty 373.13 (of the task)"
    assert rules["averaging"] == "over cases of one patient, then patients for each region, then over regions"


def test_coverage_counts_the_cases_of_each_split(review: ReviewSession) -> None:
    assert said(review, "Coverage") == {
        "test": "3 cases, 2 predicted, 1 without prediction, 1 scored",
        "train": "1 case, 0 predicted, 1 without prediction, 0 scored",
    }
    review.score_all()
    assert said(review, "Coverage")["test"] == "3 cases, 2 predicted, 1 without prediction, 2 scored"


def test_the_bundle_s_own_report_is_shown_as_it_was_written(review: ReviewSession, tiny: Any) -> None:
    (tiny.bundle / "coverage_report.json").write_text('{"cases": 4}')
    assert "Coverage" in as_text(about(review))
    assert '{"cases": 4}' in as_text(about(review))
    (tiny.bundle / "coverage_report.md").write_text("# 4 cases\n\n<script>")
    assert "# 4 cases\n\n<script>" in as_text(about(review))
    (tiny.bundle / "coverage_report.md").write_bytes(b"x" * 200_000)
    assert len(as_text(about(review))) < 80_000


def test_a_report_that_leaves_the_bundle_is_not_read(review: ReviewSession, tiny: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("do not tell")
    (tiny.bundle / "coverage_report.md").symlink_to(tmp_path / "secret")
    text = as_text(about(review))
    assert "do not tell" not in text
    assert "coverage_report.md" in text


def test_every_file_of_the_open_case_is_named_with_grid_type_and_size(review: ReviewSession, tiny: Any) -> None:
    section = next(section for section in about(review) if section.title == "Files of the open case")
    rows = [value for _, value in section.rows]
    for path in (
        tiny.data / "images/A/1.nii.gz",
        tiny.data / "labels/A/1.nii.gz",
        tiny.predictions / "A/1.nii.gz",
    ):
        assert str(path) in rows
        told = rows[rows.index(str(path)) + 1]
        assert f"{path.stat().st_size:,} bytes" in told
        assert "6 x 6 x 6 voxels of 1 x 2 x 3 mm, RAS" in told
    image, label = (rows[rows.index(str(tiny.data / f"{folder}/A/1.nii.gz")) + 1] for folder in ("images", "labels"))
    assert ("int16" in image, "uint8" in label) == (True, True)


def test_versions_name_the_program_and_the_engine(review: ReviewSession) -> None:
    versions = said(review, "Versions")
    assert versions["medotter-viewer"] == medotter_viewer.__version__
    assert versions["engine"].startswith(("plain", "compiled"))
    assert versions["numpy"] == np.__version__
    assert {"Python", "napari"} <= set(versions)


def test_without_a_bundle_nothing_is_made_up(tmp_path: Path, at_once: Any, tiny: Any) -> None:
    source = open_source(gt=tiny.data / "labels" / "A", pred=tiny.predictions / "A")
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    assert not {"hash", "version"} & set(said(session, "Task"))
    assert [section.title for section in about(session)][-1] == "Versions"
    session.close()


def test_text_of_files_is_never_markup(dock: AboutDock) -> None:
    assert "two lines <b>of</b> words" in dock.text.toPlainText()


def test_all_of_it_can_be_selected_and_copied(dock: AboutDock, qtbot: Any) -> None:
    flags = dock.text.textInteractionFlags()
    assert flags & Qt.TextInteractionFlag.TextSelectableByMouse
    qtbot.mouseClick(dock.copy, Qt.MouseButton.LeftButton)
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    assert clipboard.text() == as_text(about(dock._session))
    assert dock.said.text() == "copied"
    lines = clipboard.text().splitlines()
    assert lines[:2] == ["Task", "----"]


def test_it_follows_the_open_case_while_it_is_seen_and_gathers_nothing_while_it_is_not(
    dock: AboutDock, review: ReviewSession, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    review.go_to("A/2")
    qtbot.waitUntil(lambda: "A/2" in dock.text.toPlainText(), timeout=3000)
    dock.hide()
    from medotter_viewer.ui.widgets import about as module

    monkeypatch.setattr(module, "about", lambda _: pytest.fail("gathered behind another tab"))
    review.go_to("A/1")
    qtbot.wait(600)
