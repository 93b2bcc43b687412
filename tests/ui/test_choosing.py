"""A review that was opened without predictions gets some in its window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from review_windows import block_case, scored, settle, wait_for

from medotter_viewer.core.case import Case
from medotter_viewer.sources.bundle import Bundle
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.banner import NO_PREDICTION, banner_text
from medotter_viewer.ui.choosing import NONE_OPEN, Unpredicted


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    cases = {"D/0": block_case(0), "D/1": block_case(1)}
    return write_bundle(tmp_path / "tiny", cases, predictions={name: case["gt"] for name, case in cases.items()})


def said(source: Any, case_id: str = "D/0") -> str:
    case: Case = source.load(case_id)
    return banner_text(case, unpredicted=Unpredicted(source).text(case))


def test_without_predictions_the_banner_says_how_to_open_some(tiny: Any) -> None:
    assert said(open_source(tiny.bundle)) == NONE_OPEN
    assert "Predictions…" in NONE_OPEN


def test_a_case_without_a_prediction_says_where_it_was_looked_for(tiny: Any) -> None:
    (tiny.predictions / "D/1.nii.gz").unlink()
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    assert said(source) == ""
    assert said(source, "D/1") == f"{NO_PREDICTION}, looked for {tiny.predictions / 'D/1'} with a known suffix"


def test_a_folder_one_level_too_high_is_told_in_the_banner(tiny: Any) -> None:
    source = open_source(tiny.bundle, predictions=tiny.folder)
    assert said(source).endswith(f"with a known suffix; did you mean {tiny.predictions}?")


def test_cases_that_come_from_no_files_are_not_told_of_a_button(tiny: Any) -> None:
    assert said(BundleSource(Bundle(tiny.bundle), data_root=tiny.data)) == NO_PREDICTION


@pytest.mark.window
def test_the_button_asks_for_predictions_and_the_same_place_shows_them(
    tiny: Any, open_review: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qtpy.QtWidgets import QFileDialog

    from medotter_viewer.ui.window import window_of

    window = open_review(tiny.bundle)
    viewer, button = window.viewer, window.docks.cases.second
    assert button.text() == "Predictions…"
    assert window.overlay.banner_text == NONE_OPEN
    window.session.go_to("D/1")
    wait_for(lambda: window.session.case is not None and window.session.case.case_id == "D/1", "the other case")
    window.session.select_region("one")
    chosen = iter([str(tiny.folder), str(tiny.predictions)])
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: next(chosen))
    button.click()  # one level too high: nothing changes but what is said
    settle(0.1)
    assert window_of(viewer) is window
    assert f"did you mean {tiny.predictions}?" in window.docks._line.text()
    button.click()
    wait_for(lambda: window_of(viewer) is not window and scored(window_of(viewer)), "the predictions")
    new = window_of(viewer)
    assert (new.session.current_id, new.session.region, new.session.source.model) == ("D/1", "one", "model")
    assert new.session.score.regions["one"].metrics["dice"].value == 1.0
    assert new.docks.cases.second.text() == "Second prediction…"
    assert new.overlay.banner_text == ""
    new.close()
