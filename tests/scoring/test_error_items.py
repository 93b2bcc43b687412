"""The errors of a case by name: one line of voxels whose pieces, distances and what-ifs can be counted by eye."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.pieces import KindTotal
from medotter_viewer.scoring.error_items import (
    compared_ids,
    find_errors,
    measured,
    mended_voxels,
    same_pieces,
    why_no_errors,
    without_piece,
)
from medotter_viewer.scoring.registry import score_case

SPEC = EvalSpec("seg", {"liver": (1,), "spleen": (2,), "both": (1, 2)}, ("dice", "hd95"), Headline("liver", "dice"))
#      0123456789ab
GT = "111..22....."
PRED = "1...112..222"


def line(text: str) -> Any:
    """A line of voxels along the first of three axes."""
    return np.array([0 if c == "." else int(c) for c in text], dtype=np.uint8)[:, None, None]


def case(gt: Any, pred: Any, *, entry: CaseEntry | None = None, uneven: bool = False, **more: Any) -> Case:
    gt, pred = (line(side) if isinstance(side, str) else side for side in (gt, pred))
    grid = Grid(gt.shape, np.diag([2.0, 1.0, 1.0, 1.0]), is_uneven=uneven)
    return Case(entry or CaseEntry("A/1"), gt=LabelMap(gt, grid), pred=LabelMap(pred, grid), **more)


def told(found: Any) -> list[tuple[Any, ...]]:
    return [(i.kind, i.gt_name, i.pred_name, i.volume_mm3, i.piece.farthest_mm) for i in found.items]


def test_all_regions_have_pieces_of_one_id_on_each_side() -> None:
    found = measured(find_errors(case(GT, PRED), SPEC), SPEC)
    assert told(found) == [
        ("fp", "background", "spleen", 6.0, 10.0),  # 9, 10, 11: the last is 5 steps from the spleen's end at 6
        ("fn", "liver", "background", 4.0, 4.0),  # 1, 2: voxel 2 lies 2 steps from the predicted liver at 0 and at 4
        ("fp", "background", "liver", 2.0, 4.0),  # 4: 2 steps from the liver's end at 2
        ("wrong", "spleen", "liver", 2.0, 6.0),  # 5: 3 steps from it
    ]
    assert [i.piece.voxel[0] for i in found.items] == [10, 1, 4, 5]
    assert found.pieces.totals == {"fp": KindTotal(2, 4), "fn": KindTotal(1, 2), "wrong": KindTotal(1, 1)}


def test_a_region_alone_has_no_wrong_label_and_names_what_the_other_side_has() -> None:
    found = measured(find_errors(case(GT, PRED), SPEC, "liver"), SPEC)
    # 4 and 5 are one piece; as many of its voxels are background as spleen: of equals the lower id.
    assert told(found) == [
        ("fn", "liver", "background", 4.0, 4.0),
        ("fp", "background", "liver", 4.0, 6.0),
    ]
    found = find_errors(case("111..2222", "1...11222"), SPEC, "liver")
    assert [(i.kind, i.gt_name) for i in found.items] == [("fn", "liver"), ("fp", "background")]
    found = find_errors(case("11222", "11112"), SPEC, "liver")
    assert [(i.kind, i.gt_name, i.pred_name) for i in found.items] == [("fp", "spleen", "liver")]


def test_a_region_of_several_ids_is_one_mask() -> None:
    found = find_errors(case("1122..", "2211.2"), SPEC, "both")
    assert [(i.kind, i.pred_name, i.piece.voxels) for i in found.items] == [("fp", "spleen", 1)]


def test_what_the_other_side_lacks_has_no_distance_and_says_why() -> None:
    found = measured(find_errors(case("11..", "...2"), SPEC), SPEC)
    assert [(i.kind, i.piece.farthest_mm, i.why_no_distance) for i in found.items] == [
        ("fn", None, "no distance: the prediction has no liver at all"),
        ("fp", None, "no distance: the ground truth has no spleen at all"),
    ]


def test_across_uneven_slices_there_is_no_distance() -> None:
    found = measured(find_errors(case(GT, PRED, uneven=True), SPEC), SPEC)
    assert {i.piece.farthest_mm for i in found.items} == {None}
    assert all("unevenly" in i.why_no_distance for i in found.items)


def test_ids_of_regions_that_a_dataset_does_not_label_do_not_count() -> None:
    entry = CaseEntry("A/1", dataset="A", remap=Remap({5: 1}, "dict"))
    partial = EvalSpec("seg", SPEC.regions, ("dice",), SPEC.headline, partial_label=True)
    one = case(GT, PRED, entry=entry)
    assert compared_ids(one, partial, None) == (1,)
    assert [(i.kind, i.gt_name, i.pred_name) for i in find_errors(one, partial).items] == [
        ("fn", "liver", "background"),
        ("fp", "background", "liver"),
    ]
    assert "spleen is not labelled by this dataset" in why_no_errors(one, partial, "spleen")
    assert why_no_errors(one, partial, "liver") == ""


def test_a_case_that_cannot_be_compared_says_why() -> None:
    wrong = Finding("error", "grid-mismatch", "prediction lies elsewhere")
    assert "prediction lies elsewhere" in why_no_errors(case(GT, PRED, findings=(wrong,)), SPEC, None)
    assert why_no_errors(Case(CaseEntry("A/1"), gt=case(GT, PRED).gt), SPEC, None) == (
        "not compared: no label map of the prediction"
    )
    drawn = case(GT, PRED, unscorable={"liver": "not_placed"})
    assert "could not be placed" in why_no_errors(drawn, SPEC, "liver")
    assert why_no_errors(drawn, SPEC, None) == ""


def test_a_list_that_is_cut_keeps_the_totals() -> None:
    found = find_errors(case(GT, PRED), SPEC, limit=1)
    assert [i.kind for i in found.items] == ["fp"]
    assert found.n_left_out == 3
    assert sum(total.voxels for total in found.pieces.totals.values()) == 7


@pytest.mark.parametrize(
    ("place", "region", "mended"),
    [(0, None, "1...112....."), (1, None, "111.112..222"), (3, None, "1...122..222"), (1, "liver", "1.....2..222")],
)
def test_without_a_piece_invented_voxels_are_background_and_others_as_the_ground_truth(
    place: int, region: str | None, mended: str
) -> None:
    one = case(GT, PRED)
    found = find_errors(one, SPEC, region)
    after = without_piece(found, found.items[place])
    assert after.pred is not None
    assert after.pred.data.tolist() == line(mended).tolist()
    assert one.pred is not None
    assert one.pred.data.tolist() == line(PRED).tolist()


def test_scores_without_a_piece() -> None:
    found = find_errors(case(GT, PRED), SPEC)
    before, after = (score_case(c, SPEC) for c in (found.case, without_piece(found, found.items[0])))
    # spleen: one of 2 voxels is right, of 4 that are predicted; of 1 without the piece
    assert before.regions["spleen"].metrics["dice"].value == pytest.approx(2 / 6)
    assert after.regions["spleen"].metrics["dice"].value == pytest.approx(2 / 3)
    assert after.regions["liver"] == before.regions["liver"]


def test_ids_that_the_type_of_the_prediction_cannot_hold_are_mended_too() -> None:
    gt = line(GT).astype(np.uint16) * 200
    spec = EvalSpec("seg", {"a": (200,), "b": (400,)}, ("dice",), Headline("a", "dice"))
    found = find_errors(case(gt, np.zeros_like(line(GT))), spec)
    (b,) = (i for i in found.items if i.gt_name == "b")
    after = without_piece(found, b)
    assert after.pred is not None
    assert after.pred.data[5:7, 0, 0].tolist() == [400, 400]


def test_pieces_are_found_again_after_a_change() -> None:
    before = find_errors(case(GT, PRED), SPEC)
    # the spleen on the right is cut in two of which the right one is smaller, the liver's error is mended by half
    after = find_errors(case(GT, "11..112.22.2"), SPEC)
    assert [(i.kind, i.piece.box[0]) for i in after.items] == [
        ("fp", (8, 10)),
        ("fn", (2, 3)),
        ("fp", (4, 5)),
        ("wrong", (5, 6)),
        ("fp", (11, 12)),
    ]
    # 9..11 shares one voxel with 8..9 and one with 11: of equals the larger piece, which comes first
    assert same_pieces(before, after) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert same_pieces(after, before) == {0: 0, 1: 1, 2: 2, 3: 3}
    kept = after.in_order([3, 1])
    assert [i.place for i in kept.items] == [3, 1, 0, 2, 4]
    assert not kept.is_ranked
    assert kept.ranked().is_ranked


@given(
    hnp.arrays(np.uint8, (4, 3, 5), elements=st.integers(0, 3)),
    hnp.arrays(np.uint8, (4, 3, 5), elements=st.integers(0, 3)),
    st.sampled_from([None, "liver", "both"]),
)
def test_pieces_hold_every_wrong_voxel_once_and_their_sums_are_those_of_the_scores(
    gt: Any, pred: Any, region: str | None
) -> None:
    found = find_errors(case(gt, pred), SPEC, region, limit=10**6)
    seen = np.zeros(gt.shape, dtype=np.int64)
    for item in found.items:
        voxels, ids = mended_voxels(found, item)
        np.add.at(seen, voxels, 1)
        assert item.piece.voxels == len(ids)
        assert seen[item.piece.voxel] == 1
    if region is None:
        g, p = (np.where(np.isin(side, (1, 2)), side, 0) for side in (gt, pred))
    else:
        g, p = (np.isin(side, SPEC.regions[region]) for side in (gt, pred))
    assert (seen == (g != p)).all()
    if region is not None:
        overlap = overlap_table(gt, pred).region(SPEC.regions[region])
        sums = {kind: found.pieces.totals.get(kind, KindTotal()).voxels for kind in ("fp", "fn")}
        assert sums == {"fp": overlap.fp, "fn": overlap.fn}
