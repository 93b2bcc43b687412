"""Points that a person corrected, written with who changed what beside them: both files or none."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from medotter_viewer import __version__
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.errors import WriteError
from medotter_viewer.export.landmark_files import export_landmarks
from medotter_viewer.formats.landmark_files import read_landmarks
from medotter_viewer.formats.landmark_provenance import provenance_path, read_provenance
from medotter_viewer.scoring.vertebra_points import derived_notes, landmarks_of
from medotter_viewer.session.working_copy import WorkingCopy

POINTS: dict[int, Point] = {19: (1, 2, 9), 28: (1, 2, 6), 20: (1, 2, 3)}
SHAPE = (30, 31, 32)
MIDDLE = (1.0, 2.0, 6.0)
MATRICES = [
    np.eye(3)[list(order)] * np.array(signs)[:, None] * (1.0, 2.0, 3.0)
    for order in permutations(range(3))
    for signs in product((1, -1), repeat=3)
]


def grid_of(matrix: Any, *, has_world: bool = True) -> Grid:
    """Return a grid whose middle voxel lies among the points."""
    affine = np.eye(4)
    affine[:3, :3], affine[:3, 3] = matrix, MIDDLE - matrix @ (15.0, 15.0, 16.0)
    return Grid(SHAPE, affine, has_world)


def case_of(
    pred: dict[int, Point] | None = POINTS, grid: Grid | None = None, *, mask: Any = None, **entry: Any
) -> Case:
    grid = grid or grid_of(np.diag([1.0, 2.0, 3.0]))
    labels = LabelMap(np.zeros(SHAPE, dtype=np.uint8), grid)
    return Case(
        CaseEntry("V/1", remap=Remap(None, "none"), **entry),
        gt=labels,
        pred=None if mask is None else LabelMap(mask, grid),
        pred_landmarks=None if pred is None else Landmarks(pred, "model_ctd.json"),
    )


def sidecar(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(provenance_path(path).read_text("utf-8"))
    return content


class TestRoundTrip:
    def test_there_are_48_orientations(self) -> None:
        assert len({m.tobytes() for m in MATRICES}) == 48

    @pytest.mark.parametrize("matrix", MATRICES)
    def test_every_orientation_of_an_image_comes_back_to_the_same_place(self, tmp_path: Path, matrix: Any) -> None:
        grid = grid_of(matrix)
        export_landmarks(case_of(grid=grid), tmp_path / "own_ctd.json")
        again, findings = read_landmarks(tmp_path / "own_ctd.json", grid)
        assert findings == []
        assert list(again.points_world) == [19, 28, 20]  # from the head to the feet
        for label, point in again.points_world.items():
            assert point == pytest.approx(POINTS[label], abs=1e-5)

    @given(
        st.tuples(*[st.floats(-180, 180)] * 3),
        st.tuples(*[st.sampled_from([0.3, 1.0, 5.0])] * 3),
        st.dictionaries(st.sampled_from([*range(1, 26), 28]), st.tuples(*[st.floats(-300, 300)] * 3), min_size=1),
    )
    def test_so_does_every_oblique_one(
        self, tmp_path_factory: Any, angles: Any, spacing: Any, points: dict[int, Point]
    ) -> None:
        path = tmp_path_factory.mktemp("oblique") / "own_ctd.json"
        grid = grid_of(Rotation.from_euler("xyz", angles, degrees=True).as_matrix() * spacing)
        export_landmarks(case_of(points, grid), path)
        again, _ = read_landmarks(path, grid)
        assert set(again.points_world) == set(points)
        for label, point in again.points_world.items():
            assert point == pytest.approx(points[label], abs=1e-3)


class TestProvenance:
    def test_says_who_when_with_what_and_from_what(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LOGNAME", "reader7")
        path = tmp_path / "own_ctd.json"
        found = export_landmarks(case_of(pred_landmarks_path=tmp_path / "net_ctd.json"), path)
        content = sidecar(path)
        assert (content["written_by"], content["software"], content["version"]) == (
            "reader7",
            "medotter_viewer",
            __version__,
        )
        assert datetime.now(UTC) - datetime.fromisoformat(content["written_at"]) < timedelta(minutes=5)
        assert (content["case"], content["source"]) == ("V/1", str(tmp_path / "net_ctd.json"))
        assert (content["derived"], content["level_shift"], content["moved"]) == (False, 0, [])
        assert (found.points, found.beside, found.provenance.to_dict()) == (3, provenance_path(path), content)

    def test_names_what_a_person_moved_added_and_took_away(self, tmp_path: Path) -> None:
        case = case_of()
        working = WorkingCopy(case)
        working.move_points({19: (1, 2, 8)})
        working.move_points({20: None})
        working.move_points({21: (1, 2, 0)})
        export_landmarks(working.current(), tmp_path / "x.json", source=case)
        content = sidecar(tmp_path / "x.json")
        assert (content["moved"], content["added"], content["removed"]) == ([19], [21], [20])
        again, _ = read_landmarks(tmp_path / "x.json", case.grid)
        assert again.edited == {19, 21}

    def test_a_second_hand_does_not_make_the_first_forgotten(self, tmp_path: Path) -> None:
        case = case_of()
        working = WorkingCopy(case)
        working.move_points({19: (1, 2, 8)})
        export_landmarks(working.current(), tmp_path / "x.json", source=case)
        again = replace(case, pred_landmarks=read_landmarks(tmp_path / "x.json", case.grid)[0])
        export_landmarks(again, tmp_path / "y.json")
        assert sidecar(tmp_path / "y.json")["moved"] == [19]

    def test_a_level_shift_is_said_and_is_no_move(self, tmp_path: Path) -> None:
        case = case_of({19: POINTS[19], 20: POINTS[20], 24: (1, 2, 0)})
        working = WorkingCopy(case)
        working.move_points({20: (1, 2, 4)})
        working.set_level_shift(1)
        unshifted = working.frozen(what_if=False)
        export_landmarks(working.current(), tmp_path / "x.json", source=case, unshifted=unshifted, level_shift=1)
        content = sidecar(tmp_path / "x.json")
        assert (content["level_shift"], content["moved"], content["added"], content["removed"]) == (1, [20], [], [])
        assert content["left_out_by_level_shift"] == [24]  # L5 has no level below it
        again, _ = read_landmarks(tmp_path / "x.json", case.grid)
        assert {i: round(p[2], 3) for i, p in again.points_world.items()} == {20: 9, 21: 4}
        assert again.edited == {20, 21}  # every label is another one than the model gave

    def test_what_was_taken_away_before_a_level_shift_is_no_move(self, tmp_path: Path) -> None:
        case = case_of({19: POINTS[19], 28: (1, 2, 5), 20: POINTS[20]})
        working = WorkingCopy(case)
        working.move_points({28: None})
        working.set_level_shift(1)
        unshifted = working.frozen(what_if=False)
        export_landmarks(working.current(), tmp_path / "x.json", source=case, unshifted=unshifted, level_shift=1)
        content = sidecar(tmp_path / "x.json")
        assert (content["removed"], content["moved"], content["left_out_by_level_shift"]) == ([28], [], [])
        assert set(read_landmarks(tmp_path / "x.json", case.grid)[0].points_world) == {20, 21}

    def test_no_points_are_no_file(self, tmp_path: Path) -> None:
        working = WorkingCopy(case_of())
        working.move_points(dict.fromkeys(POINTS))
        with pytest.raises(WriteError, match="no predicted points to write: all were taken away"):
            export_landmarks(working.current(), tmp_path / "x.json", source=working.case)
        assert list(tmp_path.iterdir()) == []

    def test_points_from_a_mask_stay_marked_after_they_were_written(self, tmp_path: Path) -> None:
        mask = np.zeros(SHAPE, dtype=np.uint8)
        mask[1, 2, 3:5] = 20
        case = case_of(None, mask=mask)
        export_landmarks(case, tmp_path / "x.json")
        assert sidecar(tmp_path / "x.json")["derived"] is True
        again = replace(case, pred_landmarks=read_landmarks(tmp_path / "x.json", case.grid)[0])
        pred = landmarks_of(again)[1]
        (note,) = derived_notes(None, pred)
        assert "as its provenance says" in note.message

    def test_it_is_for_the_bytes_it_was_written_for_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "x.json"
        export_landmarks(case_of(), path)
        path.write_text(path.read_text() + "\n")
        found, findings = read_provenance(path)
        assert (found, [f.code for f in findings]) == (None, ["other-provenance"])

    @pytest.mark.parametrize("text", ["{", "[]", '{"derived": "yes"}', '{"moved": [-1]}', '{"level_shift": 1e9}'])
    def test_one_that_cannot_be_read_is_a_warning(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "x.json"
        export_landmarks(case_of(), path)
        provenance_path(path).write_text(text)
        points, findings = read_landmarks(path, case_of().grid)
        assert (len(points.points_world), [f.code for f in findings]) == (3, ["unreadable-provenance"])


class TestRefusals:
    def test_a_file_is_replaced_only_when_asked(self, tmp_path: Path) -> None:
        path = tmp_path / "net_ctd.json"
        path.write_text("[]")
        case = case_of(pred_landmarks_path=path)
        with pytest.raises(WriteError, match=r"net_ctd\.json exists"):
            export_landmarks(case, path)
        assert [p.name for p in tmp_path.iterdir()] == ["net_ctd.json"]
        export_landmarks(case, path, overwrite=True)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["net_ctd.json", "net_ctd.provenance.json"]

    def test_the_ground_truth_is_never_replaced(self, tmp_path: Path) -> None:
        path = tmp_path / "gt_ctd.json"
        path.write_text("[]")
        with pytest.raises(WriteError, match="choose another name"):
            export_landmarks(case_of(gt_landmarks_path=path), path, overwrite=True)
        assert path.read_text() == "[]"

    def test_an_image_that_does_not_say_how_it_lies_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="orientation is unknown"):
            export_landmarks(case_of(grid=grid_of(np.eye(3), has_world=False)), tmp_path / "x.json")
        with pytest.raises(WriteError, match="no predicted points"):
            export_landmarks(case_of(None), tmp_path / "x.json")
        with pytest.raises(WriteError, match=r"ends in \.json"):
            export_landmarks(case_of(), tmp_path / "x.csv")
        assert list(tmp_path.iterdir()) == []

    def test_points_that_are_not_read_back_are_not_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import medotter_viewer.export.landmark_files as module

        def off(path: Path, landmarks: Landmarks, grid: Grid, **_: Any) -> None:
            moved = {i: (x + 0.01, y, z) for i, (x, y, z) in landmarks.points_world.items()}
            real(path, Landmarks(moved), grid)

        real = module.write_landmarks
        monkeypatch.setattr(module, "write_landmarks", off)
        with pytest.raises(WriteError, match="not read back"):
            export_landmarks(case_of(), tmp_path / "x.json")
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_is_not_there_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="No such file"):
            export_landmarks(case_of(), tmp_path / "no" / "x.json")
        assert list(tmp_path.iterdir()) == []
