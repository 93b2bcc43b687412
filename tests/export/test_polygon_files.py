"""Submissions made of label maps: the same pixels come back, areas are exact, and nothing is written by halves."""

from __future__ import annotations

import csv
import gc
import weakref
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from medotter_viewer.checks.submission import check_submission
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import RegionNotFoundError, WriteError
from medotter_viewer.export import polygon_files, submission_writer
from medotter_viewer.export.companion import COLUMNS
from medotter_viewer.export.polygon_files import Exported, export_cases
from medotter_viewer.formats.polygon_csv import read_submission
from medotter_viewer.geometry.polygons import fill, overlap_areas

SPEC = EvalSpec.from_mapping({"task_type": "seg", "eval_regions": {"tumour": [1, 3], "other": [2]}}, where="spec")
RAS = np.diag([0.5, 2.0, 3.0, 1.0])


def labelled(data: Any, affine: Any = RAS) -> LabelMap:
    array = np.asarray(data, dtype=np.uint8)
    return LabelMap(array, Grid(array.shape, affine))


def case_of(pred: Any, gt: Any = None, *, case_id: str = "A/1", affine: Any = RAS, **more: Any) -> Case:
    entry = CaseEntry(case_id, remap=more.pop("remap", Remap(None, "none")))
    both = {name: None if data is None else labelled(data, affine) for name, data in (("pred", pred), ("gt", gt))}
    return Case(entry, **both, **more)


def export(tmp_path: Path, *cases: Case, **options: Any) -> Exported:
    return export_cases(cases, tmp_path / "out.csv", **{"spec": SPEC, "region": "tumour", **options})


def table(tmp_path: Path) -> list[dict[str, str]]:
    with (tmp_path / "out.scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(tuple(row) == COLUMNS for row in rows)
    return rows


def kind(rows: list[dict[str, str]], name: str) -> list[dict[str, str]]:
    """Rows of a kind, without what is empty."""
    return [{key: text for key, text in row.items() if text} for row in rows if row["kind"] == name]


def test_corners_full_slices_and_pixels_that_touch_at_a_corner(tmp_path: Path) -> None:
    data = np.zeros((8, 8, 3), dtype=np.uint8)
    data[:4, :3, 0] = 1
    data[:, :, 1] = 3
    data[[3, 5, 6], [3, 5, 6], 2] = 1
    found = export(tmp_path, case_of(data))
    assert (found.polygons, found.cases, found.findings) == (5, 1, ())
    lines = (tmp_path / "out.csv").read_text().splitlines()
    # RAS voxel (0, 0) to (3, 2) of 0.5 x 2 mm: x from 0.25 to -1.75, y from 1 to -5 in LPS.
    head, *numbers = lines[0].split(",", 2)
    assert (head, numbers[0]) == ("A/1", "1")
    ring = np.array(numbers[1].split(","), dtype=float).reshape(-1, 2)
    assert sorted(map(tuple, ring.tolist())) == [(-1.75, -5.0), (-1.75, 1.0), (0.25, -5.0), (0.25, 1.0)]
    areas = [(row["slice_id"], float(row["area_mm2"])) for row in kind(table(tmp_path), "polygon")]
    assert areas == [("1", 12), ("2", 64), ("3", 1), ("3", 1), ("3", 1)]


def test_a_hole_is_a_keyhole_within_one_line(tmp_path: Path) -> None:
    data = np.ones((5, 5, 1), dtype=np.uint8)
    data[1:4, 1:4] = 0
    data[2, 2] = 1
    export(tmp_path, case_of(data, affine=np.eye(4)))
    rings = read_submission(tmp_path / "out.csv").rings["A/1"][1]
    assert sorted(overlap_areas([ring], [])[1] for ring in rings) == [1, 16]
    assert check_submission(tmp_path / "out.csv").findings == []


masks = npst.arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 3)))


