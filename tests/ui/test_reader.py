"""Dropping a bundle or dataset on napari, samples, the small form, and the picture from the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from review_windows import block_case, scored, settle, wait_for

from medotter_viewer.ui.reader import NOTHING_TO_ADD, get_reader, read_bundle, say_why_not


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    case = block_case()
    return write_bundle(tmp_path / "tiny", {"D/0": case}, predictions={"D/0": case["gt"]})


def test_only_bundles_are_claimed(tiny: Any, tmp_path: Path) -> None:
    assert get_reader(str(tiny.bundle)) is read_bundle
    assert get_reader(str(tiny.folder)) is read_bundle  # the folder that holds bundle/
    assert get_reader(str(tiny.bundle / "manifest_test.json")) is read_bundle
    assert get_reader(str(tmp_path)) is say_why_not
    assert get_reader(str(next(tiny.data.rglob("*.nii*")))) is say_why_not
    assert get_reader([str(tiny.bundle)]) is say_why_not
    assert get_reader(str(tmp_path / "not there")) is say_why_not


def test_without_a_viewer_what_holds_no_cases_is_left_to_other_readers(tmp_path: Path) -> None:
    assert say_why_not(str(tmp_path)) == []


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What notifications say, in a napari that has a viewer with a window."""
    import napari
    import napari.utils.notifications

    said: list[str] = []
    viewer = type("Viewer", (), {"window": None})()
    monkeypatch.setattr(napari, "current_viewer", lambda: viewer)
    monkeypatch.setattr(napari.utils.notifications, "show_error", said.append)
    return said


def test_a_folder_without_cases_is_told_in_the_window_and_is_no_exception(tmp_path: Path, told: list[str]) -> None:
    place = tmp_path / "holiday"
    place.mkdir()
    (place / "a.txt").touch()
    assert get_reader(str(place))(str(place)) == NOTHING_TO_ADD
    assert told[0].startswith(f"holiday: no cases to review. {place} holds no manifest_test.json (a bundle)")
    assert "it holds a.txt" in told[0]
    assert get_reader([str(place)] * 2)([str(place)] * 2) == NOTHING_TO_ADD
    assert told[1].startswith("2 files: no cases to review.")


def test_a_broken_bundle_is_told_in_the_window_and_is_no_exception(tiny: Any, told: list[str]) -> None:
    (tiny.bundle / "manifest_test.json").write_text("{")
    assert get_reader(str(tiny.bundle))(str(tiny.bundle)) == NOTHING_TO_ADD
    assert told[0].startswith(f"{tiny.bundle.name} cannot be opened: ")
    assert "manifest_test.json" in told[0]


def test_datasets_of_others_are_claimed_by_their_files_names(tiny: Any, tmp_path: Path) -> None:
    mask = next(path for path in tiny.data.rglob("*.nii*") if "labels" in str(path))
    verse, nnunet = tmp_path / "verse", tmp_path / "Dataset001_X"
    (verse / "sub-a").mkdir(parents=True)
    (verse / "sub-a" / "sub-a_seg-vert_msk.nii.gz").write_bytes(mask.read_bytes())
    (nnunet / "labelsTr").mkdir(parents=True)
    (nnunet / "labelsTr" / "a.nii.gz").write_bytes(mask.read_bytes())
    assert get_reader(str(nnunet)) is say_why_not  # not yet
    (nnunet / "dataset.json").write_text('{"labels": {"background": 0, "organ": 1}}')
    for dropped in (verse, nnunet, nnunet / "dataset.json"):
        assert get_reader(str(dropped)) is read_bundle
        assert [options["name"] for _, options, _ in read_bundle(str(dropped))] == ["ground truth"]


def test_without_a_viewer_the_first_case_comes_as_layers(tiny: Any) -> None:
    layers = read_bundle(str(tiny.bundle))
    assert [(kind, options["name"]) for _, options, kind in layers] == [("image", "image"), ("labels", "ground truth")]
    data, options, _ = layers[1]
    assert data.shape == (16, 30, 24)
    assert tuple(options["scale"]) == (3.0, 1.5, 2.0)


@pytest.mark.window
def test_a_dropped_bundle_opens_its_review_in_that_window(qapp: Any, tiny: Any) -> None:
    import napari

    from medotter_viewer.ui.window import window_of

    viewer = napari.Viewer()
    try:
        viewer.open(str(tiny.bundle), plugin="medotter-viewer")
        window = window_of(viewer)
        assert window is not None
        wait_for(lambda: window.session.opened is not None, "the case")
        assert window.session.score is None or window.session.score.status == "missing_prediction"
        assert [layer.name for layer in viewer.layers if layer.visible] == ["image", "ground truth"]
        viewer.open(str(tiny.bundle), plugin="medotter-viewer")  # a second drop replaces the first
        assert window_of(viewer) is not window
        window = window_of(viewer)
        wait_for(lambda: window.session.opened is not None, "the case again")
        titles = [
            dock.windowTitle() for dock in viewer.window._qt_window.findChildren(_dock_class()) if dock.isVisible()
        ]
        assert titles.count("Cases") == 1
    finally:
        if (window := window_of(viewer)) is not None:
            window.close()
        viewer.close()
        settle(0.1)


