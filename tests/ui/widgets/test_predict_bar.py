"""The button that has a model predict the open case, and what is saved of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import Qt

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.predict_bar import PredictBar
from medotter_viewer.ui.saving import Saving

Work = Callable[[], None]


@pytest.fixture
def waiting() -> list[Work]:
    """Threads that have not begun."""
    return []


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def bar(session: ReviewSession, qtbot: Any, waiting: list[Work], said: list[str]) -> PredictBar:
    """The button, with a model that finds nothing."""

    def nothing(image: Any, spacing: Any) -> Any:
        return np.zeros(image.shape, dtype=np.uint8)

    session.use_predictor(nothing, "unet", start=waiting.append)
    session.go_to("A/one")
    predicting = session.predicting
    assert predicting is not None

    def asked() -> None:
        if predicting.is_running:
            predicting.cancel()
        else:
            predicting.start(session.case)

    bar = PredictBar(predicting, asked, said.append)
    qtbot.addWidget(bar)
    bar.show()
    return bar


def click(bar: PredictBar, qtbot: Any) -> None:
    qtbot.mouseClick(bar.button, Qt.MouseButton.LeftButton)


def test_it_names_the_model_and_predicts(
    bar: PredictBar, session: ReviewSession, qtbot: Any, waiting: list[Work], said: list[str]
) -> None:
    assert bar.button.text() == "Predict this case"
    assert "unet" in bar.button.toolTip()
    click(bar, qtbot)
    assert bar.button.text() == "Cancel"
    waiting.pop()()
    assert bar.button.text() == "Predict this case"
    assert said == ["A/one: predicted by unet, in no file"]
    assert session.pred_data is not None
    assert not session.pred_data.any()


def test_while_it_works_it_says_what_and_for_how_long(bar: PredictBar, session: ReviewSession, qtbot: Any) -> None:
    click(bar, qtbot)
    session.predicting.events.step_changed.emit("unet predicts A/one")  # type: ignore[union-attr]
    assert bar.words.text() == "unet predicts A/one · 0 s"
    qtbot.waitUntil(lambda: bar.words.text() == "unet predicts A/one · 1 s", timeout=5000)


def test_a_second_click_drops_it(
    bar: PredictBar, session: ReviewSession, qtbot: Any, waiting: list[Work], said: list[str]
) -> None:
    click(bar, qtbot)
    click(bar, qtbot)
    assert said == ["unet: cancelled; what it still gives is dropped"]
    assert (bar.button.text(), bar.words.text()) == ("Predict this case", "")
    waiting.pop()()
    assert not session.edited


def test_what_is_saved_says_which_model_made_it(
    bar: PredictBar, session: ReviewSession, qtbot: Any, waiting: list[Work], said: list[str], tmp_path: Path
) -> None:
    click(bar, qtbot)
    waiting.pop()()
    Saving(session, lambda work, done: done(work()), said.append).save_as(tmp_path / "mine.nii.gz")
    told = json.loads((tmp_path / "mine.provenance.json").read_text(encoding="utf-8"))
    assert (told["predicted_by"], told["edited_from"], told["changed_voxels"]) == ("unet", "", 0)
    assert session.edits.words == "predicted by unet, saved as mine.nii.gz"
    assert session.edits.unwritten_ids == []
