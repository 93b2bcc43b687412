"""From the window to a file and back: what is shown is what is written, and scores the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import scored, settle, wait_for
from scan_files import TARGET, box, write_png_scan

from medotter_viewer.cli import main
from medotter_viewer.errors import WriteError

pytestmark = pytest.mark.window


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Two scans; of the first, slice 2 is half found, slice 3 is missed and slice 1 is invented."""
    truth = {2: [box(10, 10, 20, 10)], 3: [box(10, 10, 10)]}
    for name in ("TC1", "TC2"):
        write_png_scan(tmp_path / "scans", name, {TARGET: truth, "heart": {2: [box(40, 40, 5)]}}, n_slices=3)
    (tmp_path / "model").mkdir()
    (tmp_path / "model/submission.csv").write_text(
        "TC1,2,10,10,20,10,20,20,10,20\nTC1,1,30,30,35,30,35,35,30,35\nTC2,2,10,10,30,10,30,20,10,20\n"
    )
    return tmp_path


@pytest.fixture
def window(open_review: Any, scans: Path) -> Any:
    return open_review(scans / "scans", scans / "model", case_id="TC1")


def ring(*box_: float) -> Any:
    return np.array(box(*box_), dtype=float)


def export(window: Any, file: Path, what: int = 0) -> str:
    """Export from the dock and return what it says."""
    dock = window.docks.export
    window.docks.show("Export")
    settle(0.1)
    dock.what.value = dock.what.choices[what]
    dock.file.line_edit.value = str(file)
    dock.button.click()
    wait_for(lambda: dock.button.isEnabled() and bool(dock.result.text()), "the export")
    return str(dock.result.text())


def scores_of(file: Path, scans: Path, tmp_path: Path) -> Any:
    """What the command says of a submission."""
    assert main(["polygons", "score", str(file), "--scans", str(scans), "--json", str(tmp_path / "said.json")]) == 0
    return json.loads((tmp_path / "said.json").read_text())["scans"]


def sources_of(file: Path) -> list[str]:
    with file.with_suffix(".scores.csv").open(newline="") as table:
        return [row["source"] for row in csv.DictReader(table) if row["kind"] == "polygon"]


def test_what_is_exported_scores_as_it_is_shown(window: Any, scans: Path, tmp_path: Path) -> None:
    window.docks.show("Polygons")
    settle(0.1)
    window.session.edits.set_rings(3, [ring(10, 10, 10)])
    wait_for(lambda: scored(window) and not window.docks.polygons._latest.is_busy, "scored after the edit")
    settle(0.3)
    shown = window.docks.polygons.numbers.texts()
    said = export(window, tmp_path / "out.csv", what=1)
    assert "4 polygons of 2 cases" in said
    assert sources_of(tmp_path / "out.csv") == ["imported", "imported", "edited", "imported"]
    found = scores_of(tmp_path / "out.csv", scans / "scans", tmp_path)
    assert shown[0][1] == f"{found['TC1']['score']:.6f}"
    assert found["TC1"]["score"] == pytest.approx(window.session.score.case["scan_score"].value, rel=1e-12)
    # TP 100 + 100, FP 25, FN 100, on slices of 1 mm
    assert [row[1] for row in shown[1:5]] == ["300.0", "200.0", "25.0", "100.0"]


def test_generated_only_writes_the_model_without_what_a_person_drew(window: Any, scans: Path, tmp_path: Path) -> None:
    window.session.edits.set_rings(3, [ring(10, 10, 10)])
    window.docks.export.generated_only.value = True
    said = export(window, tmp_path / "out.csv")
    left_out = next(line for line in said.split("\n") if "left out" in line)
    assert left_out.startswith("case TC1: 1 polygon")
    found = scores_of(tmp_path / "out.csv", scans / "scans", tmp_path)
    assert found["TC1"]["fn_mm3"] == pytest.approx(200)


def test_importing_a_submission_opens_the_same_case_with_it(window: Any, scans: Path) -> None:
    from medotter_viewer.ui.window import window_of

    other = scans / "other.csv"
    other.write_text("TC1,2,10,10,30,10,30,20,10,20\nTC1,3,10,10,20,10,20,20,10,20\n")
    window.docks.polygons.import_submission(other)
    wait_for(lambda: window_of(window.viewer) is not window, "the new review")
    new = window_of(window.viewer)
    try:
        wait_for(lambda: new.session.opened is not None and scored(new), "scored")
        assert new.session.case.case_id == "TC1"
        assert new.session.source.model == "other"
        assert new.session.score.case["scan_score"].value == pytest.approx(1.0)
        settle()
    finally:
        new.close()


