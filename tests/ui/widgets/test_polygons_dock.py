"""The polygon tables: their words and numbers by hand, and what clicks do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qtpy.QtCore import Qt
from scan_files import TARGET, box, write_png_scan

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ContourRules, ScanContours
from medotter_viewer.core.scans import ScanInputs, StructureNames
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source
from medotter_viewer.ui.widgets import polygons_rows as rows
from medotter_viewer.ui.widgets.polygon_facts import polygon_facts
from medotter_viewer.ui.widgets.polygons import PolygonsDock

SPEC = EvalSpec(
    "lung_contour", {TARGET: (1,)}, ("scan_score",), Headline("macro_avg", "scan_score"), contours=ContourRules()
)


def ring(*box_: float) -> Any:
    return np.array(box(*box_), dtype=float)


def scan(**changes: Any) -> Case:
    """Slices 3 and 4 of 2 mm: 20 x 10 mm of which half is found; a square that is found, with 1 x 10 mm too much."""
    gt = {3: [ring(0, 0, 20, 10)], 4: [ring(0, 0, 10)]}
    pred = {3: [ring(0, 0, 10, 10)], 4: [ring(0, 0, 11, 10)]}
    names = StructureNames({TARGET: ("GTV_Mass",)})
    structures = {
        "GTV_Mass": ScanContours({3: gt[3]}),
        TARGET: ScanContours({4: gt[4]}),
        "heart": ScanContours({n: [ring(50, 0, 30)] for n in (2, 3, 4)}),
        "lungs": ScanContours({}),
        "Marker": ScanContours({4: [ring(0, 0, 1)]}),
    }
    case = Case(
        CaseEntry("S", scan=ScanInputs(Path(), names=names)),
        gt_contours=ScanContours(gt),
        pred_contours=ScanContours(pred, {3: ("edited",)}),
        slice_thickness_mm=dict.fromkeys((2, 3, 4), 2.0),
        structures=structures,
        structure_numbers={name: i for i, name in enumerate(structures, 7)},
        seeds=((3, 15.0, 5.0), (4, 40.0, 5.0)),
    )
    return replace(case, **changes)


def texts(lines: Any) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in lines]


class TestNumbers:
    def test_score_and_what_it_is_made_of(self) -> None:
        facts = polygon_facts(scan(), SPEC)
        # TP (100 + 100) x 2, FP 10 x 2, FN 100 x 2; T 600, E = 200 * 600 / 400 + 20 = 320
        # A = (36 pi 600^2)^(1/3) = 344.0; score = exp(-(320 / 600 + 320 / 3440) / 2)
        lines = texts(rows.number_lines(facts.numbers, 10.0))
        area = (36 * np.pi * 600**2) ** (1 / 3)
        assert lines[0][:2] == ["scan score", f"{np.exp(-(320 / 600 + 320 / (10 * area)) / 2):.6f}"]
        assert lines[1] == ["T  target", "600.0", "mm³", "0.60"]
        assert [line[1] for line in lines[2:5]] == ["400.0", "20.0", "200.0"]
        assert lines[5] == ["E  error", "320.0", "mm³", "0.32"]
        assert lines[6][1:3] == [f"{area:.1f}", "mm²"]

    def test_without_overlap_the_rule_says_why_and_there_is_no_error_volume(self) -> None:
        facts = polygon_facts(scan(pred_contours=ScanContours({3: [ring(100, 0, 5)]})), SPEC)
        assert "score 0: prediction and target do not overlap" in rows.header_text(facts, ContourRules(), edited="")
        assert texts(rows.number_lines(facts.numbers, 10.0))[5] == ["E  error", "–", "", ""]

    def test_a_scan_without_target_or_prediction_says_so(self) -> None:
        empty = polygon_facts(scan(gt_contours=ScanContours()), SPEC)
        assert "score 0: the scan has no target" in rows.header_text(empty, ContourRules(), edited="")
        nothing = polygon_facts(scan(pred_contours=None), SPEC)
        assert "not scored: no prediction" in rows.header_text(nothing, ContourRules(), edited="")
        assert rows.origin_text(nothing) == "no predicted polygons"
        assert rows.number_lines(nothing.numbers, 10.0) == []

    def test_a_slice_without_thickness_is_a_reason_not_a_crash(self) -> None:
        facts = polygon_facts(scan(slice_thickness_mm={4: 2.0}), SPEC)
        assert facts.numbers is None
        assert "slice 3" in facts.why_not
        assert len(facts.seeds) == 2

    def test_target_names_that_are_merged_are_named_and_so_is_the_rule(self) -> None:
        text = rows.header_text(polygon_facts(scan(), SPEC), ContourRules(overlap="sum"), edited="edited, not saved")
        lines = text.split("\n")
        assert lines[0] == "target radiomics_gtv = GTV_Mass + radiomics_gtv (merged)"
        assert "added up" in lines[1]
        assert lines[-1] == "edited, not saved"


class TestTables:
    def test_slices_stand_by_error_volume_or_by_number(self) -> None:
        facts = polygon_facts(scan(), SPEC)
        worst = rows.slice_lines(facts, worst_first=True)
        assert texts(worst) == [
            ["3", "100.0", "0.0", "100.0", "2", "1 edited"],
            ["4", "100.0", "10.0", "0.0", "2", "1 imported"],
        ]
        better = scan(pred_contours=ScanContours({3: [ring(0, 0, 20, 10)], 4: [ring(0, 0, 11, 10)]}))
        by_error = rows.slice_lines(polygon_facts(better, SPEC), worst_first=True)
        by_number = rows.slice_lines(polygon_facts(better, SPEC), worst_first=False)
        assert [line[0] for line in texts(by_error)] == ["4", "3"]
        assert [line[0] for line in texts(by_number)] == ["3", "4"]

    def test_a_seed_outside_the_target_is_loud(self) -> None:
        facts = polygon_facts(scan(), SPEC)
        lines = rows.seed_lines(facts.seeds)
        assert texts(lines) == [
            ["3", "15.0", "5.0", "inside", "outside"],
            ["4", "40.0", "5.0", "OUTSIDE", "outside"],
        ]
        assert [line.cells[3].tone for line in lines] == ["plain", "error"]
        assert rows.alarm_text(facts) == "1 of 2 seeds lies outside the ground truth (slice 4): either is wrong"
        assert lines[1].place == (4, 40.0, 5.0)

    def test_a_seed_on_no_slice_says_so(self) -> None:
        facts = polygon_facts(scan(seeds=((99, 0.0, 0.0),)), SPEC)
        assert texts(rows.seed_lines(facts.seeds))[0][3] == "OUTSIDE: no such slice"

    def test_structures_have_numbers_types_and_how_far_they_can_be_trusted(self) -> None:
        lines = rows.structure_lines(polygon_facts(scan(), SPEC).structures)
        assert texts(lines) == [
            ["7", "● GTV_Mass", "radiomics_gtv", "manual and reviewed", "1"],
            ["8", "● radiomics_gtv", "same", "manual and reviewed", "1"],
            ["9", "heart", "same", "manual", "3"],
            ["10", "lungs", "same", "automatic", "0"],
            ["11", "Marker", "–", "–", "1"],
        ]
        assert lines[2].place == (3, 65.0, 15.0)
        assert lines[3].place is None

    def test_odd_rings_of_both_sides_are_listed_slice_by_slice(self) -> None:
        line = np.array([(0.0, 0.0), (5, 5)])
        bow = np.array([(0.0, 0.0), (20, 20), (20, 0), (0, 20)])
        case = scan(
            gt_contours=ScanContours({3: [ring(0, 0, 20, 10), line]}),
            pred_contours=ScanContours({3: [bow], 9: [ring(0, 0, 10)]}),
        )
        facts = polygon_facts(case, SPEC)
        assert texts(rows.fault_lines(facts.gt_faults, facts.pred_faults)) == [
            ["3", "target", "2", "0.0", "fewer than 3 points"],
            ["3", "prediction", "4", "200.0", "crosses itself"],
            ["9", "prediction", "4", "100.0", "the scan has no such slice"],
        ]

    def test_who_made_the_polygons_of_the_scan_and_of_a_slice(self) -> None:
        facts = polygon_facts(scan(), SPEC)
        assert rows.origin_text(facts) == "2 predicted polygons: 1 imported, 1 edited"
        assert rows.origin_text(facts, 3).endswith("slice 3: 1 edited")
        assert rows.origin_text(facts, 2).endswith("slice 2: none")

    def test_what_no_edit_changes_is_taken_over(self) -> None:
        before = polygon_facts(scan(), SPEC)
        after = polygon_facts(replace(before.case, pred_contours=ScanContours()), SPEC, before=before)
        assert after.gt_faults is before.gt_faults
        assert after.structures is before.structures
        assert after.pred_faults == []

    def test_of_another_scan_nothing_is_taken_over(self) -> None:
        before = polygon_facts(scan(gt_contours=None), SPEC)
        other = replace(scan(gt_contours=None, structures={}), entry=CaseEntry("T"))
        assert polygon_facts(other, SPEC, before=before).structures == ()

    def test_after_an_edit_only_its_slice_is_measured_and_the_numbers_are_those_of_the_whole(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from medotter_viewer.scoring import lung

        bow = np.array([(0.0, 0.0), (20, 20), (20, 0), (0, 20)])
        case = scan(pred_contours=ScanContours({3: [bow], 4: [bow]}))
        before = polygon_facts(case, SPEC)
        edited = replace(case, pred_contours=case.pred_contours.with_slice(4, [ring(0, 0, 11, 10)]))  # type: ignore[union-attr]
        whole = polygon_facts(edited, SPEC)
        measured: list[Any] = []
        slice_areas = lung.slice_areas
        monkeypatch.setattr(lung, "slice_areas", lambda *a, **k: measured.append(a) or slice_areas(*a, **k))
        after = polygon_facts(edited, SPEC, before=before)
        assert len(measured) == 1
        assert after.numbers == whole.numbers
        assert after.pred_faults == whole.pred_faults
        assert [fault.number for fault in after.pred_faults] == [3]


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Two scans and a submission of one: slice 1 half found, slice 2 found with a tiny ring aside."""
    for name in ("TC1", "TC2"):
        structures = {TARGET: {1: [box(0, 0, 20, 10)], 2: [box(0, 0, 10)]}, "heart": {1: [box(30, 30, 5)]}}
        write_png_scan(tmp_path / "scans", name, structures, n_slices=2, thickness=2)
    (tmp_path / "scans/x_seed_locations.csv").write_text("scan,slice,x,y\nTC1,1,15,5\nTC1,2,15,5\n")
    model = tmp_path / "model"
    model.mkdir()
    tiny = "TC1,2,40,40,40.5,40,40.5,40.5,40,40.5"
    (model / "submission.csv").write_text(f"TC1,1,0,0,10,0,10,10,0,10\nTC1,2,0,0,10,0,10,10,0,10\n{tiny}\n")
    return tmp_path


