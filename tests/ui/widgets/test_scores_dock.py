"""The score table: its words, and what clicks do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from qtpy.QtCore import Qt
from qtpy.QtGui import QColor
from qtpy.QtWidgets import QApplication

from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.ui.colors import label_color
from medotter_viewer.ui.widgets.scores import ScoresDock
from medotter_viewer.ui.widgets.scores_compared import ComparedTable
from medotter_viewer.ui.widgets.scores_model import ScoresModel
from medotter_viewer.ui.widgets.scores_rows import ScoreTable

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
RULES = {
    "dice": {"both_empty": 1.0, "gt_nonempty_pred_empty": 0.0},
    "hd95": {"both_empty": 0.0, "gt_nonempty_pred_empty": 373.13},
}
SPEC = EvalSpec(
    "seg",
    {"liver": (1,), "spleen": (2,), "gland": (3,)},
    ("dice", "hd95"),
    Headline("liver", "dice"),
    empty_structure=RULES,
)
OK = RegionScore({"dice": MetricValue(0.9066), "iou": MetricValue(0.8291), "hd95": MetricValue(3.0)}, 9452, 9452, 8569)
CAP = RegionScore(
    {
        "dice": MetricValue(0.0, "cap", "gt_nonempty_pred_empty"),
        "iou": MetricValue(0.0),
        "hd95": MetricValue(373.13, "cap", "gt_nonempty_pred_empty"),
    },
    100,
    0,
    0,
)
DIAGONAL = RegionScore({"hd95": MetricValue(441.5, "cap", "image_diagonal")}, 0, 7, 0)
NOT_LABELLED = RegionScore(dict.fromkeys(("dice", "iou", "hd95"), MetricValue(None, "not_labelled")))
ABSENT = RegionScore(
    {"dice": MetricValue(1.0, "absent", "both_empty"), "hd95": MetricValue(0.0, "absent", "both_empty")}, 0, 0, 0
)


def table(voxel_mm3=1.0, coming=False, **regions):
    score = CaseScore("A/x", "scored", regions=regions, voxel_volume_mm3=voxel_mm3)
    return ScoreTable(score, SPEC, coming=coming)


def texts(cells):
    return [cell.text for cell in cells]


def test_a_computed_region_shows_its_numbers_in_fixed_digits():
    cells = table(liver=OK).region_cells("liver")
    assert texts(cells) == ["liver", "0.907", "0.829", "3.00", "9,452", "883", "883", "9,452", "8,569", ""]
    assert cells[0].bold  # the headline region


def test_the_unit_is_that_of_the_largest_volume_and_stands_in_the_header():
    assert [c.header for c in table(liver=OK).columns()][3:6] == ["hd95\n[mm]", "gt\n[mm³]", "FP\n[mm³]"]
    large = table(voxel_mm3=27.0, liver=OK)
    assert large.columns()[4].header == "gt\n[cm³]"
    assert texts(large.region_cells("liver"))[4:6] == ["255.2", "23.8"]


def test_a_cap_is_never_a_bare_number():
    cells = table(spleen=CAP).region_cells("spleen")
    assert texts(cells)[:4] == ["spleen", "cap 0", "cap 0", "cap 373.13 (spec)"]  # dice's rule sets iou, too
    assert cells[-1].text == "empty pred"
    assert "2·TP / (gt + pred) = 0\ncounts as 0 by rule: eval_spec.yaml, empty_structure.dice" in cells[1].why
    assert "counts as 0, as dice does, by rule" in cells[2].why
    assert "empty_structure.hd95.gt_nonempty_pred_empty = 373.13" in cells[3].why


def test_a_cap_by_the_image_diagonal_says_so():
    cell = table(spleen=DIAGONAL).region_cells("spleen")[3]
    assert cell.text == "cap 441.5 (image diagonal)"
    assert "not in the ground truth, predicted" in cell.why
    assert "rule image_diagonal" in cell.why


def test_not_labelled_spans_the_row_and_absent_its_metrics():
    whole = table(gland=NOT_LABELLED).region_cells("gland")
    assert (whole[1].text, whole[1].span, {c.text for c in whole[1:]}) == ("not labelled", 9, {"not labelled"})
    both = table(gland=ABSENT).region_cells("gland")
    assert (both[1].text, both[1].span) == ("absent in both: counts as 1, 0 mm", 9)
    assert "2·TP / (gt + pred) = 0 / 0\ncounts as 1 by rule: eval_spec.yaml, empty_structure.dice.both_empty = 1" in (
        both[1].why
    )
    assert "no dice can be computed" not in both[1].why


def test_what_is_absent_in_both_is_seen_in_the_mean_that_it_lifts():
    cells = table(liver=OK, gland=ABSENT).mean_cells()
    assert (cells[1].text, cells[1].italic, cells[-1].text) == ("0.953", True, "mean of 2, 1 absent in both")
    assert (cells[2].text, cells[2].italic) == ("0.829", False)  # the gland has no iou here
    assert cells[1].why.splitlines() == [
        "dice: mean over the scored regions, 2 of 2",
        "(0.907 + 1.000) / 2 = 0.953",
        "of which 1 absent in both, gland: counts as 1 by rule: eval_spec.yaml, empty_structure.dice.both_empty = 1",
        "the others alone: 0.907",
    ]


def test_beside_a_second_model_what_is_absent_in_both_leaves_its_numbers_in_sight():
    first = CaseScore("A/x", "scored", regions={"gland": ABSENT}, voxel_volume_mm3=1.0)
    found = ComparedTable(first, SPEC, second=replace(first, regions={"gland": DIAGONAL}), second_name="b")
    cells = found.region_cells("gland")
    assert (cells[1].text, cells[1].span, cells[4].text) == ("absent in both", 3, "–")  # B has no dice here
    assert cells[-1].text == "absent in both: counts as 1, 0 mm"
    same = replace(found, second=first).region_cells("gland")
    assert (same[4].text, same[4].span) == ("absent", 1)


def test_a_value_that_the_specification_does_not_set_is_not_called_its_rule():
    silent = replace(SPEC, empty_structure={})
    found = ScoreTable(CaseScore("A/x", "scored", regions={"gland": ABSENT}, voxel_volume_mm3=1.0), silent)
    assert "counts as 1 by default (no empty_structure.dice.both_empty in eval_spec.yaml)" in (
        found.region_cells("gland")[1].why
    )


def test_a_union_has_the_colours_of_its_ids(session, qapp):
    session.go_to("A/one")
    session.spec.regions["both"] = (1, 2)
    model = ScoresModel(session, lambda _: None)
    one, two = (QColor.fromRgbF(*label_color(i)[:3]) for i in (1, 2))
    assert model._swatch("both") == [one, two]
    assert model._swatch("liver").alpha() == 0
    model.close_connections()
    del session.spec.regions["both"]


@pytest.mark.parametrize(
    ("rule", "text", "reason"),
    [
        ("not_placed", "not scored (contours not placed)", "none of its contours lies on the image"),
        ("no_pixel_centre", "not scored (no pixel centre inside)", "contours hold no pixel centre"),
        ("no_outline", "not scored (no outline)", "points or open lines alone"),
    ],
)
def test_a_region_that_is_drawn_without_a_voxel_is_not_called_empty(rule, text, reason):
    region = RegionScore(dict.fromkeys(("dice", "iou", "hd95"), MetricValue(None, "error", rule)), 0, 0, 0)
    found = table(liver=OK, spleen=region)
    cells = found.region_cells("spleen")
    assert (cells[1].text, cells[1].span, cells[1].tone, cells[-1].text) == (text, 3, "error", "")
    assert reason in cells[1].why
    assert "enters no mean" in cells[1].why
    assert found.mean_cells()[-1].text == "mean of 1, 1 not scored"


def test_the_first_row_is_the_mean_over_the_scored_regions():
    cells = table(liver=OK, spleen=CAP, gland=NOT_LABELLED).mean_cells()
    assert texts(cells) == ["all", "0.453", "0.415", "188.06", "", "", "", "", "", "mean of 2, 1 not labelled, 1 cap"]
    assert cells[3].italic
    assert "mean over the scored regions" in cells[0].why
    assert all("mean over the scored regions" in column.why for column in table(liver=OK).columns()[1:4])


def test_the_formula_is_told_with_the_figures_of_the_case():
    cells = table(liver=OK).region_cells("liver")
    assert cells[1].why.startswith("dice = 2·8569 / (9452 + 9452) = 0.907")
    assert cells[2].why.startswith("iou = 8569 / (9452 + 9452 − 8569) = 0.829")
    assert "larger of the two directed 95 % distances" in cells[3].why


def test_a_metric_that_is_still_to_come_is_shown_as_such():
    fast = RegionScore({"dice": MetricValue(0.5), "iou": MetricValue(1 / 3)}, 3, 3, 1)
    assert table(coming=True, liver=fast).region_cells("liver")[3].text == "…"
    assert table(coming=False, liver=fast).region_cells("liver")[3].text == "–"


@pytest.fixture
def dock(session, qtbot):
    dock = ScoresDock(session, lambda region: QColor("red") if region == "liver" else None)
    qtbot.addWidget(dock)
    dock.resize(420, 600)
    dock.show()
    yield dock
    dock.close_connections()


def test_the_model_aligns_numbers_right_and_words_left(session, qapp):
    session.go_to("A/one")
    model = ScoresModel(session, lambda _: None)
    role = Qt.ItemDataRole.TextAlignmentRole
    assert model.data(model.index(1, 1), role) == RIGHT
    assert model.data(model.index(1, 0), role) != RIGHT
    assert model.headerData(3, Qt.Orientation.Horizontal, role) == RIGHT
    model.close_connections()


def test_scores_come_by_themselves_when_a_case_opens(session, dock):
    session.go_to("A/one")
    assert texts(dock.model.cells(1)) == [
        "liver", "0.857", "0.750", "3.00", "288", "0", "72", "216", "216", "",
    ]  # fmt: skip
    assert dock.model.cells(2)[3].text == "cap 373.13 (spec)"
    assert dock.model.cells(1)[0].swatch == QColor("red")
    assert dock.header.text() == "fast vs gt · hd95: directed max, 95 %, 6-neighbour surface"


def test_a_not_labelled_region_is_one_wide_cell(session, dock, bundle):
    spec = (bundle / "bundle/task.yaml").read_text()
    assert "12: 3" in spec  # dataset A reaches the gland, dataset B does not
    session.go_to("A/one")
    assert dock.model.cells(3)[1].text == "absent in both: counts as 1, 1, 0 mm"
    assert dock.table.columnSpan(3, 1) == 9


def test_a_case_without_scores_says_why(session, dock):
    assert dock.message.text() == "No case is open. Click one in the case list."
    told = []
    session.events.loading_started.connect(lambda _: told.append(dock.message.text()))
    session.go_to("B/three")
    assert told == ["Opening B/three…"]
    assert dock.stack.currentWidget() is dock.message
    assert "no prediction found" in dock.message.text()
    assert dock.model.rowCount() == 0


def test_a_row_click_selects_the_region_and_tells_the_window(session, dock, qtbot):
    session.go_to("A/one")
    with qtbot.waitSignal(dock.region_activated) as told:
        place = dock.table.visualRect(dock.model.index(2, 0)).center()
        qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (told.args, session.region) == (["spleen"], "spleen")
    assert dock.plot.title == "spleen, per slice"
    dock.table.row_chosen.emit(0)
    assert session.region is None


def test_a_click_on_a_number_does_not_push_the_names_away(session, dock, qtbot):
    session.go_to("A/one")
    dock.resize(300, 600)
    bar = dock.table.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    right = dock.table.viewport().width() - 3
    place = dock.table.visualRect(dock.model.index(1, 0)).center()
    place.setX(right)  # a cell that is seen in part
    qtbot.mouseClick(dock.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.wait(QApplication.doubleClickInterval() + 200)  # Qt scrolls once no second click can follow
    assert bar.value() == 0
    for _ in range(9):
        qtbot.keyClick(dock.table, Qt.Key.Key_Right)
    assert bar.value() > 0  # the keys that move so still do


def test_a_region_selected_elsewhere_is_selected_in_the_table(session, dock):
    session.go_to("A/one")
    session.select_region("gland")
    assert dock.table.selected_row() == 3


def test_an_edit_is_named_and_its_profile_follows(session, dock):
    session.go_to("A/one")
    before = dock.plot.profile.error_mm2.sum()
    session.pred_data[:] = 0
    session.edits.note_painted()
    assert "edited, not saved" in dock.header.text()
    assert dock.plot.profile.error_mm2.sum() > before
    assert dock.model.cells(1)[3].text == "cap 373.13 (spec)"
    session.pred_data[:] = session.case.pred.data  # taken back
    session.edits.note_painted()
    assert dock.plot.profile.error_mm2.sum() == before


def test_nothing_is_computed_for_a_plot_that_nobody_sees(session, qtbot):
    dock = ScoresDock(session)
    qtbot.addWidget(dock)
    session.go_to("A/one")
    assert dock.plot.profile is None
    dock.show()
    assert dock.plot.profile is not None
    dock.close()


def test_the_plot_follows_the_axis_that_is_looked_at(session, dock):
    session.go_to("A/one")
    assert dock.plot.profile.gt.size == 6
    dock.set_position(2, 3)
    assert dock.plot.profile.gt.size == 8
    assert dock.plot.dice_axes.get_xlabel() == "slice (sagittal, right → left)"
