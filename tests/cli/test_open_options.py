"""What ``open`` makes of a saved review, a position and a predictor, before any window."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.cli import main
from medotter_viewer.session.state_file import ReviewState, SavedView, write_state
from medotter_viewer.sources.opened_as import opened_as

GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    cases = {name: {"gt": GT, "image": GT.astype(np.int16)} for name in ("D/0", "D/1")}
    return write_bundle(tmp_path / "all", cases, predictions=dict.fromkeys(cases, GT))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the window is asked for, instead of opening one."""
    found: dict[str, Any] = {}

    def run_window(source: Any, **options: Any) -> int:
        found.update(options, source=source)
        return 0

    monkeypatch.setattr("medotter_viewer.ui.app.run_window", run_window)
    return found


@pytest.fixture
def saved(tiny: Any, tmp_path: Path) -> Path:
    """A review of the second case at a place."""
    path = tmp_path / "a.review.json"
    state = ReviewState(
        {"target": str(tiny.bundle), "predictions": str(tiny.predictions)},
        hash="0123456789ab",
        name="tiny",
        case_id="D/1",
        region="one",
        view=SavedView((1.0, 2.0, 3.0), "coronal", 4.0),
    )
    write_state(path, state)
    return path


def test_a_saved_review_says_what_is_opened(asked: dict[str, Any], saved: Path, tiny: Any) -> None:
    assert main(["open", "--session", str(saved)]) == 0
    assert (asked["source"].target, asked["source"].model) == (str(tiny.bundle), tiny.predictions.name)
    assert (asked["case_id"], asked["region"], asked["split"]) == ("D/1", "one", "all")
    assert asked["state"].view == SavedView((1.0, 2.0, 3.0), "coronal", 4.0)


def test_what_is_given_beside_it_wins(asked: dict[str, Any], saved: Path, tiny: Any) -> None:
    assert main(["open", "--session", str(saved), "--case", "D/0", "--model-name", "other", "--position=-1,2,3"]) == 0
    assert (asked["case_id"], asked["source"].model) == ("D/0", "other")
    assert asked["state"].view == SavedView((1.0, -2.0, 3.0), "axial")


def test_another_case_does_not_open_at_the_place_of_the_saved_one(asked: dict[str, Any], saved: Path) -> None:
    assert main(["open", "--session", str(saved), "--case", "D/0"]) == 0
    assert asked["state"].view is None


def test_a_second_model_comes_back_too(asked: dict[str, Any], saved: Path, tiny: Any, tmp_path: Path) -> None:
    shutil.copytree(tiny.predictions, tmp_path / "other")
    told = json.loads(saved.read_text())
    saved.write_text(json.dumps({**told, "source": {**told["source"], "second": "other", "second_name": "B"}}))
    assert main(["open", "--session", str(saved)]) == 0
    assert asked["second"].model == "B"
    assert opened_as(asked["second"])["second"] == tmp_path / "other"
    assert "second" not in opened_as(asked["source"])


def test_another_hash_is_refused_unless_forced(asked: dict[str, Any], saved: Path, capsys: Any) -> None:
    saved.write_text(json.dumps({**json.loads(saved.read_text()), "hash": "fedcba987654"}))
    assert main(["open", "--session", str(saved)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert all(word in line for word in ("fedcba987654", "0123456789ab", "--force-session"))
    assert not asked
    assert main(["open", "--session", str(saved), "--force-session"]) == 0
    assert "fedcba987654" in capsys.readouterr().err
    assert asked["case_id"] == "D/1"


def test_what_has_gone_is_named(asked: dict[str, Any], saved: Path, tiny: Any, capsys: Any) -> None:
    tiny.predictions.rename(tiny.predictions.with_name("elsewhere"))
    assert main(["open", "--session", str(saved)]) == 1
    assert str(tiny.predictions) in capsys.readouterr().err
    elsewhere = str(tiny.predictions.with_name("elsewhere"))
    assert main(["open", "--session", str(saved), "--predictions", elsewhere]) == 0
    assert asked["source"].model == "elsewhere"


def test_a_position_is_lps(asked: dict[str, Any], tiny: Any) -> None:
    arguments = ["open", str(tiny.bundle), "--case", "D/1", "--position=-12.5,33,88", "--plane", "sagittal"]
    assert main(arguments) == 0
    assert asked["view"] == SavedView((12.5, -33.0, 88.0), "sagittal")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--position=1,2"], "X,Y,Z"),
        (["--plane", "sagittal"], "--position"),
        (["--force-session"], "--session"),
        (["--predictor", "nothing"], "PKG.MOD:OBJ"),
    ],
)
def test_what_makes_no_sense_is_usage(
    asked: dict[str, Any], tiny: Any, capsys: Any, words: list[str], said: str
) -> None:
    assert main(["open", str(tiny.bundle), *words]) == 2
    assert said in capsys.readouterr().err
    assert not asked


def test_a_position_without_cases_is_usage(asked: dict[str, Any], capsys: Any) -> None:
    assert main(["open", "--position=1,2,3"]) == 2
    assert "TARGET" in capsys.readouterr().err


class TestPredictor:
    @pytest.fixture
    def module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
        """Function that writes the module ``open_unet`` into the current folder."""
        monkeypatch.chdir(tmp_path)

        def write(text: str) -> None:
            (tmp_path / "open_unet.py").write_text(text)

        yield write
        sys.modules.pop("open_unet", None)

    def test_is_imported_and_handed_over_by_its_name(
        self, asked: dict[str, Any], tiny: Any, module: Callable[[str], None]
    ) -> None:
        module("def unet(image, spacing):\n    return image\n")
        assert main(["open", str(tiny.bundle), "--predictor", "open_unet:unet"]) == 0
        model, name = asked["predictor"]
        assert (model.__name__, name) == ("unet", "open_unet:unet")

    def test_that_fails_is_one_line(
        self, asked: dict[str, Any], tiny: Any, module: Callable[[str], None], capsys: Any
    ) -> None:
        module("raise OSError('no weights here')\n")
        assert main(["open", str(tiny.bundle), "--predictor", "open_unet:unet"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "OSError: no weights here (open_unet.py, line 1)" in line

    def test_that_a_bundle_names_is_never_imported(
        self, asked: dict[str, Any], tiny: Any, module: Callable[[str], None]
    ) -> None:
        module("raise AssertionError('it was imported')\n")
        manifest = tiny.bundle / "manifest_test.json"
        told = {**json.loads(manifest.read_text()), "predictor": "open_unet:unet"}
        manifest.write_text(json.dumps(told))
        task = tiny.bundle / "task.yaml"
        task.write_text(task.read_text() + "\npredictor: open_unet:unet\n")
        assert main(["open", str(tiny.bundle)]) == 0
        assert asked["predictor"] is None
        assert "open_unet" not in sys.modules
