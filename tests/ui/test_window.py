"""What a person does in the window."""

from __future__ import annotations

import ctypes
import gc
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from review_windows import block_case, scored, settle, wait_for

pytestmark = pytest.mark.window


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Three cases: a missed slice, a perfect one, one without prediction; the middle image is missing."""
    cases = {f"D/{n}": block_case(n) for n in range(3)}
    shifted = block_case(0)["gt"].copy()
    shifted[:, :, 4] = 0  # the lowest slice of region one is missed
    predictions = {"D/0": shifted, "D/1": block_case(1)["gt"]}
    return write_bundle(tmp_path / "tiny", cases, predictions=predictions)


def test_a_case_opens_on_its_worst_slice_with_scores(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    # slice 4 from the feet of 16 is the 12th from the head: displayed index 11
    assert window.session.opened.worst_slice == 11
    assert window.viewer.dims.current_step[0] == 11
    score = window.session.score
    # region one: 6 x 8 x 6 voxels of which one slice of 6 is missed: dice 2 * 240 / (288 + 240)
    assert score.regions["one"].metrics["dice"].value == pytest.approx(480 / 528, abs=1e-12)
    assert score.regions["two"].metrics["dice"].value == 1.0
    assert "D/0" in window.viewer.title


def test_no_dock_is_narrow_and_cases_and_scores_are_in_front(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    main = window.viewer.window._qt_window
    assert (main.width(), main.height()) == (1400, 840)
    for dock in (window.docks.cases, window.docks.scores):
        assert dock.width() >= 320
        assert dock.isVisible()
    assert window.docks.scores.width() >= 440  # room for the numbers
    window.docks.show("Remap")
    settle(0.1)
    assert window.docks.remap.isVisible()
    assert not window.docks.scores.isVisible()  # behind it, it does nothing
    assert window.docks.remap.width() >= 320
    assert window.viewer.window._qt_viewer.canvas.native.width() >= 450


def test_comma_and_full_stop_step_through_the_cases(open_review: Any, tiny: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    window = open_review(tiny.bundle, tiny.predictions)
    canvas = window.viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    qtbot.keyClick(canvas, Qt.Key.Key_Period)
    wait_for(lambda: window.session.case.case_id == "D/1" and scored(window), "second case")
    qtbot.keyClick(canvas, Qt.Key.Key_Period)
    wait_for(lambda: window.session.case.case_id == "D/2", "third case")
    assert window.session.score is None or window.session.score.status == "missing_prediction"
    qtbot.keyClick(canvas, Qt.Key.Key_Comma)
    wait_for(lambda: window.session.case.case_id == "D/1", "back again")
    assert window.session.score.regions["one"].metrics["hd95"].value == 0.0


def test_fast_stepping_ends_at_the_case_that_was_asked_for_last(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    for _ in range(20):
        window.session.go_to("D/1")
        window.session.go_to("D/2")
        window.session.go_to("D/0")
    wait_for(lambda: scored(window) and window.session.current_id == "D/0", "the last one asked for")
    settle(0.5)
    assert window.session.case.case_id == "D/0"
    assert "D/0" in window.viewer.title
    gt = window.display.layer("gt").data
    assert gt.shape == (16, 30, 24)


def test_the_wheel_scrolls_slices_and_ctrl_wheel_zooms(open_review: Any, tiny: Any) -> None:
    from qtpy.QtCore import QPoint, QPointF, Qt
    from qtpy.QtGui import QWheelEvent
    from qtpy.QtWidgets import QApplication

    window = open_review(tiny.bundle, tiny.predictions)
    canvas = window.viewer.window._qt_viewer.canvas.native
    centre = QPointF(canvas.width() / 2, canvas.height() / 2)

    def turn(delta: int, modifier: Any) -> None:
        event = QWheelEvent(
            centre,
            QPointF(canvas.mapToGlobal(centre.toPoint())),
            QPoint(0, 0),
            QPoint(0, delta),
            Qt.MouseButton.NoButton,
            modifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(canvas, event)
        settle(0.05)

    start, zoom = window.viewer.dims.current_step[0], window.viewer.scene.camera.zoom
    # Not only there and back, which would undo a zoom; and whichever layer is active: napari lets each new one zoom.
    for turned, layer in enumerate((None, "gt", "pred"), start=1):
        if layer is not None:
            window.viewer.layers.selection.active = window.display.layer(layer)
        turn(-120, Qt.KeyboardModifier.NoModifier)
        assert window.viewer.dims.current_step[0] == start + turned
        assert window.viewer.scene.camera.zoom == pytest.approx(zoom, rel=1e-12)  # drawing reads it from the canvas
    for _ in range(3):
        turn(120, Qt.KeyboardModifier.NoModifier)
    assert window.viewer.dims.current_step[0] == start
    assert window.viewer.scene.camera.zoom == pytest.approx(zoom, rel=1e-12)
    turn(120, Qt.KeyboardModifier.ControlModifier)
    assert window.viewer.dims.current_step[0] == start
    assert window.viewer.scene.camera.zoom == pytest.approx(zoom * 1.1)


def test_a_click_on_a_region_shows_it_alone_and_centres_on_its_worst_slice(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    table, model = window.docks.scores.table, window.docks.scores.model
    row = next(r for r in range(model.rowCount()) if model.region(r) == "two")
    table.row_chosen.emit(row)
    settle(0.2)
    assert window.session.region == "two"
    # region two has no error: its fullest slice, the first from the head with most of it: k = 11 of 16 -> displayed 4
    assert window.viewer.dims.current_step[0] == 4
    # its box in that slice is i 3..7, j 12..19 of 24 x 30: displayed P (30-1) - 15.5 = 13.5, L (24-1) - 5 = 18
    centre = window.viewer.scene.camera.center
    wanted = window.display.to_mm((4, 13.5, 18))
    assert centre[-2:] == pytest.approx(wanted[-2:], abs=1e-6)


def test_painting_rescores_and_leaves_the_file_and_the_list_alone(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    path = window.session.case.entry.pred_path
    before = path.read_bytes()
    layer = window.display.layer("pred")
    # paint back what was missed: slice k = 4, i.e. displayed 11; i 15..20 -> L 3..8; j 8..15 -> P 14..21
    indices = np.meshgrid([11], range(14, 22), range(3, 9), indexing="ij")
    layer.data_setitem(tuple(a.ravel() for a in indices), 1)
    wait_for(
        lambda: (
            window.session.edited
            and window.session.score.regions["one"].metrics["dice"].value == 1.0
            and scored(window)
        ),
        "rescored",
    )
    assert window.session.score.regions["one"].metrics["hd95"].value == 0.0
    assert path.read_bytes() == before
    assert window.session.case.pred.data[15, 8, 4] == 0  # what the file says is kept
    assert window.session.row("D/0").score.regions["one"].metrics["dice"].value < 1


def test_native_and_canonical_ground_truth_can_be_toggled(open_review: Any, tmp_path: Path, write_bundle: Any) -> None:
    native = block_case()
    native["gt"] = np.where(native["gt"] == 1, 5, np.where(native["gt"] == 2, 9, 0)).astype(np.uint8)
    tiny = write_bundle(
        tmp_path / "native",
        {"D/0": {**native, "dataset": "D"}},
        task={
            "task": {"id": "t"},
            "canonical_labels": {"one": [1], "two": [2]},
            "label_remap": {"D": {5: 1, 7: 2}},
        },
        predictions={"D/0": (native["gt"] == 5).astype(np.uint8)},
    )
    window = open_review(tiny.bundle, tiny.predictions)
    layer = window.display.layer("gt")
    assert set(np.unique(np.asarray(layer.data))) == {0, 1}
    window.session.show_native(True)
    settle(0.1)
    assert set(np.unique(np.asarray(window.display.layer("gt").data))) == {0, 5, 9}
    assert "native" in window.overlay.banner_text
    window.session.show_native(False)
    settle(0.1)
    assert set(np.unique(np.asarray(window.display.layer("gt").data))) == {0, 1}


def test_a_broken_case_is_named_and_the_next_one_opens(open_review: Any, tmp_path: Path, write_bundle: Any) -> None:
    cases = {"D/0": block_case(0), "D/1": block_case(1)}
    tiny = write_bundle(tmp_path / "broken", cases, predictions={k: v["gt"] for k, v in cases.items()})
    bad = next(tiny.predictions.rglob("0.nii*"))
    bad.write_bytes(bad.read_bytes()[:60])
    window = open_review(tiny.bundle, tiny.predictions)
    assert window.session.score.status == "error"
    assert bad.name in window.session.score.message
    assert "0.nii" in window.overlay.banner_text
    window.session.step(1)
    wait_for(lambda: window.session.current_id == "D/1" and scored(window), "the next case")
    assert window.session.score.regions["one"].metrics["dice"].value == 1.0
    assert window.overlay.banner_text == ""


def test_stepping_through_thirty_cases_keeps_memory_flat(open_review: Any, tmp_path: Path, write_bundle: Any) -> None:
    shape = (200, 200, 50)
    rng = np.random.default_rng(1)
    gt = np.zeros(shape, dtype=np.uint8)
    gt[50:150, 50:150, 10:40] = 1
    image = rng.integers(-1000, 1000, shape, dtype=np.int16)
    tiny = write_bundle(tmp_path / "many", {"D/0": {"gt": gt, "image": image}}, predictions={"D/0": gt})
    _repeat_case(tiny, 30)
    window = open_review(tiny.bundle, tiny.predictions)
    alive: list[weakref.ref[Any]] = []
    process, memory = psutil.Process(os.getpid()), {}
    for n in range(30):
        if n:
            window.session.step(1)
        case_id = f"D/{n}"
        wait_for(lambda case_id=case_id: window.session.current_id == case_id and scored(window), case_id)
        settle(0.05)
        alive.append(weakref.ref(window.session.case.channels["image"].data))
        wait_for(lambda: window.session.is_idle, "nothing left to do")
        _give_back_free_memory()
        memory[n + 1] = process.memory_info().rss
    one_case = image.nbytes + 4 * gt.nbytes  # image; ground truth, native and canonical; prediction and its copy
    # The most of five: now and then the C library gives back more than it usually can.
    grown = max(memory[n] for n in range(26, 31)) - max(memory[n] for n in range(1, 6))
    assert grown < one_case, f"grew by {grown / 2**20:.0f} MiB, one case is {one_case / 2**20:.0f} MiB"
    settle(0.3)
    gc.collect()
    old = [ref for ref in alive[:-1] if ref() is not None]
    assert len(old) <= 1


def _give_back_free_memory() -> None:
    """Let the C library return what is free already: what it keeps for later is not held by us."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        return


