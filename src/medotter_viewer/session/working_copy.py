"""The prediction of an open case as it is changed by a person; the files stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.labels import IntArray, LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.vertebra_names import is_scored, moved_along_spine
from medotter_viewer.scoring.vertebra_points import landmarks_of

_MOST_STEPS = 200  # that can be undone


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What of a prediction is no array: contours and points. Never changed, only replaced."""

    contours: ScanContours | None
    landmarks: Landmarks | None


@dataclass(slots=True, eq=False)
class Edits:
    """What a person changed of a case that was left: enough to go on where they were.

    Parameters
    ----------
    pred_data : (i, j, k) ndarray of int, or None
        The painted label map; None where it is as the file says.
    drawn : Drawn
        Contours and points as they are.
    undo, redo : list of Drawn
        Earlier and later states of them.
    level_shift : int
        The what-if that was on.
    """

    pred_data: IntArray | None
    drawn: Drawn
    undo: list[Drawn] = field(default_factory=list)
    redo: list[Drawn] = field(default_factory=list)
    level_shift: int = 0


class WorkingCopy:
    """The prediction of one case that may be changed.

    Parameters
    ----------
    case : Case
        As its files say.
    edits : Edits, optional
        What was changed when the case was open before.

    Attributes
    ----------
    case : Case
        As its files say.
    level_shift : int
        A what-if: by how many levels towards the feet all predicted labels are moved; 0 is as they are.
    is_painted : bool
        Whether the label map differs from the file, as of the last `note_painted`.
    """

    def __init__(self, case: Case, edits: Edits | None = None) -> None:
        self.case = case
        self._from_file = Drawn(case.pred_contours, case.pred_landmarks)
        self._edits = edits or Edits(None, self._from_file)
        self._painted: IntArray | None = None
        if case.pred is not None:
            kept = self._edits.pred_data
            self._painted = case.pred.data.copy(order="K") if kept is None else kept
        self.is_painted = self._painted is not None and self._edits.pred_data is not None
        self._edits.pred_data = None
        self.level_shift = self._edits.level_shift
        self._relabelled: LabelMap | None = None

    @property
    def pred_data(self) -> IntArray | None:
        """The label map that may be painted on, file-axis order; None without one, and while a what-if is on."""
        return None if self.level_shift else self._painted

    @property
    def contours(self) -> ScanContours | None:
        """Predicted contours as they are now."""
        return self._edits.drawn.contours

    @property
    def landmarks(self) -> Landmarks | None:
        """Predicted points as they are now, without the what-if; None where there are none of their own."""
        return self._edits.drawn.landmarks

    @property
    def is_drawn(self) -> bool:
        """Whether contours or points are others than in the file."""
        return self._edits.drawn is not self._from_file

    @property
    def is_edited(self) -> bool:
        """Whether anything differs from the files, a what-if included."""
        return self.is_drawn or bool(self.level_shift) or self.is_painted

    def current(self) -> Case:
        """Return the case with the prediction as it is now; it shares the array that is painted on."""
        drawn = self._edits.drawn
        case = replace(self.case, pred_contours=drawn.contours, pred_landmarks=drawn.landmarks)
        if self._painted is not None and case.pred is not None:
            case = replace(case, pred=LabelMap(self._painted, case.pred.grid))
        return self._shifted(case) if self.level_shift else case

    def frozen(self) -> Case:
        """Return the same for a worker: it does not see what is painted later."""
        case = self.current()
        if self.level_shift or case.pred is None:
            return case
        if not self.is_painted:
            return replace(case, pred=self.case.pred)
        return replace(case, pred=LabelMap(case.pred.data.copy(order="K"), case.pred.grid))

    def kept(self) -> Edits | None:
        """Return what is to be kept when the case is left; None where nothing differs from the files."""
        self.note_painted()
        if not self.is_edited:
            return None
        return replace(self._edits, pred_data=self._painted if self.is_painted else None, level_shift=self.level_shift)

    # ---------------------------------------------------------------- changes

    def note_painted(self) -> None:
        """See whether the label map was painted on, or changed back."""
        pred = self.case.pred
        self.is_painted = (
            pred is not None and self._painted is not None and not np.array_equal(self._painted, pred.data)
        )

    def set_rings(self, number: int, rings: Sequence[Ring], *, goes_on: bool = False) -> None:
        """Replace the predicted rings of a slice; those that stay as they were keep who made them.

        Parameters
        ----------
        number : int
            Slice number.
        rings : sequence of (n, 2) ndarray
            x, y in mm LPS.
        goes_on : bool
            Whether it is part of the change before: one drag is one step of `undo`.
        """
        self._begin(goes_on)
        before = self.contours or ScanContours()
        self._draw(Drawn(before.with_slice(number, rings), self.landmarks))

    def move_point(self, label: int, point_world: Point | None, *, goes_on: bool = False) -> None:
        """Put the predicted point of a label elsewhere, mm RAS+; None takes it away.

        Points that were derived from the mask are taken over as they are: from then on they do not follow it.
        """
        self._begin(goes_on)
        own = self.landmarks or landmarks_of(replace(self.current(), pred_landmarks=None))[1] or Landmarks({})
        self._draw(Drawn(self.contours, own.with_point(label, point_world)))

    def undo(self) -> bool:
        """Take back the last change of contours or points; tell whether there was one."""
        return self._step(self._edits.undo, self._edits.redo)

    def redo(self) -> bool:
        """Do again what was taken back; tell whether there was anything."""
        return self._step(self._edits.redo, self._edits.undo)

    def set_level_shift(self, by: int) -> None:
        """Look at what would be if all predicted labels were moved; 0 ends it."""
        self.level_shift, self._relabelled = by, None

    # ---------------------------------------------------------------- inside

    def _begin(self, goes_on: bool) -> None:
        if goes_on and self._edits.undo:
            self._edits.drawn = self._edits.undo.pop()

    def _draw(self, drawn: Drawn) -> None:
        self._edits.undo.append(self._edits.drawn)
        del self._edits.undo[:-_MOST_STEPS]
        self._edits.redo.clear()
        self._edits.drawn = drawn

    def _step(self, from_: list[Drawn], to: list[Drawn]) -> bool:
        if not from_:
            return False
        to.append(self._edits.drawn)
        self._edits.drawn = from_.pop()
        return True

    def _shifted(self, case: Case) -> Case:
        """The case with all predicted labels moved along the spine; those that fall off its ends are left out."""
        gt, pred = landmarks_of(case)
        ids = set() if case.pred is None else set(map(int, np.unique(case.pred.data))) - {0}
        present = {*({} if gt is None else gt.points_world), *({} if pred is None else pred.points_world), *ids}
        moved = moved_along_spine(present, self.level_shift)
        if case.pred_landmarks is not None:
            own = case.pred_landmarks
            points = {moved[i]: p for i, p in own.points_world.items() if i in moved}
            case = replace(case, pred_landmarks=replace(own, points_world=points, edited=frozenset(points)))
        if case.pred is not None:
            if self._relabelled is None:
                table = {i: moved[i] for i in ids if i in moved} | {i: i for i in ids if not is_scored(i)}
                remap = Remap(table, "user", "labels moved along the spine")
                self._relabelled = LabelMap(remap.apply(case.pred.data), case.pred.grid)
            case = replace(case, pred=self._relabelled)
        return case
