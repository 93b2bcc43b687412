"""What a person changes of a prediction: contours and points step by step, nothing of it in the case that was read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.scoring.vertebra_points import landmarks_of, with_landmarks
from medotter_viewer.session.working_copy import WorkingCopy

SQUARE = np.array([(0.0, 0.0), (10, 0), (10, 10), (0, 10)])
FAR = SQUARE + 100
GRID = Grid((4, 1, 1), np.diag([2.0, 2, 2, 1]))


def scan() -> Case:
    return Case(CaseEntry("S"), pred_contours=ScanContours({7: [SQUARE, FAR], 9: [SQUARE]}))


def spine() -> Case:
    labels = LabelMap(np.array([19, 20, 0, 20], dtype=np.uint8).reshape(4, 1, 1), GRID)
    gt = Landmarks({20: (0, 0, 0), 21: (0, 0, -30)})
    return Case(
        CaseEntry("V"), gt_landmarks=gt, pred=labels, pred_landmarks=Landmarks({19: (1, 0, 0), 20: (1, 0, -30)})
    )


class TestContours:
    def test_only_the_ring_that_was_moved_is_edited(self) -> None:
        work = WorkingCopy(scan())
        assert not work.is_edited
        work.set_rings(7, [SQUARE + 1, FAR])
        assert work.contours is not None
        assert work.contours.origins[7] == ("edited", "imported")
        assert work.contours.origins_of(9) == ("imported",)
        np.testing.assert_array_equal(work.current().pred_contours.rings[7][0], SQUARE + 1)  # type: ignore[union-attr]
        np.testing.assert_array_equal(work.case.pred_contours.rings[7][0], SQUARE)  # type: ignore[union-attr]

    def test_one_drag_is_one_step_of_undo(self) -> None:
        work = WorkingCopy(scan())
        work.set_rings(7, [SQUARE + 1, FAR])
        for by in (2, 3, 4):
            work.set_rings(7, [SQUARE + by, FAR], goes_on=True)
        assert work.undo()
        assert not work.is_edited
        assert work.current().pred_contours is work.case.pred_contours
        assert not work.undo()
        assert work.redo()
        np.testing.assert_array_equal(work.contours.rings[7][0], SQUARE + 4)  # type: ignore[union-attr]

    def test_an_emptied_slice_has_no_rings(self) -> None:
        work = WorkingCopy(scan())
        work.set_rings(9, [])
        assert list(work.current().pred_contours.rings) == [7]  # type: ignore[union-attr]

    def test_a_scan_without_prediction_can_be_drawn_on(self) -> None:
        work = WorkingCopy(Case(CaseEntry("S")))
        work.set_rings(3, [SQUARE])
        assert work.contours is not None
        assert work.contours.origins == {3: ("edited",)}

    def test_edits_are_there_again_with_their_history(self) -> None:
        first = WorkingCopy(scan())
        first.set_rings(7, [SQUARE])
        again = WorkingCopy(scan(), first.kept())
        assert again.is_edited
        assert len(again.contours.rings[7]) == 1  # type: ignore[union-attr]
        assert again.undo()
        assert len(again.contours.rings[7]) == 2  # type: ignore[union-attr]

    def test_what_is_undone_after_coming_back_is_not_edited(self) -> None:
        first = WorkingCopy(scan())
        first.set_rings(7, [SQUARE])
        again = WorkingCopy(scan(), first.kept())
        assert again.undo()
        assert not again.is_edited
        assert again.kept() is None

    def test_a_drag_that_ends_where_it_began_is_no_edit(self) -> None:
        work = WorkingCopy(scan())
        work.set_rings(9, [SQUARE + 5])
        work.set_rings(7, [SQUARE + 1, FAR])
        work.set_rings(7, [SQUARE.copy(), FAR], goes_on=True)
        work.set_rings(7, [SQUARE + 2, FAR], goes_on=True)  # the mouse is still down
        work.set_rings(7, [SQUARE, FAR], goes_on=True)
        assert work.contours.origins_of(7) == ("imported", "imported")  # type: ignore[union-attr]
        assert work.undo()
        assert not work.is_edited
        assert not work.undo()


class TestPoints:
    def test_a_moved_point_is_noted_and_taken_back(self) -> None:
        work = WorkingCopy(spine())
        work.move_points({20: (5, 0, -30)})
        assert work.landmarks is not None
        assert (work.landmarks.points_world[20], work.landmarks.edited) == ((5, 0, -30), {20})
        work.move_points({19: None})
        assert set(work.landmarks.points_world) == {20}
        assert work.undo()
        assert work.undo()
        assert not work.is_edited

    def test_a_level_shift_moves_points_and_label_map_and_ends(self) -> None:
        work = WorkingCopy(spine())
        work.set_level_shift(1)
        now = work.current()
        assert now.pred_landmarks is not None
        assert now.pred is not None
        assert dict(now.pred_landmarks.points_world) == {20: (1, 0, 0), 21: (1, 0, -30)}
        assert now.pred.data.ravel().tolist() == [20, 21, 0, 21]
        assert work.pred_data is None  # nobody paints on a what-if
        assert work.is_edited
        work.set_level_shift(0)
        assert not work.is_edited
        assert work.current().pred_landmarks is work.case.pred_landmarks

    def test_a_what_if_is_left_out_where_it_is_not_wanted(self) -> None:
        work = WorkingCopy(spine())
        work.set_level_shift(1)
        assert work.frozen(what_if=False).pred.data.ravel().tolist() == [19, 20, 0, 20]  # type: ignore[union-attr]
        assert work.frozen().pred.data.ravel().tolist() == [20, 21, 0, 21]  # type: ignore[union-attr]

    def test_levels_are_those_of_what_is_there_after_edits(self) -> None:
        work = WorkingCopy(
            replace(spine(), pred_landmarks=Landmarks({19: (1, 0, 0), 28: (1, 0, -15), 20: (1, 0, -30)}))
        )
        work.set_level_shift(1)
        assert work.level_map() == {19: 28, 28: 20, 20: 21, 21: 22}
        work.move_points({28: None})
        assert work.level_map() == {19: 20, 20: 21, 21: 22}

    def test_points_of_a_mask_follow_it_until_one_is_moved(self) -> None:
        case = with_landmarks(replace(spine(), pred_landmarks=None))
        work = WorkingCopy(case)
        assert case.pred_landmarks is not None
        assert case.pred_landmarks.derived
        assert work.pred_data is not None
        work.pred_data[3] = 0
        work.note_painted()
        assert landmarks_of(work.current())[1].points_world[20] == (2.0, 0.0, 0.0)  # type: ignore[union-attr]
        work.move_points({19: (0, 0, 1)})
        work.pred_data[1] = 0
        work.note_painted()
        now = landmarks_of(work.current())[1]
        assert now is not None
        assert dict(now.points_world) == {19: (0, 0, 1), 20: (2.0, 0.0, 0.0)}

    def test_a_painted_label_map_is_frozen_for_the_worker(self) -> None:
        work = WorkingCopy(spine())
        assert work.pred_data is not None
        work.pred_data[0] = 7
        work.note_painted()
        frozen = work.frozen()
        work.pred_data[0] = 9
        assert frozen.pred is not None
        assert frozen.pred.data.ravel().tolist() == [7, 20, 0, 20]
        assert work.current().pred.data.ravel().tolist() == [9, 20, 0, 20]  # type: ignore[union-attr]