def test_a_click_on_a_slice_shows_its_error(window: Any) -> None:
    window.docks.show("Polygons")
    settle(0.3)
    table, model = window.docks.polygons.tables["Slices"], window.docks.polygons.slices
    table.row_chosen.emit(model.row_of_slice(1))
    settle(0.1)
    assert "number 1" in window.overlay.corner_text
    assert not window.docks.remap
    assert window.docks.polygons.width() >= 320


class TestSavingLayers:
    def save(self, window: Any, layer: Any, file: Path) -> list[str]:
        window.viewer.layers.selection = {layer}
        return list(window.viewer.layers.save(str(file), selected=True, plugin="medotter-viewer"))

    def test_our_contours_are_written_on_all_slices(self, window: Any, tmp_path: Path) -> None:
        window.session.edits.set_rings(3, [ring(10, 10, 10)])
        wait_for(lambda: scored(window), "scored")
        files = self.save(window, window.looking.vectors.layer("pred_rings"), tmp_path / "out.csv")
        assert files == [str(tmp_path / "out.csv"), str(tmp_path / "out.scores.csv")]
        assert [line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()] == ["1", "2", "3"]
        assert sources_of(tmp_path / "out.csv") == ["imported", "imported", "edited"]

    def test_ground_truth_and_the_reviewed_file_are_refused(self, window: Any, scans: Path, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="no prediction"):
            self.save(window, window.looking.vectors.layer("gt_rings"), tmp_path / "out.csv")
        with pytest.raises(WriteError, match="being reviewed"):
            self.save(window, window.looking.vectors.layer("pred_rings"), scans / "model/submission.csv")
        assert not (tmp_path / "out.csv").exists()

    def test_shapes_of_the_users_own_become_polygons_on_their_slices(self, window: Any, tmp_path: Path) -> None:
        placed = window.looking.placed.gt
        index = {number: i for i, number in enumerate(placed.stack.numbers)}
        (path,) = placed.paths(index[2])
        layer = window.viewer.add_shapes(
            [path[:-1]],
            shape_type="polygon",
            scale=placed.order.scale,
            translate=placed.order.translate,
            units=("mm",) * 3,
            name="mine",
        )
        self.save(window, layer, tmp_path / "mine.csv")
        scan, number, *numbers = (tmp_path / "mine.csv").read_text().strip().split(",")
        assert (scan, number) == ("TC1", "2")
        np.testing.assert_allclose(np.array(numbers, dtype=float).reshape(-1, 2), box(10, 10, 20, 10), atol=1e-4)
        assert sources_of(tmp_path / "mine.csv") == ["edited"]
        layer.data = [path[:-1] + np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 0, 0], [0, 0, 0]])]
        with pytest.raises(WriteError, match="one slice"):
            self.save(window, layer, tmp_path / "across.csv")

    def test_without_a_review_nothing_is_written(self, new_viewer: Any, tmp_path: Path) -> None:
        viewer = new_viewer()
        viewer.layers.selection = {viewer.add_shapes([np.array([[0, 0], [0, 9], [9, 9.0]])], shape_type="polygon")}
        with pytest.raises(WriteError, match="no review is open"):
            viewer.layers.save(str(tmp_path / "out.csv"), selected=True, plugin="medotter-viewer")

    def test_moved_points_are_written_as_centroids_with_their_provenance(
        self, open_review: Any, write_bundle: Any, tmp_path: Path
    ) -> None:
        from medotter_viewer.formats.landmark_files import read_landmarks

        labels = np.zeros((20, 20, 30), dtype=np.uint8)
        for place, label in enumerate((20, 21)):
            labels[8:12, 8:12, 18 - 10 * place : 22 - 10 * place] = label
        spec = {"task_type": "vertebra", "eval_regions": {"L1": [20], "L2": [21]}, "metrics": ["id_rate", "dice"]}
        tiny = write_bundle(
            tmp_path / "tiny",
            {"V": {"gt": labels, "affine": np.diag([2.0, 2, 3, 1])}},
            eval_spec=spec,
            predictions={"V": labels},
        )
        window = open_review(tiny.bundle, tiny.predictions)
        window.session.edits.move_points({20: (20.0, 22.0, 60.0)})
        settle(0.3)
        assert window.docks.vertebrae is not None
        assert window.docks.export is not None
        files = self.save(window, window.looking.vectors.layer("pred_points"), tmp_path / "points.json")
        assert files == [str(tmp_path / "points.json"), str(tmp_path / "points.provenance.json")]
        found = read_landmarks(tmp_path / "points.json", window.session.case.grid)[0].points_world
        assert found[20] == pytest.approx((20.0, 22.0, 60.0), abs=1e-3)
        # the middle of voxels 8 to 11 along x and y, of 8 to 11 along z
        assert found[21] == pytest.approx((19.0, 19.0, 28.5), abs=1e-3)
        layer = window.viewer.add_points(np.zeros((1, 3)), name="mine")
        with pytest.raises(WriteError, match="no vertebra"):
            self.save(window, layer, tmp_path / "mine.json")