@given(
    mask=masks,
    steps=st.tuples(*[st.floats(0.3, 5)] * 3),
    origin=st.tuples(*[st.floats(-500, 500)] * 3),
    order=st.permutations(range(3)),
    ways=st.tuples(*[st.sampled_from([1, -1])] * 3),
)
def test_any_mask_comes_back_pixel_by_pixel_with_its_area(tmp_path_factory, mask, steps, origin, order, ways) -> None:
    folder = tmp_path_factory.mktemp("export")
    affine = np.zeros((4, 4))
    affine[list(order), range(3)] = np.array(steps) * ways
    affine[:, 3] = (*origin, 1)
    found = export(folder, case_of(mask, affine=affine))
    axis = list(order).index(2)
    first, second = (a for a in range(3) if a != axis)
    read = read_submission(folder / "out.csv")
    assert (read.status, read.polygons) == ("ok", found.polygons)
    assert [f.code for f in check_submission(folder / "out.csv").findings] == ([] if mask.any() else ["no-polygons"])
    inverse = np.linalg.inv(affine)
    for index in range(mask.shape[axis]):
        plane = mask.take(index, axis=axis)
        rings = read.rings.get("A/1", {}).get(index + 1, [])
        area = sum(overlap_areas([ring], [])[1] for ring in rings)
        assert area == pytest.approx(plane.sum() * steps[first] * steps[second], rel=1e-12)
        pixels = []
        for ring in rings:
            z = (affine @ np.eye(4)[axis] * index + affine[:, 3])[2]
            world = np.column_stack([-ring, np.full(len(ring), z), np.ones(len(ring))])
            voxels = np.round(world @ inverse.T, 6)
            pixels.append(voxels[:, [second, first]])
        np.testing.assert_array_equal(fill(pixels, plane.shape, rule="union"), plane)


class TestTable:
    def test_slices_and_scan_are_scored_against_the_ground_truth(self, tmp_path: Path) -> None:
        gt, pred = np.zeros((2, 8, 8, 3), dtype=np.uint8)
        gt[:4, :2, :2] = 1
        pred[:4, :2, 1] = 1
        pred[6, 6, 2] = 3
        pred[0, 7, 2] = 2  # of another region
        export(tmp_path, case_of(pred, gt))
        rows = table(tmp_path)
        polygons = [(row["slice_id"], row["polygon"], row["region"], row["source"]) for row in kind(rows, "polygon")]
        assert polygons == [("2", "1", "tumour", "model"), ("3", "2", "tumour", "model")]
        shared = {"scan_id": "A/1", "region": "tumour", "kind": "slice", "thickness_mm": "3.0"}
        assert kind(rows, "slice") == [
            {**shared, "slice_id": "1", "tp_mm2": "0.0", "fp_mm2": "0.0", "fn_mm2": "8.0"},
            {**shared, "slice_id": "2", "tp_mm2": "8.0", "fp_mm2": "0.0", "fn_mm2": "0.0"},
            {**shared, "slice_id": "3", "tp_mm2": "0.0", "fp_mm2": "1.0", "fn_mm2": "0.0"},
        ]
        (scan,) = kind(rows, "scan")
        # TP 24, FP 3, FN 24 mm3: T = 48, E = 24 * 48 / 24 + 3 = 51, A = (36 pi 48^2)^(1/3)
        area = (36 * np.pi * 48**2) ** (1 / 3)
        expected = {"tp_mm3": 24, "fp_mm3": 3, "fn_mm3": 24, "t_mm3": 48, "e_mm3": 51, "a_mm2": area}
        expected["score"] = np.exp(-(51 / 48 + 51 / (10 * area)) / 2)
        for name, value in expected.items():
            assert float(scan[name]) == pytest.approx(value), name
        assert "slice_id" not in scan

    def test_thickness_is_dicoms_where_it_is_known(self, tmp_path: Path) -> None:
        one = np.ones((2, 2, 2), dtype=np.uint8)
        export(tmp_path, case_of(one, one, slice_thickness_mm={2: 1.25}))
        assert [row["thickness_mm"] for row in kind(table(tmp_path), "slice")] == ["3.0", "1.25"]

    def test_without_true_positive_there_is_no_error_volume(self, tmp_path: Path) -> None:
        one = np.ones((2, 2, 2), dtype=np.uint8)
        export(tmp_path, case_of(np.zeros_like(one), one))
        (scan,) = kind(table(tmp_path), "scan")
        assert scan["score"] == "0.0"
        assert "e_mm3" not in scan

    @pytest.mark.parametrize(
        "more",
        [
            {},
            {"gt": 1, "findings": (Finding("error", "grid-mismatch", "elsewhere"),)},
            {"gt": 1, "remap": Remap({5: 1}, "dict")},
        ],
    )
    def test_nothing_is_scored_without_a_ground_truth_that_can_be_used(self, tmp_path: Path, more) -> None:
        one = np.ones((2, 2, 2), dtype=np.uint8)
        raw = {"task_type": "seg", "eval_regions": {"tumour": [1, 3]}, "partial_label": True}
        gt = one if "gt" in more else None
        rest = {key: value for key, value in more.items() if key != "gt"}
        found = export(tmp_path, case_of(one, gt, **rest), spec=EvalSpec.from_mapping(raw, where="spec"))
        assert found.polygons == 2
        assert {row["kind"] for row in table(tmp_path)} == {"polygon"}

    def test_polygons_of_a_scan_are_written_as_they_are(self, tmp_path: Path) -> None:
        square = np.array([(0, 0), (10, 0), (10, 10), (0, 10.1)])
        bow_tie = np.array([(0, 0), (20, 20), (20, 0), (0, 20.0)])
        pred, gt = ScanContours({4: [bow_tie], 2: [square]}), ScanContours({2: [square]})
        case = case_of(None, pred_contours=pred, gt_contours=gt, slice_thickness_mm={2: 1.0, 4: 2.0})
        found = export(tmp_path, case)
        assert found.polygons == 2
        assert (tmp_path / "out.csv").read_text().splitlines()[0] == "A/1,2,0.0,0.0,10.0,0.0,10.0,10.0,0.0,10.1"
        rows = table(tmp_path)
        polygons = [(row["slice_id"], row["source"], float(row["area_mm2"])) for row in kind(rows, "polygon")]
        assert polygons == [("2", "imported", pytest.approx(100.5)), ("4", "imported", pytest.approx(200))]
        assert float(kind(rows, "scan")[0]["fp_mm3"]) == pytest.approx(400)


