"""A table that follows strokes gives what counting anew gives, number for number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.live.table import LiveTable, can_be_live, count_slices, measure
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.slice_tables import slice_tables
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.scoring.slices import slice_profile

SHAPE = (5, 6, 4)
GRID = Grid(SHAPE, np.diag([1.0, 2.0, -3.0, 1.0]))
REMAP = Remap({5: 1, 6: 1, 7: 2, 8: 0}, "dict")
OTHER = Remap({5: 1, 6: 2, 7: 2}, "dict")
SPEC = EvalSpec.from_mapping(
    {
        "eval_regions": {"one": [1], "two": [2], "both": [1, 2], "three": [3]},
        "metrics": ["dice", "iou", "hd95", "hd"],
        "empty_structure": {"hd95": {"gt_nonempty_pred_empty": 80}},
    }
)
OPTIONS = ScoreOptions(("dice", "iou", "hd95", "hd"))


def case_of(gt: Any, pred: Any, remap: Remap = REMAP, order: str = "C") -> Case:
    gt, pred = (np.array(part, dtype=np.uint8, order=order) for part in (gt, pred))
    entry = CaseEntry("D/1", dataset="D", tier="easy", patient_uid="p", remap=remap)
    return Case(
        entry,
        gt_native=LabelMap(gt, GRID),
        gt=LabelMap(remap.apply(gt), GRID),
        pred=LabelMap(pred, GRID),
        findings=(Finding("info", "no-form-codes", "a remark", where="D/1"),),
    )


def blocks() -> tuple[Any, Any]:
    gt, pred = np.zeros(SHAPE, dtype=np.uint8), np.zeros(SHAPE, dtype=np.uint8)
    gt[1:4, 1:3, 1:3], gt[1:4, 3:5, 1:3], gt[0, 0, 0] = 5, 7, 8
    pred[1:4, 1:4, 1:3], pred[1:3, 4:6, 1:3] = 1, 2
    return gt, pred


def whole(live: LiveTable, pred: Any, remap: Remap = REMAP) -> Any:
    """Scores with all distances, measured where they are not known."""
    entry = live.case.entry if remap is REMAP else replace(live.case.entry, remap=remap)
    case = case_of(live.case.gt_native.data, pred, remap)
    score, missing = live.score(entry)
    live.learn(measure(case, SPEC, OPTIONS, missing), entry, live.version)
    score, missing = live.score(entry)
    assert missing == []
    return score


label_maps = st.lists(st.sampled_from([0, 5, 6, 7, 8, 9]), min_size=120, max_size=120)
predictions = st.lists(st.sampled_from([0, 1, 2, 3]), min_size=120, max_size=120)
stroke = st.tuples(
    st.lists(st.integers(0, 119), min_size=1, max_size=40), st.sampled_from([0, 1, 2, 3, 9]), st.booleans()
)


class TestStrokes:
    @settings(max_examples=25, deadline=None)
    @given(label_maps, predictions, st.lists(stroke, min_size=1, max_size=6), st.sampled_from("CF"))
    def test_any_strokes_and_undos_give_what_counting_anew_gives(
        self, gt: Any, pred: Any, strokes: Any, order: str
    ) -> None:
        gt, pred = (np.array(part, dtype=np.uint8).reshape(SHAPE) for part in (gt, pred))
        live = LiveTable(case_of(gt, pred, order=order), SPEC, OPTIONS)
        painted = pred.copy(order=order)
        axis = 0
        live.take_slices(axis, count_slices(live.case, axis), live.version)
        history = []
        for places, label, everywhere in strokes:
            voxels = np.unravel_index(places, SHAPE)
            history.append((voxels, painted[voxels].copy()))
            painted[voxels] = label
            live.follow(painted, None if everywhere else voxels)
            self.equal(live, gt, painted)
        for voxels, before in reversed(history):
            painted[voxels] = before
            live.follow(painted, voxels)
            self.equal(live, gt, painted)
        assert np.array_equal(painted, pred)
        assert np.array_equal(live.case.pred.data, pred)  # the case itself is not painted on

    def equal(self, live: LiveTable, gt: Any, painted: Any) -> None:
        fresh = overlap_table(gt, painted)
        assert live.table.gt_ids.tolist() == fresh.gt_ids.tolist()
        assert live.table.pred_ids.tolist() == fresh.pred_ids.tolist()
        assert live.table.counts.tolist() == fresh.counts.tolist()
        for remap in (REMAP, OTHER):
            case = case_of(gt, painted, remap)
            assert whole(live, painted, remap) == score_case(case, SPEC, OPTIONS)
            for region in (None, "one", "both"):
                expected = slice_profile(case, SPEC, region=region, axis=0)
                found = live.profile(0, region, case.entry)
                for part in ("gt", "pred", "both"):
                    assert getattr(found, part).tolist() == getattr(expected, part).tolist()
                assert found.pixel_area_mm2 == expected.pixel_area_mm2

    def test_a_voxel_that_is_named_twice_counts_once(self) -> None:
        gt, pred = blocks()
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        pred[0, 0, 1] = 1
        assert live.follow(pred, (np.array([0, 0]), np.array([0, 0]), np.array([1, 1])))
        assert live.table.counts.tolist() == overlap_table(gt, pred).counts.tolist()

    def test_nothing_changed_is_no_new_version(self) -> None:
        gt, pred = blocks()
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        assert not live.follow(pred.copy())
        assert not live.follow(pred.copy(), (np.array([0]), np.array([0]), np.array([1])))
        assert live.version == 0

    def test_a_stroke_nowhere_makes_it_keep_a_copy_of_what_was_counted(self) -> None:
        gt, pred = blocks()
        live = LiveTable(replace(case_of(gt, pred), pred=LabelMap(pred, Grid(SHAPE, np.eye(4)))), SPEC, OPTIONS)
        assert not live.follow(pred, (np.empty(0, dtype=np.intp),) * 3)
        assert live.version == 0
        pred[0, 0, 1] = 1  # in the very array that was counted
        assert live.follow(pred, (np.array([0]), np.array([0]), np.array([1])))
        assert live.table.counts.tolist() == overlap_table(gt, pred).counts.tolist()

    def test_by_hand(self) -> None:
        gt, pred = blocks()
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        one = live.score()[0].regions["one"]
        assert (one.gt_voxels, one.pred_voxels, one.intersection) == (12, 18, 12)
        assert one.metrics["dice"].value == 24 / 30
        pred[1:4, 3, 1:3] = 2  # what was wrong becomes right
        live.follow(pred, np.nonzero(np.ones(SHAPE)))
        regions = live.score()[0].regions
        assert regions["one"].metrics["dice"].value == 1.0
        assert regions["two"].metrics["dice"].value == 2 * 10 / (12 + 14)


class TestDistances:
    def test_they_are_missing_until_they_are_measured_and_only_changed_regions_miss_them_again(self) -> None:
        gt, pred = blocks()
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        score, missing = live.score()
        assert {ids for _, ids in missing} == {(1,), (2,), (1, 2)}
        assert list(score.regions["one"].metrics) == ["dice", "iou"]
        assert score.regions["three"].metrics["hd95"].status == "absent"
        whole(live, pred)
        pred[4, 5, 3] = 2
        live.follow(pred, (np.array([4]), np.array([5]), np.array([3])))
        assert {ids for _, ids in live.score()[1]} == {(2,), (1, 2)}
        pred[1, 1, 1] = 2  # from one to two: their union stays
        whole(live, pred)
        live.follow(pred)
        assert {ids for _, ids in live.score()[1]} == {(1,), (2,)}

    def test_what_was_measured_before_a_stroke_is_dropped_for_the_regions_it_changed(self) -> None:
        gt, pred = blocks()
        case = case_of(gt, pred)
        live = LiveTable(case, SPEC, OPTIONS)
        found, version = measure(case, SPEC, OPTIONS, live.score()[1]), live.version
        pred[4, 5, 3] = 2
        live.follow(pred)
        live.learn(found, case.entry, version)
        assert {ids for _, ids in live.score()[1]} == {(2,), (1, 2)}

    def test_a_remap_that_is_tried_and_left_finds_its_distances_again(self) -> None:
        gt, pred = blocks()
        gt[1, 1, 1] = 6
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        whole(live, pred)
        other = replace(live.case.entry, remap=OTHER)
        assert {ids for _, ids in live.score(other)[1]} == {(1,), (2,)}
        whole(live, pred, OTHER)
        assert live.score()[1] == live.score(other)[1] == []

    def test_slices_that_were_counted_before_a_stroke_are_not_taken(self) -> None:
        gt, pred = blocks()
        live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
        tables = count_slices(live.case, 2)
        pred[0, 0, 0] = 3
        live.follow(pred)
        assert not live.take_slices(2, tables, 0)
        assert not live.has_slices(2)


class TestWhoCan:
    def test_a_case_of_label_maps(self) -> None:
        assert can_be_live(case_of(*blocks()), SPEC)

    @pytest.mark.parametrize(
        "change",
        [
            {"pred": None},
            {"gt_native": None},
            {"gt": None},
            {"findings": (Finding("error", "grid-mismatch", "no"),)},
            {"regions": {"one": (2,), "two": (1,), "both": (1, 2), "three": (3,)}},
        ],
    )
    def test_not_what_is_scored_otherwise_or_not_at_all(self, change: Any) -> None:
        assert not can_be_live(replace(case_of(*blocks()), **change), SPEC)

    def test_not_objects_or_spines(self) -> None:
        for task in ("instance_seg_3d", "vertebra"):
            assert not can_be_live(case_of(*blocks()), replace(SPEC, task_type=task))

    def test_an_id_outside_the_label_space_is_the_error_it_always_is(self) -> None:
        spec = replace(SPEC, label_space=frozenset({0, 1}))
        case = case_of(*blocks())
        score, missing = LiveTable(case, spec, OPTIONS).score()
        assert score == score_case(case, spec, OPTIONS)
        assert (score.status, missing) == ("error", [])


def test_slices_that_get_a_new_id_count_as_fresh_ones() -> None:
    gt, pred = blocks()
    live = LiveTable(case_of(gt, pred), SPEC, OPTIONS)
    live.take_slices(0, count_slices(live.case, 0), 0)
    pred[2, 2, 2] = 200
    live.follow(pred, (np.array([2]), np.array([2]), np.array([2])))
    fresh = slice_tables(gt, pred, 2)
    live_tables = live._slices[2].tables
    assert live_tables.pred_ids.tolist() == fresh.pred_ids.tolist()
    assert live_tables.counts.tolist() == fresh.counts.tolist()