@pytest.mark.window
def test_samples_open_with_the_predictions_that_are_wrong_in_known_ways(qapp: Any) -> None:
    import napari

    from medotter_viewer.ui.window import window_of

    viewer = napari.Viewer()
    try:
        viewer.open_sample("medotter-viewer", "glioma_mr")
        window = window_of(viewer)
        wait_for(lambda: window.session.opened is not None and scored(window), "the sample")
        assert list(window.session.case.channels) == ["t1", "t1c", "t2", "flair"]
        assert window.session.source.predictions.name == "mixed"
        assert window.session.score.regions["ET"].metrics["hd95"].status == "cap"
    finally:
        window_of(viewer).close()
        viewer.close()
        settle(0.1)


@pytest.mark.window
def test_the_form_opens_a_review_and_says_what_is_wrong(qapp: Any, tiny: Any, tmp_path: Path) -> None:
    import napari

    from medotter_viewer.ui.widgets.open_bundle import OpenBundle
    from medotter_viewer.ui.window import window_of

    viewer = napari.Viewer()
    form = OpenBundle(viewer)
    try:
        form.open.click()
        assert "name a bundle folder" in form.message.text()
        form.bundle.setText(str(tmp_path / "nothing"))
        form.open.click()
        assert "nothing is not there; expected a bundle folder" in form.message.text()
        form.bundle.setText(str(tiny.bundle))
        form.ground_truth.setText(str(tiny.data))
        form.open.click()
        assert "give one of the two" in form.message.text()
        form.ground_truth.clear()
        form.predictions.setText(str(tiny.predictions))
        form.open.click()
        window = window_of(viewer)
        wait_for(lambda: window.session.opened is not None and scored(window), "the case")
        assert window.session.score.regions["one"].metrics["dice"].value == 1.0
        assert form.message.text() == ""
    finally:
        window_of(viewer).close()
        form.close()
        viewer.close()
        settle(0.1)


@pytest.mark.window
def test_the_form_opens_folders_of_equal_names(qapp: Any, tiny: Any) -> None:
    import napari

    from medotter_viewer.ui.widgets.open_bundle import OpenBundle
    from medotter_viewer.ui.window import window_of

    viewer = napari.Viewer()
    form = OpenBundle(viewer)
    try:
        form.ground_truth.setText(str(tiny.data / "labels"))
        form.images.setText(str(tiny.data / "images"))
        form.predictions.setText(str(tiny.predictions))
        form.open.click()
        window = window_of(viewer)
        assert form.message.text() == ""
        wait_for(lambda: window.session.opened is not None and scored(window), "the case")
        assert window.session.case.case_id == "D/0"
        assert {r.metrics["dice"].value for r in window.session.score.regions.values()} == {1.0}
        assert "image" in [layer.name for layer in viewer.layers if layer.visible]
    finally:
        window_of(viewer).close()
        form.close()
        viewer.close()
        settle(0.1)


@pytest.mark.window
def test_open_with_screenshot_writes_the_whole_window(qapp: Any, tiny: Any, tmp_path: Path, capsys: Any) -> None:
    from matplotlib.image import imread

    from medotter_viewer.cli import main

    picture = tmp_path / "out" / "window.png"
    arguments = ["open", str(tiny.bundle), "--predictions", str(tiny.predictions), "--screenshot", str(picture)]
    assert main(arguments) == 0
    assert capsys.readouterr().out.strip() == str(picture)
    assert imread(picture).shape[:2] == (840, 1400)


@pytest.mark.window
def test_open_stays_until_the_window_is_closed_and_fits_the_screen(tiny: Any, tmp_path: Path) -> None:
    """The program itself, with its own event loop, in a process of its own; napari ends it after some seconds."""
    program = f"""
import napari
from qtpy.QtCore import QTimer
from medotter_viewer.cli import main
run, sizes = napari.run, []

def for_a_while():
    main_window = napari.current_viewer().window._qt_window
    main_window.resize(5000, 4000)
    QTimer.singleShot(2500, lambda: (sizes.append(main_window.width()), main_window.close()))
    run()

napari.run = for_a_while
status = main(["open", {str(tiny.folder)!r}, "--predictions", {str(tiny.predictions)!r}])
print("ended", status, 0 < sizes[0] < 5000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[-1:] == ["ended 0 True"], done.stderr
    assert "Traceback" not in done.stderr


def test_open_names_an_unknown_case_before_a_window_opens(tiny: Any, capsys: Any) -> None:
    from medotter_viewer.cli import main

    assert main(["open", str(tiny.bundle), "--case", "D/7"]) == 1
    assert "'D/7'" in capsys.readouterr().err


def test_without_a_screen_open_says_what_to_do(tiny: Any, monkeypatch: Any, capsys: Any) -> None:
    from medotter_viewer.cli import main

    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["open", str(tiny.bundle)]) == 1
    error = capsys.readouterr().err
    assert "xvfb-run" in error
    assert "medotter-viewer score" in error


def _dock_class() -> Any:
    from qtpy.QtWidgets import QDockWidget

    return QDockWidget
