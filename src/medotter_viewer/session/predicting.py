"""Run a model on the open case when it is asked for, and take what it gives as the prediction. No Qt.

The model is foreign code: it runs in a thread of its own that nobody waits for, so that neither the next case nor the
end of the program does; what comes too late is dropped. Nothing is written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from psygnal import Signal, SignalGroup

from medotter_viewer.core.case import Case
from medotter_viewer.errors import MedotterViewerError, UsageError
from medotter_viewer.evaluation.predicted import Predicted, predicted, run_model
from medotter_viewer.session.jobs import Deliver
from medotter_viewer.sources.source import CaseSource

Start = Callable[[Callable[[], None]], None]
"""Runs a callable in a thread, soon."""


class PredictingEvents(SignalGroup):
    """What happened to a prediction that was asked for; every signal is emitted on the main thread."""

    started = Signal(str)  # case id
    step_changed = Signal(str)  # what is being done, in words
    ended = Signal(str)  # how it went, in words; empty when it was dropped


class Predicting:
    """Runs one model on one case at a time.

    Parameters
    ----------
    model : Predictor or callable
        What predicts.
    name : str
        What it is called.
    source : CaseSource
        Says by its task what is made of a prediction, and whether one on another grid is resampled.
    deliver : callable
        Runs a callable on the main thread.
    take : callable
        Takes the prediction and the case it is of, on the main thread.
    start : callable, optional
        Runs work in a thread; by default in one that ends with the program.

    Attributes
    ----------
    events : PredictingEvents
        What happened.
    name : str
        What the model is called.
    case_id : str or None
        The case that is being predicted.
    """

    def __init__(
        self,
        model: Any,
        name: str,
        source: CaseSource,
        *,
        deliver: Deliver,
        take: Callable[[Predicted, Case], None],
        start: Start | None = None,
    ) -> None:
        self.events = PredictingEvents()
        self.name = name
        self.case_id: str | None = None
        self._model, self._source, self._deliver, self._take = model, source, deliver, take
        self._start = start or _in_daemon_thread
        self._asked = 0

    @property
    def is_running(self) -> bool:
        """Whether somebody waits for a prediction."""
        return self.case_id is not None

    def start(self, case: Case | None) -> None:
        """Predict a case; a prediction that is still awaited is dropped.

        Raises
        ------
        UsageError
            If there is no case.
        """
        if case is None:
            raise UsageError("no case is open to be predicted")
        self._asked += 1
        asked, self.case_id = self._asked, case.case_id
        self.events.started.emit(case.case_id)
        self._start(lambda: self._run(case, asked))

    def cancel(self) -> None:
        """Drop a prediction that is awaited; the model's own code goes on to its end, and is not listened to."""
        if self.is_running:
            self._asked += 1
            self._end(f"{self.name}: cancelled; what it still gives is dropped")

    def forget(self) -> None:
        """The same, without a word: another case is opened, or the window closes."""
        if self.is_running:
            self._asked += 1
            self._end("")

    def _run(self, case: Case, asked: int) -> None:
        """In the thread: three steps, and between them a look whether anybody waits."""
        try:
            self._tell(asked, f"{self.name} predicts {case.case_id}")
            result = run_model(self._model, case, self.name)
            if asked != self._asked:
                return
            self._tell(asked, f"{self.name}: its prediction of {case.case_id} is checked")
            resample, vertebrae = self._source.resample_prediction, self._source.spec.is_vertebrae
            found = predicted(result, case, self.name, resample=resample, vertebrae=vertebrae)
        except MedotterViewerError as error:
            message = str(error)
            self._hand_over(asked, lambda: self._end(message))
            return
        except Exception as error:  # noqa: BLE001 - ours, not the model's: raised where defects are seen
            defect = error
            self._hand_over(asked, lambda: self._fail(defect))
            return
        self._hand_over(asked, lambda: self._arrive(found, case))

    def _arrive(self, found: Predicted, case: Case) -> None:
        try:
            self._take(found, case)
        except MedotterViewerError as error:
            self._end(str(error))
            return
        noticed = "".join(f"; {f.message}" for f in found.findings)
        self._end(f"{case.case_id}: predicted by {self.name}, in no file{noticed}")

    def _tell(self, asked: int, words: str) -> None:
        self._hand_over(asked, lambda: self.events.step_changed.emit(words))

    def _hand_over(self, asked: int, call: Callable[[], None]) -> None:
        self._deliver(lambda: call() if asked == self._asked else None)

    def _fail(self, defect: Exception) -> None:
        """A defect ends the waiting, too."""
        self._end("")
        raise defect

    def _end(self, words: str) -> None:
        self.case_id = None
        self.events.ended.emit(words)


def _in_daemon_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="medotter-viewer-predictor", daemon=True).start()