def _repeat_case(tiny: Any, count: int) -> None:
    """Give the one case of a bundle `count` names that share its files."""
    import json

    path = tiny.bundle / "manifest_test.json"
    manifest = json.loads(path.read_text())
    meta = manifest["per_case"]["D/0"]
    manifest["test"] = [f"D/{n}" for n in range(count)]
    manifest["per_case"] = dict.fromkeys(manifest["test"], meta)
    path.write_text(json.dumps(manifest))
    first = next(tiny.predictions.rglob("0.nii*"))
    for n in range(1, count):
        os.link(first, first.with_name(first.name.replace("0", str(n), 1)))


def _paint_back_what_was_missed(layer: Any) -> None:
    """Slice k = 4 is displayed 11; i 15..20 -> L 3..8; j 8..15 -> P 14..21."""
    indices = np.meshgrid([11], range(14, 22), range(3, 9), indexing="ij")
    layer.data_setitem(tuple(a.ravel() for a in indices), 1)


def _dice(window: Any) -> float:
    return window.session.score.regions["one"].metrics["dice"].value


def test_undo_and_redo_rescore(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    layer = window.display.layer("pred")
    before = _dice(window)
    _paint_back_what_was_missed(layer)
    wait_for(lambda: _dice(window) == 1.0 and scored(window), "the stroke scored")
    assert window.session.edited
    layer.undo()
    wait_for(lambda: _dice(window) == before and scored(window), "the undo scored")
    assert not window.session.edited
    layer.redo()
    wait_for(lambda: _dice(window) == 1.0, "the redo scored")


def test_edits_are_there_again_when_a_case_is_opened_again(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    _paint_back_what_was_missed(window.display.layer("pred"))
    wait_for(lambda: window.session.edited and scored(window), "the stroke scored")
    window.session.step(1)
    wait_for(lambda: window.session.current_id == "D/1" and scored(window), "the next case")
    assert not window.session.edited
    assert window.session.edits.case_ids == ["D/0"]
    window.session.step(-1)
    wait_for(lambda: window.session.current_id == "D/0" and window.session.edited and scored(window), "back")
    assert _dice(window) == 1.0


def test_letters_follow_a_flipped_camera(open_review: Any, tiny: Any) -> None:
    window = open_review(tiny.bundle, tiny.predictions)
    assert (window.overlay.letters.left, window.overlay.letters.right) == ("R", "L")
    window.viewer.scene.camera.orientation2d = ("down", "left")
    assert (window.overlay.letters.left, window.overlay.letters.right) == ("L", "R")
    window.viewer.scene.camera.orientation2d = ("down", "right")


def test_a_second_bundle_in_the_viewer_leaves_nothing_of_the_first(
    open_review: Any, tiny: Any, tmp_path: Path, write_bundle: Any
) -> None:
    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window

    first = open_review(tiny.bundle, tiny.predictions)
    other = write_bundle(tmp_path / "other", {"E/0": block_case(5)}, predictions={"E/0": block_case(5)["gt"]})
    second = open_window(open_source(other.bundle, predictions=other.predictions), viewer=first.viewer)
    wait_for(lambda: second.session.opened is not None and scored(second), "the second bundle")
    settle()
    try:
        names = [layer.name for layer in first.viewer.layers]
        assert sorted(names) == ["errors", "ground truth", "image", "prediction"]
        first.viewer.bind_key  # noqa: B018 - the viewer is alive
        second.blink()
        assert not second.display.layer("pred").visible
    finally:
        second.close()
    assert len(first.viewer.layers) == 0  # and a closed review leaves the viewer empty


def test_closing_the_viewer_ends_the_review(open_review: Any, tiny: Any) -> None:
    import threading

    window = open_review(tiny.bundle, tiny.predictions)
    window.session.score_all()
    window.viewer.close()
    settle()
    window.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("medotter-viewer")]


def test_ids_beyond_65535_are_drawn_in_colours_of_their_own(
    open_review: Any, tmp_path: Path, write_bundle: Any
) -> None:
    big = block_case()
    gt = big["gt"].astype(np.int32)
    gt[gt == 1], gt[gt == 2] = 70000, 2**31 - 1
    regions = {"one": [70000], "two": [2**31 - 1]}
    tiny = write_bundle(
        tmp_path / "big",
        {"D/0": {**big, "gt": gt}},
        task={"task": {"id": "t"}, "canonical_labels": regions},
        eval_spec={"eval_regions": regions, "metrics": ["dice", "hd95"]},
        predictions={"D/0": gt},
    )
    window = open_review(tiny.bundle, tiny.predictions)
    assert window.session.score.regions["two"].metrics["dice"].value == 1.0
    layer = window.display.layer("gt")
    assert set(np.unique(np.asarray(layer.data))) == {0, 1, 2}
    colours = [tuple(np.round(layer.get_color(number), 3)) for number in (1, 2)]
    assert colours[0] != colours[1]
    assert all(colour[3] == 1 for colour in colours)


def test_a_closed_window_leaves_no_widget(qapp: Any, tiny: Any) -> None:
    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window, window_of

    def open_and_close() -> Any:
        window = open_window(open_source(tiny.bundle, predictions=tiny.predictions))
        wait_for(lambda: window.session.opened is not None and scored(window), "first case scored")
        window.close()
        assert window_of(window.viewer) is None
        window.viewer.close()
        return weakref.ref(window)

    gc.collect()
    settle()
    before = len(qapp.allWidgets())
    closed = open_and_close()
    settle()
    gc.collect()
    settle()
    assert closed() is None
    assert len(qapp.allWidgets()) == before
