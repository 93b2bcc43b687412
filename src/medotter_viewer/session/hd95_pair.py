"""The two voxels between which the hd95 of the open case runs, found when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from psygnal import Signal, SignalGroup

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.scoring.hd95_pair import STILL_COMING, Hd95Pairs, hd95_pairs, pair_region
from medotter_viewer.session.jobs import Jobs

if TYPE_CHECKING:
    from medotter_viewer.session.review import ReviewSession


class Hd95Events(SignalGroup):
    """What happens to the pair; every signal is emitted on the main thread."""

    changed = Signal()  # it is on or off, or is another
    found = Signal(object)  # Hd95Pairs that a person asked for
    said = Signal(str)  # for the status line


class Hd95Pair:
    """Where the hd95 of the selected region, else of the headline's, comes from.

    It stays on while cases come and go, and follows edits once they settle.

    Parameters
    ----------
    session : ReviewSession
        Whose case.
    jobs : Jobs
        Works in the background: ``hd95_pair``.

    Attributes
    ----------
    events : Hd95Events
        What happened.
    is_on : bool
        Whether it is wanted.
    pairs : Hd95Pairs or None
        None while it is off, not known yet, or where there is none.
    """

    def __init__(self, session: ReviewSession, jobs: Jobs) -> None:
        self.events = Hd95Events()
        self.is_on = False
        self.pairs: Hd95Pairs | None = None
        self._session, self._jobs = session, jobs
        self._asked = False  # whether a person waits to be taken there
        self._of: tuple[CaseScore | None, str | None] = (None, None)  # what `pairs` is of
        events = session.events
        events.case_changed.connect(self._on_other)
        events.region_changed.connect(self._on_region_changed)
        events.scoring_changed.connect(self._on_scoring_changed)

    def show(self) -> None:
        """Find the pair and go there; say why where there is none."""
        self.is_on, self._asked = True, True
        self._find()

    def hide(self) -> None:
        """Take it away."""
        self._jobs.cancel("hd95_pair")
        self.is_on, self._asked, self.pairs, self._of = False, False, None, (None, None)
        self.events.changed.emit()

    # ---------------------------------------------------------------- what happened to the case

    def _on_other(self, _: object = None) -> None:
        self._jobs.cancel("hd95_pair")
        self.pairs, self._of, self._asked = None, (None, None), False
        if self.is_on:
            self.events.changed.emit()

    def _on_region_changed(self, _: object = None) -> None:
        if self.is_on:
            self._on_other()
            self._find()

    def _on_scoring_changed(self, scoring: bool) -> None:
        if self.is_on and not scoring:
            self._find()

    # ---------------------------------------------------------------- finding

    def _find(self) -> None:
        session = self._session
        spec, score = session.spec, session.score
        if session.working is None:
            return
        if self.pairs is not None and self._of[0] is score and self._of[1] == session.region:
            self._tell()
            return
        if "hd95" not in (session.options.metrics or ()):
            self._lack("hd95 is not computed for this task")
            return
        region, why = pair_region(score, spec, session.region)
        if region is None:
            self._lack(why)
            return
        case, name = session.frozen_case, region
        if case is None or case.gt is None or case.pred is None:
            self._lack("no hd95: a label map is missing")
            return

        def work(report: Callable[[Hd95Pairs], None], is_stale: Callable[[], bool]) -> None:
            if not is_stale():
                report(hd95_pairs(case, spec, name))

        of = score, session.region
        self._jobs.start("hd95_pair", work, lambda pairs: self._on_found(pairs, of), self._on_error)

    def _on_found(self, pairs: Hd95Pairs, of: tuple[CaseScore | None, str | None]) -> None:
        self.pairs, self._of = pairs, of
        self.events.changed.emit()
        self._tell()

    def _tell(self) -> None:
        asked, self._asked = self._asked, False
        if asked and self.pairs is not None:
            self.events.found.emit(self.pairs)

    def _lack(self, why: str) -> None:
        """There is none: said to who asked for it."""
        self._jobs.cancel("hd95_pair")
        self.pairs = None
        self.events.changed.emit()
        if self._asked:
            self.events.said.emit(why)
            self._asked = why.endswith(STILL_COMING)  # then the person is taken there as it arrives

    def _on_error(self, error: BaseException) -> None:
        if not isinstance(error, MedotterViewerError):
            raise error
        self._lack(f"no hd95: {error}")
