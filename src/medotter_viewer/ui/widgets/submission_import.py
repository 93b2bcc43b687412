"""Opening another model's submission on the same scans: read first, in the background, and refused with reasons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.other_submission import submission_faults, with_submission
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.ui.widgets.latest import Background, Latest

_LISTED = 6  # reasons


class SubmissionImport:
    """Reads a submission and opens it; the review stays as it is where it cannot be used.

    Parameters
    ----------
    session : ReviewSession
        Whose scans.
    run_in_background : callable
        Reads the file.
    open_source : callable
        Takes the new source and the case to open on; the session is closed by it.
    say : callable
        Takes what is to be said, one line or more.
    """

    def __init__(
        self,
        session: ReviewSession,
        run_in_background: Background,
        open_source: Callable[[CaseSource, str], None],
        say: Callable[[str], None],
    ) -> None:
        self._session, self._open, self._say = session, open_source, say
        self._latest = Latest(run_in_background, self._on_read)
        self._path: Path | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a file waits for a second press, as there are edits that would be lost."""
        return self._path is not None

    def start(self, path: Path) -> None:
        """Open a submission, or say which edits would be lost and wait for `go_on`."""
        edited = self._session.edits.unwritten_ids
        if edited:
            self._path = path
            self._say(
                f"the edits of {', '.join(edited)} are in no file and would be lost: export them first, or press "
                "again to import anyway"
            )
            return
        self._read(path)

    def go_on(self) -> None:
        """Open what waits."""
        path, self._path = self._path, None
        if path is not None:
            self._read(path)

    def forget(self) -> None:
        """Open nothing that waits."""
        if self._path is not None:
            self._path = None
            self._say("")

    def _read(self, path: Path) -> None:
        source, case_id = self._session.source, self._session.current_id or self._session.source.case_ids()[0]
        self._say(f"reading {path.name} …")

        def work() -> tuple[CaseSource | None, str, list[str]]:
            try:
                found = with_submission(source, path)
                faults = submission_faults(found, case_id)
            except MedotterViewerError as error:
                return None, case_id, [str(error)]
            return found, case_id, [fault.message for fault in faults]

        self._latest.ask(lambda: work)

    def _on_read(self, answer: tuple[CaseSource | None, str, list[str]]) -> None:
        source, case_id, faults = answer
        if source is None or faults:
            more = [f"and {len(faults) - _LISTED} more"] if len(faults) > _LISTED else []
            self._say("\n".join(["not imported:", *faults[:_LISTED], *more]))
            return
        self._say("")
        self._open(source, case_id)
