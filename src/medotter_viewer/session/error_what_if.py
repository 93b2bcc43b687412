"""What the scores of the open case were without one of its errors. Nothing is changed by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.live.table import measure
from medotter_viewer.scoring.error_items import ErrorItem, ErrorItems, mended_voxels, without_piece
from medotter_viewer.session.jobs import Jobs
from medotter_viewer.session.live_scores import LiveScores

if TYPE_CHECKING:
    from medotter_viewer.session.review import ReviewSession

_JOB = "errors_without"


@dataclass(frozen=True, slots=True)
class Without:
    """Scores of the open case if one error were gone.

    Parameters
    ----------
    item : ErrorItem
        Which.
    score : CaseScore or None
        As far as they are known: dice first, hd95 as it arrives.
    is_complete : bool
        Whether nothing is missing.
    """

    item: ErrorItem
    score: CaseScore | None
    is_complete: bool


class ErrorWhatIf:
    """The what-if of one error at a time.

    Parameters
    ----------
    session : ReviewSession
        Whose case.
    jobs : Jobs
        Works in the background: ``errors_without``.
    live : LiveScores
        Counts what follows from tables.
    on_changed : callable
        Called when `now` is another.
    say : callable
        Takes words for the status line.

    Attributes
    ----------
    now : Without or None
        The what-if; None while it is off.
    """

    def __init__(
        self,
        session: ReviewSession,
        jobs: Jobs,
        live: LiveScores,
        on_changed: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self.now: Without | None = None
        self._session, self._jobs, self._live = session, jobs, live
        self._on_changed, self._say = on_changed, say

    def end(self) -> None:
        """Go back to the prediction as it is."""
        self._jobs.cancel(_JOB)
        if self.now is not None:
            self.now = None
            self._on_changed()

    def begin(self, found: ErrorItems, item: ErrorItem) -> None:
        """Score the case without one of its errors: at once what follows from its table, then the rest."""
        working = self._session.working
        if working is None:
            return
        spec, options, entry = self._session.spec, self._session.options, found.case.entry
        table = self._live.changed(working, *mended_voxels(found, item))
        missing: list[tuple[str, tuple[int, ...]]] = []
        score: CaseScore | None = None
        self._jobs.cancel(_JOB)
        if table is not None:
            score, missing = table.score(entry)
        self._set(item, score, is_complete=table is not None and not missing)
        if table is not None and not missing:
            return

        def work(report: Callable[[Callable[[], None]], None], is_stale: Callable[[], bool]) -> None:
            if is_stale():
                return
            case = without_piece(found, item)
            if table is None:
                for after, is_last in self._live.in_steps(case, is_stale):
                    report(partial(self._set, item, after, is_complete=is_last))
                return
            table.learn(measure(case, spec, options, missing), entry, table.version)
            after, left = table.score(entry)
            report(partial(self._set, item, after, is_complete=not left))

        self._jobs.start(_JOB, work, lambda arrive: arrive(), self._on_error)

    def _set(self, item: ErrorItem, score: CaseScore | None, *, is_complete: bool) -> None:
        self.now = Without(item, score, is_complete)
        self._on_changed()

    def _on_error(self, error: BaseException) -> None:
        self.end()
        if not isinstance(error, MedotterViewerError):
            raise error
        self._say(f"no what-if: {error}")
