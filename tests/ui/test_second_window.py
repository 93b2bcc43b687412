"""A second model in a real window: its contour, its colour, its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import block_case, scored, settle, wait_for

from medotter_viewer.ui import colors

pytestmark = pytest.mark.window


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """A misses the lowest slice of region one; B takes it for region two, and has nothing for the second case."""
    cases = {"D/0": block_case(0), "D/1": block_case(1)}
    missed, taken = cases["D/0"]["gt"].copy(), cases["D/0"]["gt"].copy()
    missed[:, :, 4] = 0
    taken[:, :, 4] *= 2
    write_bundle(tmp_path / "b", {"D/0": block_case(0)}, predictions={"D/0": taken})
    return write_bundle(tmp_path / "tiny", cases, predictions={"D/0": missed, "D/1": cases["D/1"]["gt"]})


@pytest.fixture
def window(open_review: Any, tiny: Any, tmp_path: Path) -> Any:
    """The first case with both models."""
    window = open_review(tiny.bundle, tiny.predictions)
    window.session.second.open_folder(tmp_path / "b/model", "tuned")
    wait_for(lambda: window.session.second.score is not None, "the second scored")
    settle()
    return window


def visible(window: Any) -> set[str]:
    layers = {role: window.display.layer(role) for role in ("gt", "pred", "second")}
    return {role for role, layer in layers.items() if layer is not None and layer.visible}


def press(window: Any, qtbot: Any, key: str) -> None:
    from qtpy.QtCore import Qt

    canvas = window.viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    qtbot.keyClick(canvas, getattr(Qt.Key, f"Key_{key}"))
    settle(0.1)


def test_it_is_outlined_in_a_colour_of_its_own_below_the_first(window: Any) -> None:
    layer, first = window.display.layer("second"), window.display.layer("pred")
    assert visible(window) == {"gt", "pred", "second"}
    np.testing.assert_allclose(layer.get_color(1), colors.rgba(colors.SECOND_ACCENT))
    assert not layer.editable
    assert first.editable
    order = list(window.viewer.layers)
    assert order.index(window.display.layer("gt")) < order.index(layer) < order.index(first)
    assert layer.units == first.units
    assert ("B: tuned", colors.SECOND_ACCENT) in window.overlay.legend
    assert ("A: model", colors.PRED_ACCENT) in window.overlay.legend


def test_b_cycles_both_the_second_alone_and_the_first_alone(window: Any, qtbot: Any) -> None:
    press(window, qtbot, "B")
    assert visible(window) == {"gt", "second"}
    # Slice 4 from the feet of 16 is displayed 11. B calls what A misses there by another name: error 4, not 2.
    errors = window.display.layer("error")
    assert set(np.unique(errors.data[11])) == {0, 4}
    press(window, qtbot, "B")
    assert visible(window) == {"gt", "pred"}
    assert set(np.unique(window.display.layer("error").data[11])) == {0, 2}
    press(window, qtbot, "B")
    assert visible(window) == {"gt", "pred", "second"}


def test_tab_and_h_count_it_as_a_prediction(window: Any, qtbot: Any) -> None:
    window.blink()
    assert visible(window) == {"gt"}
    window.blink()
    assert visible(window) == {"pred", "second"}
    window.looking.hide(True)
    assert visible(window) == set()
    window.looking.hide(False)
    assert visible(window) == {"pred", "second"}


def test_numbers_stand_beside_each_other_and_the_header_names_both(window: Any) -> None:
    scores = window.docks.scores
    assert scores.header.text().startswith("A: model vs B: tuned")
    headers = [column.header for column in scores.model.columns]
    row = next(r for r in range(scores.model.rowCount()) if scores.model.region(r) == "one")
    cells = [cell.text for cell in scores.model.cells(row)]
    # both lack one slice of six of region one: dice 480/528
    assert cells[headers.index("dice")] == cells[headers.index("B dice")] == "0.909"
    other = next(r for r in range(scores.model.rowCount()) if scores.model.region(r) == "two")
    cells = [cell.text for cell in scores.model.cells(other)]
    # region two: 5 x 8 x 6 = 240 voxels, B has 48 more: 480 / 528
    assert (cells[headers.index("dice")], cells[headers.index("B dice")]) == ("1.000", "0.909")


def test_a_case_without_a_second_prediction_says_so_and_shows_the_first(window: Any) -> None:
    window.session.step(1)
    wait_for(lambda: window.session.current_id == "D/1" and scored(window), "the second case")
    wait_for(lambda: window.session.second.is_settled, "nothing left to read")
    settle()
    assert visible(window) == {"gt", "pred"}
    assert "B (tuned): no prediction" in window.overlay.banner_text
    assert window.session.score.regions["one"].metrics["dice"].value == 1.0


def test_painting_changes_the_first_alone(window: Any) -> None:
    before = window.session.second.score
    layer = window.display.layer("pred")
    layer.data_setitem(tuple(a.ravel() for a in np.meshgrid([11], range(14, 22), range(3, 9), indexing="ij")), 1)
    wait_for(lambda: window.session.edited and scored(window), "the stroke scored")
    assert window.session.second.score is before
    assert window.display.layer("second").data[11].max() == 2


def test_closing_it_empties_its_layer(window: Any) -> None:
    window.session.second.close()
    settle()
    assert visible(window) == {"gt", "pred"}
    assert window.display.layer("second").data.size == 1
    assert [word for word, _ in window.overlay.legend if word.startswith(("A:", "B:"))] == []


def test_view_takes_a_second_model_and_refuses_a_folder_that_is_not_there(tiny: Any, tmp_path: Path) -> None:
    import medotter_viewer as mv
    from medotter_viewer.errors import UsageError

    with pytest.raises(UsageError, match="second prediction: no such folder"):
        mv.view(tiny.bundle, tiny.predictions, second=tmp_path / "nowhere")
    view = mv.view(tiny.bundle, tiny.predictions, second=tmp_path / "b/model", second_name="tuned")
    try:
        assert view.session.second.name == "tuned"
        wait_for(lambda: view.session.second.score is not None, "the second scored")
    finally:
        view.close()
        settle()
