"""One review: which case is open, what is scored, what is selected. Widgets read it and call its methods."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import IntArray
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import CaseNotFoundError, MedotterViewerError
from medotter_viewer.evaluation.loss import Losses
from medotter_viewer.live.table import Voxels
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import ADAPTERS
from medotter_viewer.session.case_list import CaseRow
from medotter_viewer.session.case_rows import CaseRows
from medotter_viewer.session.edits import PredictionEdits
from medotter_viewer.session.error_walk import ErrorWalk
from medotter_viewer.session.events import OpenedCase, SessionEvents
from medotter_viewer.session.hd95_pair import Hd95Pair
from medotter_viewer.session.jobs import Deliver, Jobs
from medotter_viewer.session.live_scores import Arrived, LiveScores
from medotter_viewer.session.matches import Matches
from medotter_viewer.session.opening import Opening
from medotter_viewer.session.predicting import Predicting, Start
from medotter_viewer.session.read_ahead import CASES, MEGABYTES
from medotter_viewer.session.score_all import Round, ScoreAll
from medotter_viewer.session.second import SecondPrediction
from medotter_viewer.session.verdicts import ReviewVerdicts
from medotter_viewer.session.what_if import RemapWhatIf
from medotter_viewer.session.working_copy import WorkingCopy
from medotter_viewer.sources.source import CaseSource, Split


class ReviewSession:
    """State of one review.

    Parameters
    ----------
    source : CaseSource
        The cases.
    executor : Executor
        Threads that read and score.
    deliver : callable
        Runs a callable on the main thread.
    split : {"all", "test", "train"}
        Which cases are listed.
    hd95 : str
        Which hd95 is shown.
    read_ahead, read_ahead_mb : int
        How many cases are read before they are asked for, and how much memory these may take, in MiB.

    Attributes
    ----------
    events : SessionEvents
        What happened.
    opened : OpenedCase or None
        The open case.
    score : CaseScore or None
        Its scores, as far as they have arrived.
    region : str or None
        The region that is looked at alone; None shows all.
    native_shown : bool
        Whether ground truth is shown in the dataset's own ids.
    edits : PredictionEdits
        What a person changes of predictions.
    what_if : RemapWhatIf
        What if the label remap were another.
    errors : ErrorWalk
        The errors of the open case, to walk through.
    hd95_pair : Hd95Pair
        Where its hd95 comes from.
    predicting : Predicting or None
        Runs a model on the open case; None without one.
    matches : Matches
        What became of the objects of the open case, of instance tasks.
    verdicts : ReviewVerdicts
        What the reader says of the cases.
    second : SecondPrediction
        Another model's prediction beside the first.
    """

    def __init__(
        self,
        source: CaseSource,
        *,
        executor: Executor,
        deliver: Deliver,
        split: Split = "all",
        hd95: str = "directed_max",
        read_ahead: int = CASES,
        read_ahead_mb: int = MEGABYTES,
    ) -> None:
        self.events = SessionEvents()
        self.source = source
        self.spec: EvalSpec = source.spec
        adapter = ADAPTERS.get(self.spec.task_type)
        self.options = ScoreOptions(adapter.shown(self.spec) if adapter else None, hd95)  # type: ignore[arg-type]
        self.opened: OpenedCase | None = None
        self.score: CaseScore | None = None
        self.region: str | None = None
        self.native_shown = False
        self._jobs = Jobs(executor, deliver)
        self.verdicts = ReviewVerdicts(source)
        self._list = CaseRows(source.entries(split), self.spec, self.verdicts.verdict)
        self.verdicts.events.case_changed.connect(self._on_judged)
        self.verdicts.events.all_changed.connect(self._rearrange)
        self.edits = PredictionEdits(source, self.spec, self._on_drawn, self.rescore)
        overall = self.events.overall_changed.emit
        self.what_if = RemapWhatIf(source, hd95, self._jobs, self._on_what_if, overall, self._on_error)
        self._live = LiveScores(
            self._jobs, self.spec, self.options, self.what_if, self.events, self._on_scored, self._on_error
        )
        self.errors = ErrorWalk(self, self._jobs, self._live)
        self.hd95_pair = Hd95Pair(self, self._jobs)
        self._is_scoring = False
        self._opening = Opening(
            source,
            self.options,
            self.events,
            self._jobs,
            executor,
            self._on_opened,
            self._on_open_error,
            most_cases=read_ahead,
            most_bytes=read_ahead_mb << 20,
        )
        self.events.loading_started.connect(self._on_leaving)
        self._deliver, self.predicting = deliver, None  # type: tuple[Deliver, Predicting | None]
        self._batch = ScoreAll(self._jobs, source, self.events, self._rearrange, self._on_error)
        scored = self.options if self.can_score else None
        self.second = SecondPrediction(source, self.spec, scored, self._jobs, self.events, self._list, self._on_error)
        self.matches = Matches(self.events, self._jobs, self.spec, lambda: self.working, self._on_error)

    # ---------------------------------------------------------------- the list of cases

    @property
    def can_score(self) -> bool:
        """Whether an adapter handles the task type; otherwise cases are shown only."""
        return self.spec.task_type in ADAPTERS

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that the case list shows; none without ground truth."""
        return self._list.metrics

    @property
    def rows(self) -> list[CaseRow]:
        """The listed cases, filtered and sorted."""
        return self._list.shown

    @property
    def worst_first(self) -> str | None:
        """Metric that the list is sorted by, or None for the manifest's order."""
        return self._list.worst_first

    @property
    def losses(self) -> Losses:
        """What cases cost the headline."""
        return self._list.losses

    @property
    def n_cases(self) -> int:
        """How many cases there are, listed or not."""
        return len(self._list)

    def row(self, case_id: str) -> CaseRow:
        """Return the line of one case, listed or not."""
        return self._list.row(case_id)

    def set_filter(self, text: str) -> None:
        """List only the cases that match."""
        self._list.set_filter(text)
        self.events.rows_changed.emit()

    @property
    def filter(self) -> str:
        """What is typed into the filter."""
        return self._list.filter

    def sort_worst_first(self, metric: str | None) -> None:
        """Sort by a metric, or (None) as the manifest does."""
        self._list.sort_worst_first(metric)
        self.events.rows_changed.emit()

    def scores(self) -> dict[str, CaseScore]:
        """Return the scores so far, by case id."""
        return dict(self._list.scores)

    # ---------------------------------------------------------------- opening cases

    @property
    def case(self) -> Case | None:
        """The open case, as its files say."""
        return self.opened.case if self.opened else None

    @property
    def current_id(self) -> str | None:
        """The case that is open or being loaded."""
        return self._opening.loading or (self.opened.case.case_id if self.opened else None)

    def go_to(self, case_id: str) -> None:
        """Open a case in the background.

        Raises
        ------
        CaseNotFoundError
            If it is not one of this review's.
        """
        if case_id not in self._list:
            raise CaseNotFoundError(f"no case {case_id!r} in {self.source.target}")
        self._opening.start(case_id, self.region)

    def step(self, by: int) -> None:
        """Open the case `by` rows further in the list; at either end nothing happens but a notice."""
        if (case_id := self._list.beside(self.current_id, by)) is not None:
            self.go_to(case_id)
        elif self.rows:
            self.events.failed.emit("first case of the list" if by < 0 else "last case of the list")

    def _on_leaving(self, _: str) -> None:
        """Drop what is still computed for the case that is open."""
        if self.predicting is not None:
            self.predicting.forget()
        self._live.stop()

    def _on_opened(self, opened: OpenedCase) -> None:
        if said := self.edits.leave():
            self.events.failed.emit(said)
        self.opened = opened
        is_foreseen = self._live.take_up(opened, self.edits.take_up(opened.case))
        is_of_files = not self.edited and not self.what_if.is_on_for(opened.case)  # as the list's numbers are
        known = self._list.scores.get(opened.case.case_id) if is_of_files else None
        self.score = known
        self.events.case_changed.emit(opened)
        if not is_foreseen:
            self.events.scores_changed.emit(known)
        self.rescore()
        if not self._is_scoring:
            self._read_ahead()

    def _read_ahead(self) -> None:
        """Read the next cases of the list while this one is looked at: not before its numbers are there."""
        self._opening.read_ahead(self._list.after(self.current_id), self.region)

    # ---------------------------------------------------------------- scoring

    @property
    def working_case(self) -> Case | None:
        """The open case with the prediction as edited, under the remap that is tried."""
        return None if self.working is None else self._live.shown(self.working)

    @property
    def frozen_case(self) -> Case | None:
        """`working_case` with a prediction that nobody paints on."""
        case, working = self.working_case, self.working
        return None if case is None or working is None else replace(case, pred=working.frozen().pred)

    def rescore(self) -> None:
        """Score the open case as it stands, dice first; a newer call overtakes an older one."""
        if self.working is not None and self.can_score:
            self._set_scoring(True)
            self._live.score(self.working)

    def note_stroke(self, voxels: Voxels) -> None:
        """Count voxels of the open case's label map that may have been painted on; dice and iou follow at once.

        Parameters
        ----------
        voxels : tuple of ndarray of int
            Indices along each axis of the file.
        """
        if self.working is not None and self.can_score:
            self._live.painted(self.working, voxels)

    def _on_scored(self, arrived: Arrived) -> None:
        self.score = arrived.score
        if arrived.is_last and arrived.is_of_files:  # the list shows what the files say
            self._list.store(arrived.score)
            self._list.count_losses()
            self.events.row_changed.emit(arrived.score.case_id)
        if arrived.is_last or not self._is_scoring:
            self._set_scoring(not arrived.is_last)
        self.events.scores_changed.emit(arrived.score)

    def _set_scoring(self, scoring: bool) -> None:
        self._is_scoring = scoring
        if not scoring and self._opening.loading is None:
            self._read_ahead()
        self.events.scoring_changed.emit(scoring)

    def score_all(self) -> None:
        """Score every listed case in the background; `progress_changed` tells how far it is."""
        if self.can_score:
            second = Round(self.second.unscored(self._list.shown_ids), self.second.store)
            self._batch.start([Round(self._list.without_counts(), self._store), second], self.options)

    def cancel_score_all(self) -> None:
        """Stop scoring the list; what is done stays."""
        self._batch.cancel()

    def _store(self, score: CaseScore) -> None:
        self._list.store(score, with_counts=True)
        self.events.row_changed.emit(score.case_id)

    # ---------------------------------------------------------------- editing

    @property
    def working(self) -> WorkingCopy | None:
        """The open case's prediction as it is edited; the files stay as they are."""
        return self.edits.working

    @property
    def pred_data(self) -> IntArray | None:
        """The label map of the open case that may be painted on, file-axis order; never the file's own."""
        return None if self.working is None else self.working.pred_data

    @property
    def edited(self) -> bool:
        """Whether the open case's prediction differs from its files."""
        return self.edits.is_edited

    def use_predictor(self, model: Any, name: str, *, start: Start | None = None) -> None:
        """Let a model predict the open case when `predicting` is told to, see `Predicting`."""
        self.predicting = Predicting(
            model, name, self.source, deliver=self._deliver, take=self.edits.take_prediction, start=start
        )

    def _on_what_if(self) -> None:
        """Show and score the open case under another remap; what was painted counts too."""
        if self.working is not None:
            self.working.note_painted()
        self.events.what_if_changed.emit()
        self.events.overall_changed.emit()
        self.rescore()

    def _on_drawn(self) -> None:
        self.events.prediction_changed.emit()
        self.rescore()

    # ---------------------------------------------------------------- looking

    def select_region(self, region: str | None) -> None:
        """Look at one region alone, or at all."""
        self.spec.check_region(region)
        if region != self.region:
            self.region = region
            self.events.region_changed.emit(region)

    def show_native(self, shown: bool) -> None:
        """Show ground truth in the dataset's own ids, or after the remap."""
        if shown != self.native_shown:
            self.native_shown = shown
            self.events.native_shown_changed.emit(shown)

    def request_profile(self, axis: int) -> None:
        """Compute how wrong each slice along a displayed axis is, for the selected region; see `profile_changed`."""
        self._live.profile(self.working, self.region, axis)

    # ---------------------------------------------------------------- ends

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read or computed."""
        return self._jobs.is_idle and self._opening.is_idle

    def close(self) -> None:
        """Stop all work and wait for what runs; a model that predicts is left to itself."""
        if self.predicting is not None:
            self.predicting.forget()
        self._opening.forget()
        self._jobs.close()
        self.verdicts.close()

    def _on_open_error(self, error: BaseException) -> None:
        """Stay with the case that was open, and finish what its leaving had stopped."""
        try:
            self._on_error(error)
        finally:
            self.edits.note_painted()  # strokes had not settled when the other case was asked for; it scores, too

    def _on_error(self, error: BaseException) -> None:
        self._set_scoring(False)
        self.events.progress_changed.emit(0, 0)
        if not isinstance(error, MedotterViewerError):
            raise error
        self.events.failed.emit(str(error))

    def _on_judged(self, case_id: str) -> None:
        if case_id in self._list:
            self._list.renew(case_id)
            self.events.row_changed.emit(case_id)

    def _rearrange(self) -> None:
        self._list.rearrange()
        self.events.rows_changed.emit()
