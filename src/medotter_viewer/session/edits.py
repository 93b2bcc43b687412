"""What a person changes of predictions in one review: of the open case, and of those that were left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Ring
from medotter_viewer.core.landmarks import Point
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import UsageError
from medotter_viewer.evaluation.predicted import Predicted
from medotter_viewer.session.working_cases import WorkingCases
from medotter_viewer.session.working_copy import Drawn, Edits, WorkingCopy
from medotter_viewer.sources.source import CaseSource


class PredictionEdits:
    """The edits of a review.

    Parameters
    ----------
    source : CaseSource
        The cases.
    spec : EvalSpec
        Their specification.
    on_drawn : callable
        Called after contours, points or labels of the open case were changed.
    on_painted : callable
        Called after its label map was painted on.

    Attributes
    ----------
    working : WorkingCopy or None
        The open case's prediction as it is edited; the files stay as they are.
    """

    def __init__(
        self, source: CaseSource, spec: EvalSpec, on_drawn: Callable[[], None], on_painted: Callable[[], None]
    ) -> None:
        self.working: WorkingCopy | None = None
        self._source, self._spec = source, spec
        self._on_drawn, self._on_painted = on_drawn, on_painted
        self._left: dict[str, Edits] = {}
        self._saved: tuple[str, WorkingCases] | None = None  # file that holds the open case, and what is in it

    @property
    def is_edited(self) -> bool:
        """Whether the open case's prediction differs from its files."""
        return self.working is not None and self.working.is_edited

    @property
    def case_ids(self) -> list[str]:
        """Cases whose predictions were changed here; nothing of that is in a file."""
        return [*self._left, *([self.working.case.case_id] if self.working is not None and self.is_edited else [])]

    @property
    def unwritten_ids(self) -> list[str]:
        """Cases of those whose edits no file holds that was written here."""
        left = [case_id for case_id, one in self._left.items() if one.written_as is None]
        is_open = self.working is not None and self.is_edited and self.working.written_as is None
        return [*left, *([self.working.case.case_id] if self.working is not None and is_open else [])]

    @property
    def words(self) -> str:
        """What is to be said of the open case's edits; empty without any."""
        if self.working is None or not self.is_edited:
            return ""
        name, by = self.working.written_as, self.working.predicted
        if by is None:
            return f"edited, saved as {name}" if name else "edited, not saved"
        by_hand = " and edited" * self.working.is_changed_by_hand
        return f"predicted by {by.by}{by_hand}, " + (f"saved as {name}" if name else "in no file")

    def note_written(self, cases: WorkingCases, case_ids: Iterable[str], name: str) -> None:
        """Note that a file holds cases as they were in `cases`; what was edited since is still in no file."""
        for case_id in case_ids:
            if self.working is not None and self.working.case.case_id == case_id:
                self.working.note_painted()
                self._saved = name, cases
                self._see_file()
            elif case_id in self._left and cases.is_still(self._left[case_id], case_id):
                self._left[case_id] = replace(self._left[case_id], written_as=name)

    def take_up(self, case: Case) -> WorkingCopy:
        """Make a case the open one, as it was when it was left; return what may be changed of it."""
        self.working = WorkingCopy(case, self._left.pop(case.case_id, None))
        name = self.working.written_as
        self._saved = None if name is None else (name, self.cases())
        return self.working

    def leave(self) -> str:
        """Keep what was edited of the open case, so that it is there when it is opened again; return that in words.

        Empty where nothing was. To be called when the next case is there, not when it is asked for: a stroke in between
        counts too.
        """
        if self._saved is not None:
            self._see_file()
        kept = None if self.working is None else self.working.kept()
        if self.working is None or kept is None:
            return ""
        case_id = self.working.case.case_id
        self._left[case_id] = kept
        where = "; they are in no file" * (kept.written_as is None)
        return f"{case_id}: your edits are kept until the window closes{where}"

    def cases(self) -> WorkingCases:
        """Return all cases as they are edited now, to be read from any thread; later edits are not seen in it."""
        return WorkingCases(self._source, self._spec, self.working, self._left)

    def take_prediction(self, predicted: Predicted, case: Case) -> None:
        """Put what a model predicted in place of the open case's prediction; nothing is written.

        Parameters
        ----------
        predicted : Predicted
            What it predicted.
        case : Case
            The open case, as its files say.

        Raises
        ------
        UsageError
            If the prediction there is was edited and is in no file.
        """
        working = self.working
        if working is None or working.case.case_id != case.case_id:
            return
        working.note_painted()
        if working.is_changed_by_hand and working.written_as is None:
            raise UsageError(f"{case.case_id}: its prediction is edited and in no file: save it, or undo, first")
        self._begin_with(case, predicted)

    def drop_prediction(self, case: Case) -> bool:
        """Take the prediction on file again, in place of one that a model made here; tell whether there was one."""
        if self.working is None or self.working.predicted is None or self.working.case.case_id != case.case_id:
            return False
        self._begin_with(case, None)
        return True

    def _begin_with(self, case: Case, predicted: Predicted | None) -> None:
        before = Drawn(None, predicted.landmarks) if predicted else None
        edits = None if predicted is None or before is None else Edits(before, None, before, predicted=predicted)
        self.working = WorkingCopy(case, edits)
        self._on_drawn()

    # ---------------------------------------------------------------- changes of the open case

    def note_painted(self) -> None:
        """Note that the label map was painted on, or was changed back.

        Strokes are noted when they have settled: by then they may stand in a file.
        """
        self._see_file()
        self._on_painted()

    def _see_file(self) -> None:
        """See what was painted, and whether the file that was written holds the prediction as it is, or again."""
        working = self.working
        if working is not None:
            working.note_painted()
            if self._saved is not None:
                name, cases = self._saved
                working.written_as = name if cases.is_still(working) else None

    def set_rings(self, number: int, rings: Sequence[Ring], *, goes_on: bool = False) -> None:
        """Replace the predicted rings of a slice, see `WorkingCopy.set_rings`."""
        if self.working is not None:
            self.working.set_rings(number, rings, goes_on=goes_on)
            self._on_drawn()

    def move_points(self, points_world: Mapping[int, Point | None], *, goes_on: bool = False) -> None:
        """Put the predicted points of labels elsewhere, mm RAS+, or (None) take them away."""
        if self.working is not None:
            self.working.move_points(points_world, goes_on=goes_on)
            self._on_drawn()

    def set_level_shift(self, by: int) -> None:
        """Look at what would be if all predicted labels were `by` levels nearer to the feet; 0 ends the what-if."""
        if self.working is not None and by != self.working.level_shift:
            self.working.set_level_shift(by)
            self._see_file()
            self._on_drawn()

    def undo(self) -> bool:
        """Take back the last change of contours or points; tell whether there was one."""
        return self._stepped(self.working is not None and self.working.undo())

    def redo(self) -> bool:
        """Do again what was taken back; tell whether there was anything."""
        return self._stepped(self.working is not None and self.working.redo())

    def _stepped(self, done: bool) -> bool:
        if done:
            self._see_file()
            self._on_drawn()
        return done
