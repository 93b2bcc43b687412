"""Saving the open case's prediction as a file of its own, as it is painted: explicit, and never over a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from medotter_viewer.errors import WriteError
from medotter_viewer.export.label_file import ExportedLabels, export_labels
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.session.working_cases import WorkingCases

FILTER = "NIfTI label map (*.nii.gz *.nii)"
NO_LABEL_MAP = (
    "this prediction is no label map: contours are written under Export, points under Vertebrae (Save points as…)"
)


class Saving:
    """Writes the predicted label map of the open case.

    Parameters
    ----------
    session : ReviewSession
        Whose working copy.
    run_in_background : callable
        Takes work and a callable for its result.
    say : callable
        Says something in the status line.
    """

    def __init__(
        self, session: ReviewSession, run_in_background: Callable[..., None], say: Callable[..., None]
    ) -> None:
        self._session, self._run, self._say = session, run_in_background, say
        self._is_busy, self._asked = False, Path()

    def ask(self, parent: Any) -> None:
        """Ask for a name, and write."""
        from qtpy.QtWidgets import QFileDialog

        if (why := self.why_not()) is not None:
            self._say(why)
            return
        chosen, _ = QFileDialog.getSaveFileName(
            parent,
            "Save prediction as",
            str(self.proposal()),
            FILTER,
            options=QFileDialog.Option.DontConfirmOverwrite,  # a file that is there is never replaced: it is refused
        )
        if chosen:
            self.save_as(Path(chosen))

    def why_not(self) -> str | None:
        """Return why nothing can be saved now; None where it can."""
        working = self._session.working
        if working is None:
            return "no case is open"
        if working.case.pred is None:
            return NO_LABEL_MAP if (working.contours or working.landmarks) else "this case has no prediction"
        if working.level_shift:
            return "labels are moved as a what-if: set it back to 0 to save"
        return "the prediction is being saved" if self._is_busy else None

    def proposal(self) -> Path:
        """Return a name beside which nothing of the review lies: the case's, in the current folder."""
        case = self._session.case
        name = "prediction" if case is None else case.case_id.replace("/", "_")
        path, n = Path.cwd() / f"{name}_edited.nii.gz", 1
        while path.exists():
            n += 1
            path = path.with_name(f"{name}_edited_{n}.nii.gz")
        return path

    def save_as(self, path: Path) -> None:
        """Write the prediction as it is now; what comes of it is said in the status line."""
        working = self._session.working
        if (why := self.why_not()) is not None or working is None:
            self._say(why or "")
            return
        if not path.name.lower().endswith((".nii.gz", ".nii")):
            path = path.with_name(f"{path.name}.nii.gz")
        cases = self._session.edits.cases()  # also notes what was painted until now
        case, source, entries = working.frozen(), working.case, list(self._session.source.entries("all"))
        by = None if working.predicted is None else working.predicted.by
        self._is_busy, self._asked = True, path

        def work() -> ExportedLabels | WriteError:
            try:
                return export_labels(case, path, source=source, entries=entries, predicted_by=by)
            except WriteError as error:
                return error
            except Exception as error:  # noqa: BLE001 - a thread's error is seen by nobody, and saving must go on
                return WriteError(f"{path}: could not be saved: {error}")

        self._run(work, lambda outcome: self._on_written(outcome, case.case_id, cases))

    def _on_written(self, outcome: ExportedLabels | WriteError, case_id: str, cases: WorkingCases) -> None:
        self._is_busy = False
        if isinstance(outcome, WriteError):
            self._say(not_saved(str(outcome), self._asked), hold=True)
            return
        self._session.edits.note_written(cases, [case_id], outcome.path.name)
        self._session.events.edits_written.emit()
        n = outcome.changed_voxels
        self._say(f"{case_id}: saved as {outcome.path}, {n:,} voxel{'s' * (n != 1)} edited; its provenance beside it")


def not_saved(message: str, path: Path) -> str:
    """Return why nothing was saved, the reason before what is cut off: the file by its name alone.

    Examples
    --------
    >>> not_saved("/a/very/long/path/0001.nii.gz: is the prediction", Path("/a/very/long/path/0001.nii.gz"))
    'not saved: 0001.nii.gz: is the prediction'
    """
    return f"not saved: {message.replace(str(path), path.name)}"
