"""A model that is run on the open case: what it gets, what becomes of what it gives, and of what it throws."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.errors import PredictorError, UsageError
from medotter_viewer.evaluation.predictors import load_predictor, name_of
from medotter_viewer.session.review import ReviewSession

Work = Callable[[], None]


class Threads:
    """Threads that begin when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Work] = []

    def __call__(self, work: Work) -> None:
        self.waiting.append(work)

    def go(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


@pytest.fixture
def threads() -> Threads:
    return Threads()


@pytest.fixture
def predicting(new_session: Any, threads: Threads) -> Callable[..., ReviewSession]:
    """Function that makes a session with a model, and opens the case that has an image."""

    def make(model: Any, case_id: str = "A/good", **options: Any) -> ReviewSession:
        session = new_session(**options)
        session.use_predictor(model, "unet", start=threads)
        session.go_to(case_id)
        return session  # type: ignore[no-any-return]

    return make


def ones(image: Any, spacing: Any = None) -> Any:
    return (np.asarray(image) > 0).astype(np.int64)


def nothing(image: Any, spacing: Any = None) -> Any:
    return np.zeros(np.shape(image), dtype=np.uint8)


def words(session: ReviewSession) -> list[str]:
    """What is said when predictions end."""
    said: list[str] = []
    session.predicting.events.ended.connect(said.append)
    return said


def dice(session: ReviewSession) -> float | None:
    assert session.score is not None
    return session.score.regions["one"].metrics["dice"].value


class TestWhatItGives:
    def test_is_shown_and_scored_as_the_prediction_and_the_list_keeps_what_the_files_say(
        self, predicting: Any, threads: Threads, tiny: Any
    ) -> None:
        session = predicting(nothing)
        before = {path: path.read_bytes() for path in tiny.predictions.rglob("*.nii.gz")}
        assert dice(session) == 1.0
        said = words(session)
        session.predicting.start(session.case)
        threads.go()
        assert dice(session) == 0.0
        assert session.working_case.pred.data.sum() == 0
        assert session.case.pred.data.sum() == 64  # what the file says is kept
        assert session.row("A/good").score.regions["one"].metrics["dice"].value == 1.0
        assert said == ["A/good: predicted by unet, in no file"]
        assert session.edits.words == "predicted by unet, in no file"
        assert session.edits.unwritten_ids == ["A/good"]
        assert {path: path.read_bytes() for path in tiny.predictions.rglob("*.nii.gz")} == before

    def test_is_scored_where_there_was_no_prediction(self, predicting: Any, threads: Threads, tiny: Any) -> None:
        next(tiny.predictions.rglob("good.nii.gz")).unlink()
        session = predicting(ones)
        assert session.score.status == "missing_prediction"
        session.predicting.start(session.case)
        threads.go()
        assert session.score.status == "scored"
        assert dice(session) == 1.0
        assert session.pred_data.dtype == np.uint8

    def test_is_there_again_when_the_case_is_and_can_be_dropped(self, predicting: Any, threads: Threads) -> None:
        session = predicting(nothing)
        session.predicting.start(session.case)
        threads.go()
        session.go_to("A/bad")
        assert dice(session) == pytest.approx(64 / 96)
        session.go_to("A/good")
        assert dice(session) == 0.0
        session.edits.drop_prediction(session.case)
        assert dice(session) == 1.0
        assert not session.edited

    def test_may_be_painted_on(self, predicting: Any, threads: Threads) -> None:
        session = predicting(nothing)
        session.predicting.start(session.case)
        threads.go()
        session.pred_data[1:5, 1:5, 1:5] = 1
        session.edits.note_painted()
        assert dice(session) == 1.0
        assert session.edits.words == "predicted by unet and edited, in no file"

    def test_ids_outside_the_label_space_are_an_error_of_the_case_as_in_a_file(
        self, predicting: Any, threads: Threads, tiny: Any
    ) -> None:
        spec = tiny.bundle / "eval_spec.yaml"
        spec.write_text(spec.read_text() + "\nprediction_format: {label_space: [0, 1]}\n")
        session = predicting(lambda image, spacing: np.full(image.shape, 7))
        session.predicting.start(session.case)
        threads.go()
        assert session.score.status == "error"
        assert "7" in session.score.message

    @pytest.mark.parametrize(
        ("give", "said"),
        [
            (lambda image, spacing: np.zeros((2, 2, 2), int), r"unet.*shape \(2, 2, 2\), expected \(6, 6, 6\)"),
            (lambda image, spacing: np.full(image.shape, 0.5), "unet.*no ids"),
            (lambda image, spacing: np.full(image.shape, -1), "unet.*negative"),
            (lambda image, spacing: np.full(image.shape, np.nan), "unet.*no ids"),
            (lambda image, spacing: None, "unet"),
            (lambda image, spacing: "mask", "unet"),
            (lambda image, spacing: [[1], [1, 2]], "unet.*array"),
        ],
    )
    def test_what_is_no_prediction_is_said_and_the_old_one_stays(
        self, predicting: Any, threads: Threads, give: Any, said: str
    ) -> None:
        import re

        session = predicting(give)
        heard = words(session)
        session.predicting.start(session.case)
        threads.go()
        assert len(heard) == 1
        assert re.search(said, heard[0]), heard[0]
        assert dice(session) == 1.0
        assert not session.edited

    def test_an_array_that_the_model_goes_on_changing_is_copied(self, predicting: Any, threads: Threads) -> None:
        kept = np.zeros((6, 6, 6), np.uint8)
        session = predicting(lambda image, spacing: kept[:])
        session.predicting.start(session.case)
        threads.go()
        kept[:] = 1
        assert session.pred_data.sum() == 0


class TestWhatItGets:
    def test_is_the_image_in_file_order_and_the_spacing(self, predicting: Any, threads: Threads) -> None:
        got: list[Any] = []

        class Model:
            def predict(self, image: Any, spacing: Any = None) -> Any:
                got.append((image.copy(), spacing))
                return ones(image)

        session = predicting(Model())
        session.predicting.start(session.case)
        threads.go()
        ((image, spacing),) = got
        np.testing.assert_array_equal(image, session.case.channels["image"].data)
        assert spacing == (1.0, 1.0, 1.0)

    def test_without_an_image_it_is_not_asked(self, predicting: Any, threads: Threads) -> None:
        session = predicting(lambda *_: pytest.fail("it was"), "A/bad")
        heard = words(session)
        session.predicting.start(session.case)
        threads.go()
        assert "no image" in heard[0]


class TestWhatItThrows:
    def test_is_said_with_its_name_its_last_line_and_where(self, predicting: Any, threads: Threads) -> None:
        def model(image: Any, spacing: Any) -> Any:
            raise RuntimeError("CUDA is not there")

        session = predicting(model)
        heard = words(session)
        session.predicting.start(session.case)
        threads.go()
        assert heard[0].startswith(
            "unet failed on case A/good: RuntimeError: CUDA is not there (test_predicting.py, line "
        )
        assert not session.predicting.is_running

    @pytest.mark.parametrize("error", [SystemExit(3), MemoryError(), KeyError("x")])
    def test_never_ends_the_program(self, predicting: Any, threads: Threads, error: BaseException) -> None:
        def model(image: Any, spacing: Any) -> Any:
            raise error

        session = predicting(model)
        heard = words(session)
        session.predicting.start(session.case)
        threads.go()
        assert heard[0].startswith("unet failed on case A/good: ")

    def test_a_defect_of_ours_is_raised_and_nobody_waits_any_longer(
        self, predicting: Any, threads: Threads, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: Any, **__: Any) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr("medotter_viewer.session.predicting.predicted", broken)
        session = predicting(nothing)
        session.predicting.start(session.case)
        with pytest.raises(ZeroDivisionError):
            threads.go()
        assert not session.predicting.is_running


class TestThatComesTooLate:
    def test_after_a_cancel_is_dropped(self, predicting: Any, threads: Threads) -> None:
        session = predicting(nothing)
        heard = words(session)
        session.predicting.start(session.case)
        assert session.predicting.is_running
        session.predicting.cancel()
        assert heard == ["unet: cancelled; what it still gives is dropped"]
        threads.go()
        assert dice(session) == 1.0
        assert len(heard) == 1

    def test_for_a_case_that_was_left_is_dropped(self, predicting: Any, threads: Threads) -> None:
        session = predicting(nothing)
        session.predicting.start(session.case)
        session.go_to("B/ok")
        threads.go()
        assert dice(session) == pytest.approx(96 / 112)
        session.go_to("A/good")
        assert dice(session) == 1.0

    def test_a_window_that_closes_does_not_wait_for_it(self, new_session: Any) -> None:
        entered, may_end = threading.Event(), threading.Event()

        def model(image: Any, spacing: Any) -> Any:
            entered.set()
            may_end.wait(30)
            return nothing(image)

        session = new_session()
        session.use_predictor(model, "slow")
        session.go_to("A/good")
        session.predicting.start(session.case)
        assert entered.wait(10)
        session.close()
        may_end.set()


def test_edits_that_are_in_no_file_are_not_overwritten(predicting: Any, threads: Threads) -> None:
    session = predicting(nothing)
    session.pred_data[0, 0, 0] = 1
    session.edits.note_painted()
    heard = words(session)
    session.predicting.start(session.case)
    threads.go()
    assert "edited" in heard[0]
    assert session.pred_data[0, 0, 0] == 1


class TestNames:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder with modules, which is the current one."""
        (tmp_path / "my_unet.py").write_text(
            "class Nets:\n    @staticmethod\n    def small(image, spacing=None):\n        return image > 0\n"
            "class Unet:\n    name = 'the unet'\n    def predict(self, image, spacing=None):\n        return image\n"
            "unet = Unet()\nnumber = 3\n"
        )
        (tmp_path / "broken_unet.py").write_text("import json\nraise ValueError('no weights')\n")
        (tmp_path / "needs_unet.py").write_text("import surely_not_there_at_all\n")
        monkeypatch.chdir(tmp_path)
        for name in ("my_unet", "broken_unet", "needs_unet"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        yield tmp_path
        for name in ("my_unet", "broken_unet", "needs_unet"):
            sys.modules.pop(name, None)

    def test_a_module_of_the_current_folder_is_found_and_the_folder_is_forgotten(self, folder: Path) -> None:
        path = list(sys.path)
        assert name_of(load_predictor("my_unet:unet")) == "the unet"
        assert load_predictor("my_unet:Nets.small")(np.array([0, 1]), None).tolist() == [False, True]
        assert sys.path == path

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("unet", "registered"),
            (":unet", "PKG.MOD:OBJ"),
            ("my_unet:", "PKG.MOD:OBJ"),
            ("my_unet:none", "has no 'none'"),
            ("my_unet:number", "int"),
            ("my_unet:Unet", "the class Unet"),
            ("no_such_module:unet", "no module 'no_such_module'"),
            ("no_such_module.deep:unet", "no module 'no_such_module'"),
        ],
    )
    def test_what_nothing_has_is_said(self, folder: Path, name: str, said: str) -> None:
        with pytest.raises(UsageError, match=said):
            load_predictor(name)

    def test_code_that_fails_is_said_with_its_last_line(self, folder: Path) -> None:
        with pytest.raises(PredictorError, match=r"ValueError: no weights \(broken_unet.py, line 2\)"):
            load_predictor("broken_unet:unet")
        with pytest.raises(PredictorError, match="surely_not_there_at_all"):
            load_predictor("needs_unet:unet")
