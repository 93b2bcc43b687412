"""A second model's prediction beside the first: what it says of the open case, and what it scores on all.

It is looked at and scored by the same functions and rules; it is never edited, and no what-if is tried on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace

from psygnal import Signal, SignalGroup

from medotter_viewer.cache.scores import score_through_cache
from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import CaseNotFoundError, MedotterViewerError
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.vertebra_points import with_landmarks
from medotter_viewer.session.case_list import is_to_be_scored
from medotter_viewer.session.case_rows import CaseRows
from medotter_viewer.session.events import OpenedCase, SessionEvents
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.sources.other_predictions import is_predicted
from medotter_viewer.sources.second_predictions import with_predictions
from medotter_viewer.sources.source import CaseSource

_LOAD = "second"
_OF_GT = "ground truth: "  # what `load_case` begins such messages with
Arrive = Callable[[], None]


class SecondEvents(SignalGroup):
    """What happened to the second prediction; every signal is emitted on the main thread."""

    chosen = Signal()  # another model's, or none any more
    shown_changed = Signal()  # what it says of the open case is there, or why it is not
    score_changed = Signal()  # its numbers of the open case


class SecondPrediction:
    """The second model of a review.

    Parameters
    ----------
    source : CaseSource
        The cases, with the first model's predictions.
    spec : EvalSpec
        Their rules.
    options : ScoreOptions or None
        How cases are scored; None where they are only shown.
    jobs : Jobs
        Reads and scores in the background.
    review : SessionEvents
        Of the review: tells which case is open, and is told that rows changed.
    rows : CaseRows
        The list of cases, which shows the second model's values.
    on_error : callable
        Takes an error that is a defect.

    Attributes
    ----------
    events : SecondEvents
        What happened.
    source : CaseSource or None
        The same cases with the second model's predictions; None without a second model.
    case : Case or None
        What it says of the open case, without image and ground truth.
    score : CaseScore or None
        Its numbers of the open case; None while they are not known.
    message : str
        Why there is nothing to show, or no number; empty otherwise.
    scores : dict of str to CaseScore
        What is known so far, by case id.
    """

    def __init__(
        self,
        source: CaseSource,
        spec: EvalSpec,
        options: ScoreOptions | None,
        jobs: Jobs,
        review: SessionEvents,
        rows: CaseRows,
        on_error: Callable[[BaseException], None],
    ) -> None:
        self.events = SecondEvents()
        self.source: CaseSource | None = None
        self.case: Case | None = None
        self.score: CaseScore | None = None
        self.message = ""
        self.scores: dict[str, CaseScore] = {}
        self._first, self._spec, self._options = source, spec, options
        self._jobs, self._review, self._rows, self._on_defect = jobs, review, rows, on_error
        self._entries: dict[str, CaseEntry] = {}
        self._open: Case | None = None  # of the first model
        self._is_loading = self._is_scoring = False
        review.case_changed.connect(self._on_case_changed)

    # ---------------------------------------------------------------- which model

    @property
    def is_on(self) -> bool:
        """Whether there is a second model."""
        return self.source is not None

    @property
    def name(self) -> str:
        """What it is called; empty without one."""
        return "" if self.source is None else self.source.model or "second"

    @property
    def is_settled(self) -> bool:
        """Whether all that is to be known of the open case is known."""
        return not (self._is_loading or self._is_scoring)

    @property
    def is_scoring(self) -> bool:
        """Whether the open case is being scored."""
        return self._is_scoring

    def open_folder(self, folder: str | os.PathLike[str], name: str | None = None) -> None:
        """Lay another model's predictions beside the first.

        Raises
        ------
        UsageError
            As `with_predictions`; what was shown before stays.
        """
        self.show(with_predictions(self._first, folder, name))

    def show(self, source: CaseSource | None) -> None:
        """Take the second model's predictions from a source of the same cases, or (None) look at the first alone."""
        self._jobs.cancel(_LOAD)
        self.source = source
        self.scores, self._entries = {}, {}
        self._rows.set_second(None if source is None else self.scores)
        self._forget_case()
        self.events.chosen.emit()
        self._review.rows_changed.emit()
        self._follow()

    def close(self) -> None:
        """Look at the first model alone."""
        self.show(None)

    # ---------------------------------------------------------------- the list of cases

    def entry(self, case_id: str) -> CaseEntry:
        """Return what is known of the second model's files of a case; none of them is opened."""
        if case_id not in self._entries:
            try:
                found = None if self.source is None else self.source.entry(case_id)
            except CaseNotFoundError:
                found = None
            self._entries[case_id] = found or CaseEntry(case_id)
        return self._entries[case_id]

    def is_predicted(self, case_id: str) -> bool:
        """Tell whether the second model has a file for a case."""
        return is_predicted(self.entry(case_id))

    def unscored(self, case_ids: Iterable[str]) -> list[CaseEntry]:
        """Return those of some cases that have no numbers yet, in their order; none without a second model."""
        if self.source is None or self._options is None:
            return []
        return [self.entry(case_id) for case_id in case_ids if is_to_be_scored(self.scores.get(case_id))]

    def store(self, score: CaseScore) -> None:
        """Keep the numbers of a case; rows do not move."""
        if self.source is None:
            return
        self.scores[score.case_id] = score
        self._rows.renew(score.case_id)
        if self._open is not None and self._open.case_id == score.case_id:
            self._is_scoring = False
            self.score = score
            self.events.score_changed.emit()
        self._review.row_changed.emit(score.case_id)

    # ---------------------------------------------------------------- the open case

    def _on_case_changed(self, opened: OpenedCase) -> None:
        self._open = opened.case
        if self.source is not None:
            self._jobs.cancel(_LOAD)
            self._forget_case()
            self._follow()

    def _forget_case(self) -> None:
        self.case = self.score = None
        self.message, self._is_loading, self._is_scoring = "", False, False

    def _follow(self) -> None:
        """Read the second prediction of the open case, and score it unless that is done."""
        if self.source is None or self._open is None:
            self.events.shown_changed.emit()
            self.events.score_changed.emit()
            return
        case_id, source, spec, options = self._open.case_id, self.source, self._spec, self._options
        entry, known = self.entry(case_id), self.scores.get(case_id)
        if known is not None:
            self.score = known
        self._is_loading, self._is_scoring = True, known is None and options is not None
        self.events.shown_changed.emit()
        self.events.score_changed.emit()

        def work(report: Callable[[Arrive], None], is_stale: Callable[[], bool]) -> None:
            if is_stale():
                return
            case = source.load(case_id, images=False)
            if spec.is_vertebrae:
                case = with_landmarks(case)  # here and not where they are drawn: it takes a while
            report(lambda: self._on_loaded(case))
            if known is not None or options is None or is_stale():
                return
            score = score_through_cache(
                entry,
                spec,
                options,
                cache=FactCache(default_cache_path()),
                resample_prediction=source.resample_prediction,
            )
            report(lambda: self.store(score))

        self._jobs.start(_LOAD, work, lambda arrive: arrive(), self._on_error)

    def _on_loaded(self, case: Case) -> None:
        self._is_loading = False
        self.case = replace(case, channels={}, gt=None, gt_native=None)  # what the first model's case holds already
        if not is_predicted(case.entry):
            sought = case.entry.pred_sought
            self.message = "no prediction for this case" + (f", looked for {sought}" if sought else "")
        elif own := self._own_errors(case):
            self.message = "; ".join(own)
        self.events.shown_changed.emit()

    def _own_errors(self, case: Case) -> list[str]:
        """What is wrong with the second prediction; what is wrong with the case itself is said already."""
        said = {f.message for f in self._open.entry.findings} if self._open is not None else set()
        errors = [f.message for f in case.errors if f.message not in said and not f.message.startswith(_OF_GT)]
        return list(dict.fromkeys(message.removeprefix(f"case {case.case_id}: ") for message in errors))

    def _on_error(self, error: BaseException) -> None:
        self._is_loading = self._is_scoring = False
        if not isinstance(error, MedotterViewerError):
            self._on_defect(error)
            return
        self.message = str(error)
        self.events.shown_changed.emit()
        self.events.score_changed.emit()