class TestProvenance:
    def test_who_made_a_polygon_is_in_the_table_and_edited_ones_can_be_left_out(self, tmp_path: Path) -> None:
        data = np.zeros((4, 1, 2), dtype=np.uint8)
        data[0] = data[2] = 1
        pixels = [np.array([(x, -1.0), (x - 0.5, -1.0), (x - 0.5, 1.0), (x, 1.0)]) for x in (0.25, -0.75)]
        painted = ScanContours({1: pixels, 2: pixels}, {1: ("model", "model"), 2: ("edited", "model")})
        case = case_of(data, data, pred_contours=painted)

        export(tmp_path, case)
        rows = kind(table(tmp_path), "polygon")
        assert [row["source"] for row in rows] == ["model", "model", "edited", "model"]
        assert [float(row["fn_mm2"]) for row in kind(table(tmp_path), "slice")] == [0, 0]
        found = export(tmp_path, case, generated_only=True)
        assert (found.polygons, [f.code for f in found.findings]) == (3, ["edited-left-out"])
        rows = table(tmp_path)
        assert {row["source"] for row in kind(rows, "polygon")} == {"model"}
        assert [float(row["fn_mm2"]) for row in kind(rows, "slice")] == [0, 1]


class TestFiles:
    ONE = np.ones((2, 2, 1), dtype=np.uint8)

    def test_cases_follow_each_other_and_the_table_counts_lines(self, tmp_path: Path) -> None:
        found = export(tmp_path, case_of(self.ONE), case_of(self.ONE, case_id="B"))
        assert found.files == (tmp_path / "out.csv", tmp_path / "out.scores.csv")
        assert list(read_submission(tmp_path / "out.csv").rings) == ["A/1", "B"]
        assert [row["polygon"] for row in table(tmp_path)] == ["1", "2"]

    def test_an_archive_holds_the_submission_as_its_one_member(self, tmp_path: Path) -> None:
        found = export(tmp_path, case_of(self.ONE), zipped=True)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.scores.csv", "out.zip"]
        with zipfile.ZipFile(found.files[-1]) as archive:
            assert archive.namelist() == ["out.csv"]
            assert archive.read("out.csv") == (tmp_path / "out.csv").read_bytes()
        before = found.files[-1].read_bytes()
        export(tmp_path, case_of(self.ONE), zipped=True)
        assert found.files[-1].read_bytes() == before

    @pytest.mark.parametrize("case_id", ["a,b", "a\nb", 'a"b', " a", "a\ud800"])
    def test_an_id_that_is_no_scan_id_is_left_out_and_named(self, tmp_path: Path, case_id: str) -> None:
        found = export(tmp_path, case_of(self.ONE, case_id=case_id), case_of(self.ONE, case_id="B"))
        assert (found.cases, [(f.severity, f.code) for f in found.findings]) == (1, [("error", "case-not-written")])
        assert found.findings[0].message.startswith(f"case {case_id!a}: not written: its id")

    def test_a_case_that_cannot_be_placed_or_has_no_prediction_is_left_out(self, tmp_path: Path) -> None:
        oblique = RAS.copy()
        oblique[0, 1] = 0.1
        missing = case_of(None, case_id="C", findings=(Finding("error", "unreadable-file", "damaged"),))
        found = export(tmp_path, case_of(self.ONE, affine=oblique), missing)
        assert (found.files, found.cases) == ((), 0)
        assert "degrees oblique" in found.findings[0].message
        assert found.findings[1].message == "case C: not written: no prediction: damaged"
        assert list(tmp_path.iterdir()) == []

    def test_an_empty_prediction_is_a_valid_empty_submission(self, tmp_path: Path) -> None:
        found = export(tmp_path, case_of(np.zeros((2, 2, 2))))
        assert (found.cases, found.polygons) == (1, 0)
        assert (tmp_path / "out.csv").read_bytes() == b""

    @pytest.mark.parametrize(("limit", "value"), [("MAX_LINES", 1), ("MAX_BYTES", 90)])
    def test_more_than_a_submission_may_hold_is_not_written(self, tmp_path: Path, monkeypatch, limit, value) -> None:
        export(tmp_path, case_of(self.ONE))
        before = (tmp_path / "out.csv").read_bytes()
        monkeypatch.setattr(submission_writer, limit, value)
        with pytest.raises(WriteError, match="more than a submission may hold"):
            export(tmp_path, case_of(self.ONE), case_of(self.ONE, case_id="B" * 40))
        assert (tmp_path / "out.csv").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.scores.csv"]

    def test_what_is_not_read_back_as_meant_is_not_written(self, tmp_path: Path, monkeypatch) -> None:
        for line in (b"A/1,1,0,0,1,0,1,1\n", b"A/1,1,0,0\n", b"", b"A/1,1,0,0,1,0,1,1\nA/1,1,0,0,1,0,1,1\n"):
            monkeypatch.setattr(polygon_files, "submission_line", lambda *_, line=line: line)
            with pytest.raises(WriteError, match="not written"):
                export(tmp_path, case_of(self.ONE))
            assert list(tmp_path.iterdir()) == []

    def test_what_would_score_otherwise_is_not_written_though_every_area_is_right(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        export(tmp_path, case_of(self.ONE, self.ONE))
        before = (tmp_path / "out.csv").read_bytes()
        real = polygon_files.submission_line
        monkeypatch.setattr(polygon_files, "submission_line", lambda i, n, ring: real(i, n, ring + 0.25))
        with pytest.raises(WriteError, match=r"not written: case A/1 is read back with scan_score 0\.\d+, not 1"):
            export(tmp_path, case_of(self.ONE, self.ONE))
        assert (tmp_path / "out.csv").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.scores.csv"]
        export(tmp_path, case_of(self.ONE))  # nothing to score against

    def test_cases_are_not_kept_while_the_next_ones_are_written(self, tmp_path: Path) -> None:
        alive: list[weakref.ref[Any]] = []

        def cases():
            for number in range(4):
                gc.collect()
                assert sum(one() is not None for one in alive) <= 1  # at most the one that was just written
                data = np.ones((2, 2, 1), dtype=np.uint8)
                alive.append(weakref.ref(data))
                yield case_of(data, data, case_id=f"c{number}")

        told: list[tuple[int, int]] = []
        export_cases(
            cases(), tmp_path / "out.csv", spec=SPEC, region="tumour", on_progress=lambda *done: told.append(done)
        )
        assert told == [(1, 1), (2, 2), (3, 3), (4, 4)]

    def test_rings_that_are_no_polygons_are_not_written(self, tmp_path: Path) -> None:
        pred = ScanContours({1: [np.array([(0, 0), (1, 1.0)])]})
        with pytest.raises(WriteError, match="line 1: 2 points"):
            export(tmp_path, case_of(None, pred_contours=pred))

    def test_an_interrupted_export_leaves_nothing_behind(self, tmp_path: Path) -> None:
        def cases():
            yield case_of(self.ONE)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            export_cases(cases(), tmp_path / "out.csv", spec=SPEC, region="tumour")
        assert list(tmp_path.iterdir()) == []

    def test_the_same_case_twice_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="twice among the cases"):
            export(tmp_path, case_of(self.ONE), case_of(self.ONE))

    def test_names_and_places_that_cannot_be_written(self, tmp_path: Path) -> None:
        options = {"spec": SPEC, "region": "tumour"}
        with pytest.raises(WriteError, match=r"ends in \.csv"):
            export_cases([], tmp_path / "out.txt", **options)
        with pytest.raises(WriteError, match="cannot be written"):
            export_cases([case_of(self.ONE)], tmp_path / "none" / "out.csv", **options)
        (tmp_path / "out.scores.csv").mkdir()
        with pytest.raises(WriteError, match="is a folder"):
            export(tmp_path, case_of(self.ONE))
        with pytest.raises(RegionNotFoundError):
            export(tmp_path, case_of(self.ONE), region="none")