@pytest.fixture
def review(scans: Path, at_once: Any) -> Iterator[ReviewSession]:
    source = open_source(scans / "scans", predictions=scans / "model")
    session = ReviewSession(source, executor=at_once(), deliver=lambda call: call())
    yield session
    session.close()


@pytest.fixture
def opened() -> list[Any]:
    return []


@pytest.fixture
def dock(review: ReviewSession, qtbot: Any, opened: list[Any]) -> PolygonsDock:
    dock = PolygonsDock(review, open_source=lambda *what: opened.append(what))
    qtbot.addWidget(dock)
    dock.show()
    return dock


def tab_texts(dock: PolygonsDock) -> list[str]:
    return [dock.tabs.tabText(i) for i in range(dock.tabs.count())]


class TestDock:
    def test_tabs_count_what_they_hold_and_the_alarm_is_seen(self, dock: PolygonsDock, review: ReviewSession) -> None:
        assert dock.header.text() == "No case is open."
        review.go_to("TC1")
        assert tab_texts(dock) == ["Slices 2", "Seeds 2 · 1 outside", "Structures 2", "Odd rings 1"]
        assert dock.alarm.isVisible()
        assert dock.faults.texts() == [["2", "prediction", "4", "0.2", "smaller than a pixel"]]
        assert dock.numbers.texts()[0][1] == f"{review.score.case['scan_score'].value:.6f}"  # type: ignore[union-attr]
        review.go_to("TC2")
        assert not dock.alarm.isVisible()
        assert "do not overlap" in dock.header.text()

    def test_a_click_on_a_slice_asks_for_the_middle_of_its_largest_error(
        self, dock: PolygonsDock, review: ReviewSession, qtbot: Any
    ) -> None:
        review.go_to("TC1")
        table = dock.tables["Slices"]
        with qtbot.waitSignal(dock.place_requested) as asked:
            index = table.model().index(0, 1)
            qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())
        number, x, y = asked.args
        assert number == 1
        assert (x, y) == (pytest.approx(15, abs=0.2), pytest.approx(5, abs=0.2))

    def test_a_click_on_a_seed_asks_for_its_place(self, dock: PolygonsDock, review: ReviewSession, qtbot: Any) -> None:
        review.go_to("TC1")
        with qtbot.waitSignal(dock.place_requested) as asked:
            dock.tables["Seeds"].row_chosen.emit(1)
        assert asked.args == [2, 15.0, 5.0]

    def test_an_edit_changes_numbers_and_who_made_what(self, dock: PolygonsDock, review: ReviewSession) -> None:
        review.go_to("TC1")
        assert dock.footer.text() == "3 predicted polygons: 3 imported"
        review.edits.set_rings(1, [ring(0, 0, 20, 10)])
        assert dock.slices.texts()[1] == ["1", "200.0", "0.0", "0.0", "2", "1 edited"]
        assert dock.footer.text() == "3 predicted polygons: 2 imported, 1 edited"
        assert dock.header.text().endswith("edited, not saved")
        dock.set_slice(1)
        assert dock.footer.text().endswith("slice 1: 1 edited")
        assert dock.tables["Slices"].selected_row() == 1
        dock.set_position(0, 0)  # number 2 lies at z = 2.5, the first from the head
        assert dock.tables["Slices"].selected_row() == 0
        dock.set_position(1, 0)
        assert dock.tables["Slices"].selected_row() is None
        review.edits.undo()
        assert "edited" not in dock.header.text()

    def test_nothing_is_computed_while_nobody_looks(self, dock: PolygonsDock, review: ReviewSession) -> None:
        dock.hide()
        review.go_to("TC1")
        assert dock.facts is None
        dock.show()
        assert dock.facts is not None

    def test_a_closed_dock_hears_nothing(self, dock: PolygonsDock, review: ReviewSession) -> None:
        review.go_to("TC1")
        facts = dock.facts
        dock.close_connections()
        review.go_to("TC2")
        assert dock.facts is facts


