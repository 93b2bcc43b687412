"""The prediction of an open case as it is changed by a person; the files stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.labels import IntArray, LabelMap, Remap, same_ids
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.vertebra_names import is_scored, moved_along_spine
from medotter_viewer.engine.remapping import remapped
from medotter_viewer.evaluation.predicted import Predicted
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.scoring.vertebra_points import CENTRE_OF_MASS, landmarks_of

_MOST_STEPS = 200  # that can be undone


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What of a prediction is no array: contours and points. Never changed, only replaced."""

    contours: ScanContours | None
    landmarks: Landmarks | None


@dataclass(frozen=True, slots=True, eq=False)
class Edits:
    """What a person changed of a case that was left: enough to go on where they were. Never changed again.

    Parameters
    ----------
    from_file : Drawn
        Contours and points of the file.
    pred_data : (i, j, k) ndarray of int, or None
        The painted label map; None where it is as the file says.
    drawn : Drawn
        Contours and points as they are.
    undo, redo : tuple of Drawn
        Earlier and later states of them.
    level_shift : int
        The what-if that was on.
    written_as : str or None
        File that holds all of it.
    predicted : Predicted or None
        What a model predicted here, in place of the prediction on file; what is painted is painted on it.
    """

    from_file: Drawn
    pred_data: IntArray | None
    drawn: Drawn
    undo: tuple[Drawn, ...] = ()
    redo: tuple[Drawn, ...] = ()
    level_shift: int = 0
    written_as: str | None = None
    predicted: Predicted | None = None


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
        As its files say, or with the prediction that a model made here.
    predicted : Predicted or None
        That prediction.
    level_shift : int
        A what-if: by how many levels towards the feet all predicted labels are moved; 0 is as they are.
    is_painted : bool
        Whether the label map differs from the file, as of the last `note_painted`.
    written_as : str or None
        File that holds the prediction as it is now, edits and all; None where there is none.
    """

    def __init__(self, case: Case, edits: Edits | None = None) -> None:
        self.predicted = None if edits is None else edits.predicted
        self.case = case = case if self.predicted is None else self.predicted.of(case)
        self._from_file = Drawn(case.pred_contours, case.pred_landmarks) if edits is None else edits.from_file
        self._drawn = self._from_file if edits is None else edits.drawn
        self._undo = [] if edits is None else list(edits.undo)
        self._redo = [] if edits is None else list(edits.redo)
        self._is_under_way = False  # whether the last step of undo may go on
        kept = None if edits is None else edits.pred_data
        self._painted: IntArray | None = None
        if case.pred is not None:
            self._painted = (case.pred.data if kept is None else kept).copy(order="K")
        self.is_painted = self._painted is not None and kept is not None
        self.level_shift = 0 if edits is None else edits.level_shift
        self.written_as = None if edits is None else edits.written_as
        self._ids: set[int] | None = None  # of the painted label map
        self._relabelled: LabelMap | None = None

    @property
    def pred_data(self) -> IntArray | None:
        """The label map that may be painted on, file-axis order; None without one, and while a what-if is on."""
        return None if self.level_shift else self._painted

    @property
    def drawn(self) -> Drawn:
        """Contours and points as they are now."""
        return self._drawn

    @property
    def contours(self) -> ScanContours | None:
        """Predicted contours as they are now."""
        return self._drawn.contours

    @property
    def landmarks(self) -> Landmarks | None:
        """Predicted points as they are now, without the what-if; None where they follow from the label map."""
        own = self._drawn.landmarks
        follows = own is not None and own is self._from_file.landmarks and own.source == CENTRE_OF_MASS
        return None if follows and self.is_painted else own

    @property
    def is_drawn(self) -> bool:
        """Whether contours or points are others than in the file."""
        return not _same(self._drawn, self._from_file)

    @property
    def is_edited(self) -> bool:
        """Whether anything differs from the files, a what-if and a prediction that was made here included."""
        return self.is_changed_by_hand or self.predicted is not None

    @property
    def is_changed_by_hand(self) -> bool:
        """Whether a person changed the prediction, wherever it comes from; a what-if included."""
        return self.is_drawn or bool(self.level_shift) or self.is_painted

    def current(self) -> Case:
        """Return the case with the prediction as it is now; it shares the array that is painted on."""
        case = self._unshifted()
        return self._shifted(case) if self.level_shift else case

    def frozen(self, *, what_if: bool = True) -> Case:
        """Return the same for a worker: it does not see what is painted later.

        Parameters
        ----------
        what_if : bool
            Whether labels are moved where they are moved on the screen.
        """
        if what_if and self.level_shift:
            return self.current()
        case = self._unshifted()
        if case.pred is None:
            return case
        if not self.is_painted:
            return replace(case, pred=self.case.pred)
        return replace(case, pred=LabelMap(case.pred.data.copy(order="K"), case.pred.grid))

    def level_map(self) -> dict[int, int]:
        """Return what each label of either side becomes by the what-if; without those that fall off the spine."""
        return moved_along_spine(self._labels_there(self._unshifted()), self.level_shift)

    def kept(self) -> Edits | None:
        """Return what is to be kept when the case is left; None where nothing differs from the files."""
        self.note_painted()
        if not self.is_edited:
            return None
        painted = self._painted if self.is_painted else None
        return Edits(
            self._from_file,
            painted,
            self._drawn,
            tuple(self._undo),
            tuple(self._redo),
            self.level_shift,
            self.written_as,
            self.predicted,
        )

    # ---------------------------------------------------------------- changes

    def note_painted(self) -> None:
        """See whether the label map was painted on, or changed back."""
        pred = self.case.pred
        self._ids = None
        self.is_painted = pred is not None and self._painted is not None and not same_ids(self._painted, pred.data)

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
        self._draw(Drawn(before.with_slice(number, rings), self._drawn.landmarks))

    def move_points(self, points_world: Mapping[int, Point | None], *, goes_on: bool = False) -> None:
        """Put the predicted points of labels elsewhere, mm RAS+; None takes one away.

        Points that were derived from the mask are taken over as they are: from then on they do not follow it.
        """
        self._begin(goes_on)
        own = self.landmarks or landmarks_of(self._unshifted())[1] or Landmarks({})
        for label, point in points_world.items():
            own = own.with_point(label, point)
        self._draw(Drawn(self.contours, own))

    def undo(self) -> bool:
        """Take back the last change of contours or points; tell whether there was one."""
        return self._step(self._undo, self._redo)

    def redo(self) -> bool:
        """Do again what was taken back; tell whether there was anything."""
        return self._step(self._redo, self._undo)

    def set_level_shift(self, by: int) -> None:
        """Look at what would be if all predicted labels were moved; 0 ends it."""
        self.note_painted()
        self.level_shift, self._relabelled, self.written_as = by, None, None

    # ---------------------------------------------------------------- inside

    def _begin(self, goes_on: bool) -> None:
        if goes_on and self._is_under_way:
            self._drawn, self.written_as = self._undo.pop(), None

    def _draw(self, drawn: Drawn) -> None:
        self._is_under_way = not _same(drawn, self._drawn)
        if self._is_under_way:
            self._undo.append(self._drawn)
            del self._undo[:-_MOST_STEPS]
            self._redo.clear()
            self._drawn, self.written_as = drawn, None

    def _step(self, from_: list[Drawn], to: list[Drawn]) -> bool:
        self._is_under_way = False
        if not from_:
            return False
        to.append(self._drawn)
        self._drawn, self.written_as = from_.pop(), None
        return True

    def _unshifted(self) -> Case:
        """The case as edited, without the what-if."""
        case = replace(self.case, pred_contours=self.contours, pred_landmarks=self.landmarks)
        if self._painted is not None and case.pred is not None:
            case = replace(case, pred=LabelMap(self._painted, case.pred.grid))
        return case

    def _labels_there(self, case: Case) -> set[int]:
        """Every label of either side, as a point or in the label map."""
        if self._ids is None:
            self._ids = set() if case.pred is None else set(label_voxels(case.pred.data)) - {0}
        sides = (case.gt_landmarks, case.pred_landmarks)
        return self._ids | {label for side in sides if side is not None for label in side.points_world}

    def _shifted(self, case: Case) -> Case:
        """The case with all predicted labels moved along the spine; those that fall off its ends are left out."""
        moved = moved_along_spine(self._labels_there(case), self.level_shift)
        own = case.pred_landmarks
        if own is not None:
            points = {moved[i]: p for i, p in own.points_world.items() if i in moved}
            case = replace(case, pred_landmarks=replace(own, points_world=points, edited=frozenset(points)))
        if case.pred is not None:
            if self._relabelled is None:
                ids = self._ids or set()
                table = {i: moved[i] for i in ids if i in moved} | {i: i for i in ids if not is_scored(i)}
                remap = Remap(table, "user", "labels moved along the spine")
                self._relabelled = LabelMap(remapped(remap, case.pred.data), case.pred.grid)
            case = replace(case, pred=self._relabelled)
        return case


def _same(one: Drawn, other: Drawn) -> bool:
    """Whether two states hold the same rings and points, made by the same."""
    if one is other:
        return True
    if (one.landmarks is None) != (other.landmarks is None) or (one.contours is None) != (other.contours is None):
        return False
    if one.landmarks is not None and other.landmarks is not None and one.landmarks is not other.landmarks:
        return dict(one.landmarks.points_world) == dict(other.landmarks.points_world) and _same_rings(one, other)
    return _same_rings(one, other)


def _same_rings(one: Drawn, other: Drawn) -> bool:
    a, b = one.contours, other.contours
    if a is b or a is None or b is None:
        return a is b
    return {n for n, r in a.rings.items() if len(r)} == {n for n, r in b.rings.items() if len(r)} and all(
        a.origins_of(number) == b.origins_of(number)
        and all(r is s or np.array_equal(r, s) for r, s in zip(rings, b.rings[number], strict=True))
        for number, rings in a.rings.items()
        if len(rings)
    )
