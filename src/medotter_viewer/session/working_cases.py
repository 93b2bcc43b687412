"""The cases of a review as a person left them, for work in the background that takes a while."""

from __future__ import annotations

from collections.abc import Mapping

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import IntArray, same_ids
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.export.painted_rings import with_painted_rings
from medotter_viewer.session.working_copy import Drawn, Edits, WorkingCopy
from medotter_viewer.sources.source import CaseSource


class WorkingCases:
    """The predictions of all cases as they were at one moment: what is edited later is not seen.

    Parameters
    ----------
    source : CaseSource
        Where cases that nobody edited are read.
    spec : EvalSpec
        Gives the ids of regions.
    working : WorkingCopy or None
        Of the open case.
    edits : mapping of str to Edits
        Of cases that were edited and left.

    Attributes
    ----------
    what_ifs : frozenset of str
        Cases whose labels are moved on the screen: a what-if is no prediction, `load` leaves it out.
    """

    def __init__(
        self, source: CaseSource, spec: EvalSpec, working: WorkingCopy | None, edits: Mapping[str, Edits]
    ) -> None:
        self._source, self._spec = source, spec
        self._edits = dict(edits)
        self._open: tuple[Case, Case] | None = None
        self._drawn: Drawn | None = None
        self.what_ifs = frozenset(case_id for case_id, one in edits.items() if one.level_shift)
        if working is not None:
            working.note_painted()
            self._open = working.case, working.frozen(what_if=False)
            self._drawn = working.drawn
            self.what_ifs |= {working.case.case_id} if working.level_shift else set()

    @property
    def open_pred(self) -> IntArray | None:
        """The predicted label map of the case that was open, file-axis order; None without one."""
        pred = None if self._open is None else self._open[1].pred
        return None if pred is None else pred.data

    def is_still(self, now: WorkingCopy | Edits, case_id: str = "") -> bool:
        """Tell whether a case, open or (by its id) left, is as it was when this was made."""
        if isinstance(now, Edits):
            return self._edits.get(case_id) is now
        if self._open is None or self._open[0] is not now.case or self._drawn is not now.drawn or now.level_shift:
            return False
        then, shown = self._open[1].pred, now.current().pred  # not frozen: that would be a copy after each stroke
        return then is None or shown is None or same_ids(then.data, shown.data)

    def load(self, case_id: str, region: str) -> Case:
        """Return a case as it was edited, without its image unless it is open; callable from any thread.

        Rings that were traced from a painted label map stand in `pred_contours`, and say who made them.

        Raises
        ------
        CaseNotFoundError
            If there is none of that id.
        """
        if self._open is not None and self._open[0].case_id == case_id:
            from_file, case = self._open
        else:
            from_file = case = self._source.load(case_id, images=False)
            if case_id in self._edits:
                working = WorkingCopy(case, self._edits[case_id])
                from_file, case = working.case, working.frozen(what_if=False)
        return with_painted_rings(case, from_file.pred, region, self._spec)