class TestImport:
    def test_another_submission_is_opened_on_the_same_case(
        self, dock: PolygonsDock, review: ReviewSession, scans: Path, opened: list[Any]
    ) -> None:
        review.go_to("TC2")
        other = scans / "other.csv"
        other.write_text("TC2,1,0,0,20,0,20,10,0,10\n")
        dock.import_submission(other)
        ((source, case_id),) = opened
        assert case_id == "TC2"
        assert source.model == "other"
        assert source.load("TC2").pred_contours.n_rings == 1
        assert not dock.status.isVisible()

    def test_a_malformed_submission_is_refused_line_by_line(
        self, dock: PolygonsDock, review: ReviewSession, scans: Path, opened: list[Any]
    ) -> None:
        review.go_to("TC1")
        bad = scans / "bad.csv"
        bad.write_text("TC1,1,0,0,20,0,20,10,0,10\nTC1,one,0,0,20,0,20,10\nTC1,99,0,0,20,0,20,10\n")
        dock.import_submission(bad)
        lines = dock.status.text().split("\n")
        assert lines[0] == "not imported:"
        assert len(lines) == 3
        assert "2" in lines[1]
        assert opened == []
        assert review.source.model == "model"

    def test_unsaved_edits_are_named_before_they_are_lost(
        self, dock: PolygonsDock, review: ReviewSession, scans: Path, opened: list[Any]
    ) -> None:
        review.go_to("TC1")
        review.edits.set_rings(1, [])
        other = scans / "other.csv"
        other.write_text("TC1,1,0,0,20,0,20,10,0,10\n")
        dock.import_submission(other)
        assert opened == []
        assert "TC1" in dock.status.text()
        assert dock.import_button.text() == "Import anyway"
        dock.import_button.click()
        assert len(opened) == 1
        assert dock.import_button.text() == "Import submission…"

    def test_stepping_on_forgets_what_waits(
        self, dock: PolygonsDock, review: ReviewSession, scans: Path, opened: list[Any]
    ) -> None:
        review.go_to("TC1")
        review.edits.set_rings(1, [])
        dock.import_submission(scans / "model/submission.csv")
        review.go_to("TC2")
        assert dock.import_button.text() == "Import submission…"
        assert opened == []
