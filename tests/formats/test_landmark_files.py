"""Centroid files: which way X, Y and Z run, what is skipped, what is refused."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.errors import (
    BundleError,
    GridMismatchError,
    LabelError,
    MedotterViewerError,
    ReadError,
    WriteError,
)
from medotter_viewer.formats.landmark_files import (
    parse_landmarks,
    read_landmark_file,
    read_landmarks,
)
from medotter_viewer.formats.landmark_writer import write_landmarks

RAS = Grid((10, 12, 14), np.diag([1.0, 2.0, 3.0, 1.0]))
CODES = [
    "".join(axes[i][way] for i, way in zip(order, ways, strict=True))
    for axes in [("RL", "AP", "SI")]
    for order in permutations(range(3))
    for ways in product((0, 1), repeat=3)
]


def grid_along(codes: str, shape: tuple[int, ...] = (10, 12, 14), spacing: tuple[float, ...] = (1, 2, 3)) -> Grid:
    affine = np.eye(4)
    affine[:3, :3] = 0
    for axis, (code, step) in enumerate(zip(codes, spacing, strict=True)):
        world = next(i for i, pair in enumerate(("RL", "AP", "SI")) if code in pair)
        affine[world, axis] = step if code in "RAS" else -step
    affine[:3, 3] = (-5, 7, 11)
    return Grid(shape, affine)


def point(label: Any, x: Any, y: Any, z: Any, **more: Any) -> dict[str, Any]:
    return {"label": label, "X": x, "Y": y, "Z": z, **more}


def along(codes: str, *points: dict[str, Any], **header: Any) -> list[dict[str, Any]]:
    return [{"direction": list(codes), **header}, *points]


def parse(content: Any, grid: Grid | None = RAS, layout: str | None = None) -> tuple[dict[int, Any], list[Finding]]:
    landmarks, findings = parse_landmarks(content, Path("x_ctd.json"), layout=layout).place(grid)
    return dict(landmarks.points_world), findings


class TestDirection:
    def test_a_flipped_axis_ends_at_its_last_voxel(self) -> None:
        points, findings = parse(along("PIR", point(20, 8.0, 9.0, 2.0)))
        assert points == {20: (2.0, 6.0, 12.0)}
        assert findings == []

    @pytest.mark.parametrize("codes", CODES)
    def test_a_voxel_is_found_through_every_orientation_of_the_file(self, codes: str) -> None:
        """The point of voxel (2, 3, 4), written in the array turned to `codes`, comes back to where the voxel is."""
        import nibabel

        image = np.zeros(RAS.shape)
        image[2, 3, 4] = 1
        turn = nibabel.orientations.ornt_transform(
            nibabel.orientations.axcodes2ornt("RAS"), nibabel.orientations.axcodes2ornt(codes)
        )
        turned = nibabel.orientations.apply_orientation(image, turn)
        (written,) = np.argwhere(turned).tolist()
        points, _ = parse(along(codes, point(20, *written)))
        assert points[20] == pytest.approx((2, 6, 12))

    @given(st.sampled_from(CODES), st.sampled_from(CODES), st.tuples(*[st.floats(0, 9)] * 3))
    def test_the_orientation_of_the_image_does_not_matter(self, image: str, file: str, voxel: Any) -> None:
        one = grid_along(image)
        world = one.voxel_to_world(voxel)
        same = dict(zip(image, one.shape, strict=True))
        opposite = dict(zip("RLAPSI", "LRPAIS", strict=True))
        coordinates = [
            voxel[image.index(c)] if c in image else same[opposite[c]] - 1 - voxel[image.index(opposite[c])]
            for c in file
        ]
        points, _ = parse(along(file, point(20, *coordinates)), one)
        assert points[20] == pytest.approx(tuple(world), abs=1e-9)

    def test_an_oblique_image_is_followed(self) -> None:
        affine = np.diag([1.0, 2.0, 3.0, 1.0])
        c, s = np.cos(0.3), np.sin(0.3)
        affine[:3, :3] = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ affine[:3, :3]
        oblique = Grid((10, 12, 14), affine)
        points, _ = parse(along("LAS", point(20, 7, 3, 4)), oblique)
        assert points[20] == pytest.approx(tuple(oblique.voxel_to_world((2, 3, 4))))

    @pytest.mark.parametrize(
        "direction", [["L", "R", "S"], ["P", "I"], ["X", "Y", "Z"], [], None, 3, "PIRS", [1, 2, 3]]
    )
    def test_an_impossible_one_is_refused(self, direction: Any) -> None:
        with pytest.raises(ReadError, match="direction"):
            parse([{"direction": direction}, point(20, 1, 1, 1)])

    def test_two_are_refused(self) -> None:
        with pytest.raises(ReadError, match="direction stands 2 times"):
            parse([*along("RAS"), *along("LPS")])

    def test_voxels_need_an_image(self) -> None:
        with pytest.raises(ReadError, match="give the image"):
            parse(along("RAS", point(20, 1, 1, 1)), None)

    def test_an_image_that_does_not_say_how_it_lies_is_refused(self) -> None:
        with pytest.raises(GridMismatchError, match="form codes"):
            parse(along("RAS", point(20, 1, 1, 1)), Grid((4, 4, 4), np.eye(4), has_world=False))


class TestLayoutsWithoutDirection:
    CONTENT = (point(20, 4.0, 6.0, 9.0),)

    def test_are_refused_unless_named(self) -> None:
        with pytest.raises(ReadError, match=r"no direction.*--centroid-layout miccai19 or miccai20"):
            parse(list(self.CONTENT))

    def test_an_unknown_name_is_refused(self) -> None:
        with pytest.raises(ReadError, match="miccai21"):
            parse(list(self.CONTENT), layout="miccai21")

    def test_of_2019_runs_i_p_l_in_mm(self) -> None:
        # World of RAS: x 0..9, y 0..22, z 0..39. X runs down from 39, Y back from 22, Z to the left from 9.
        assert parse(list(self.CONTENT), layout="miccai19")[0] == {20: pytest.approx((0, 16, 35))}

    def test_of_2020_runs_p_i_r_in_mm(self) -> None:
        assert parse(list(self.CONTENT), layout="miccai20")[0] == {20: pytest.approx((9, 18, 33))}

    def test_without_an_image_distances_are_still_right(self) -> None:
        two = [point(20, 4.0, 6.0, 9.0), point(21, 4.0, 36.0, 49.0)]
        for grid in (None, RAS):
            points, _ = parse(two, grid, layout="miccai20")
            assert np.linalg.norm(np.subtract(points[20], points[21])) == pytest.approx(50)

    def test_a_direction_is_believed_over_the_layout(self) -> None:
        points, _ = parse(along("RAS", point(20, 1, 1, 1)), layout="miccai19")
        assert points == {20: (1.0, 2.0, 3.0)}


class TestEntries:
    def test_without_points_there_are_none(self) -> None:
        for content in ([], along("LAS")):
            for grid in (None, RAS):
                assert parse(content, grid) == ({}, [])

    @pytest.mark.parametrize("value", [float("nan"), "nan", None])
    def test_what_is_no_number_is_skipped_with_a_note(self, value: Any) -> None:
        points, (note,) = parse(along("RAS", point(20, value, 1, 1), point(21, 1, 1, 1)))
        assert list(points) == [21]
        assert (note.severity, note.code) == ("info", "landmark-not-a-number")
        assert "20 (L1)" in note.message

    def test_a_skipped_one_is_no_duplicate(self) -> None:
        points, _ = parse(along("RAS", point(20, float("nan"), 1, 1), point(20, 1, 1, 1)))
        assert list(points) == [20]

    @pytest.mark.parametrize("again", [20, "20", 20.0, 50 * 256 + 20])
    def test_one_label_twice_is_an_error(self, again: Any) -> None:
        with pytest.raises(LabelError, match=r"label 20 \(L1\) stands twice"):
            parse(along("RAS", point(20, 1, 1, 1), point(again, 1, 1, 1)))

    @pytest.mark.parametrize("label", ["20", 20.0, 20])
    def test_a_label_may_be_text_or_a_whole_float(self, label: Any) -> None:
        assert list(parse(along("RAS", point(label, "1.5", 1, 1)))[0]) == [20]

    @pytest.mark.parametrize("label", ["L1", 20.5, -20, True, None, [20]])
    def test_any_other_label_is_an_error(self, label: Any) -> None:
        with pytest.raises(LabelError, match="point 1: label"):
            parse(along("RAS", point(label, 1, 1, 1)))

    @pytest.mark.parametrize("value", ["here", float("inf"), True, [1], {}, 10**400])
    def test_a_coordinate_that_is_none_is_an_error(self, value: Any) -> None:
        with pytest.raises(ReadError, match="label 20: Y"):
            parse(along("RAS", point(20, 1, value, 1)))

    def test_a_missing_coordinate_is_named(self) -> None:
        with pytest.raises(ReadError, match="point 1: no X, Z"):
            parse(along("RAS", {"label": 20, "Y": 1}))

    @pytest.mark.parametrize("content", [{}, "x", 3, None, [1], [[1]], {"direction": ["R", "A", "S"]}])
    def test_what_is_no_list_of_points_is_refused(self, content: Any) -> None:
        with pytest.raises(ReadError, match="no list of points"):
            parse(content)

    def test_other_keys_are_ignored(self) -> None:
        points, findings = parse(along("RAS", point(20, 1, 1, 1, name="L1", T=3), note="by hand"))
        assert (list(points), findings) == ([20], [])

    def test_a_point_outside_the_image_is_kept_with_a_warning(self) -> None:
        points, (note,) = parse(along("RAS", point(20, 500, 1, -3), point(21, -0.5, 11.5, 0), point(22, 9.6, 1, 1)))
        assert list(points) == [20, 21, 22]
        assert (note.severity, note.code) == ("warning", "landmark-outside-image")
        assert "20 (L1), 22 (L3)" in note.message


class TestHeadersOfTptbox:
    FRAME = {"zoom": [1.0, 2.0, 3.0], "shape": [10, 12, 14], "origin": [-5, 7, 11]}  # noqa: RUF012

    def header(self, codes: str) -> dict[str, Any]:
        grid = grid_along(codes)
        return {**self.FRAME, "rotation": (grid.affine[:3, :3] / np.array(grid.spacing)).tolist()}

    @pytest.mark.parametrize("codes", ["RAS", "LPS", "PIR"])
    def test_one_that_says_everything_needs_no_image(self, codes: str) -> None:
        points, findings = parse(along(codes, point(20, 2, 3, 4), **self.header(codes)), None)
        assert points[20] == pytest.approx(tuple(grid_along(codes).voxel_to_world((2, 3, 4))))
        assert findings == []

    def test_and_is_believed_over_another_image(self) -> None:
        far = Grid((3, 3, 3), np.eye(4))
        points, findings = parse(along("PIR", point(20, 2, 3, 4), **self.header("PIR")), far)
        assert points[20] == pytest.approx(tuple(grid_along("PIR").voxel_to_world((2, 3, 4))))
        assert [f.code for f in findings] == ["landmark-outside-image"]

    def test_a_rotation_that_says_otherwise_is_refused(self) -> None:
        with pytest.raises(ReadError, match="direction says LPS, rotation says RAS"):
            parse(along("LPS", point(20, 2, 3, 4), **self.header("RAS")), None)

    def test_another_shape_or_zoom_than_the_images_is_a_warning(self) -> None:
        _, (note,) = parse(along("PIR", point(20, 2, 3, 4), zoom=[1, 1, 1], shape=[12, 14, 10]))
        assert (note.severity, note.code) == ("warning", "landmark-grid-differs")
        assert "zoom" in note.message
        assert "shape" not in note.message
        assert parse(along("PIR", point(20, 2, 3, 4), zoom=[2, 3, 1], shape=[12, 14, 10]))[1] == []

    @pytest.mark.parametrize(
        "frame", [{"zoom": [1, 1]}, {"shape": "x"}, {"rotation": [[0] * 3] * 3}, {"zoom": [0, 1, 1]}]
    )
    def test_one_that_makes_no_sense_is_refused(self, frame: Any) -> None:
        with pytest.raises(ReadError, match="header cannot be used"):
            parse(along("RAS", point(20, 1, 1, 1), **{**self.header("RAS"), **frame}))

    def test_a_label_holds_part_and_vertebra(self) -> None:
        content = along(
            "RAS", point(50 * 256 + 20, 1, 1, 1), point(41 * 256 + 20, 2, 2, 2), point(50 * 256 + 28, 3, 3, 3)
        )
        points, (note,) = parse(content)
        assert list(points) == [20, 28]
        assert note.code == "landmark-other-part"
        assert str(41 * 256 + 20) in note.message


class TestOtherLayoutsOfTptbox:
    HEADER = {"direction": ["P", "I", "R"], "format": "POI", "level_one_info": "Vertebra_Instance"}  # noqa: RUF012

    def test_names_of_vertebrae_and_numbers_of_parts_are_labels(self) -> None:
        nested = {"L1": {"50": [8.0, 9.0, 2.0], "41": [1, 1, 1]}, "T13": {"50": [7, 8, 1]}, "28x": {"50": [1, 1, 1]}}
        points, (note,) = parse([self.HEADER, nested])
        assert points == {20: (2.0, 6.0, 12.0), 28: (1.0, 8.0, 15.0)}
        assert note.code == "landmark-other-part"
        assert str(41 * 256 + 20) in note.message
        assert "28x 50" in note.message

    def test_numbers_may_stand_for_names(self) -> None:
        assert parse([self.HEADER, {"20": {"50": [8, 9, 2]}}])[0] == {20: (2.0, 6.0, 12.0)}

    @pytest.mark.parametrize(("system", "sign"), [("nib", 1), ("itk", -1), (None, 1)])
    def test_points_in_the_world_need_no_image(self, system: str | None, sign: int) -> None:
        header = {"format": "POI_GLOBAL", "coordinate_system": system}
        content = [{k: v for k, v in header.items() if v is not None}, {"L1": {"50": [2.0, 6.0, 12.0]}}]
        for grid in (None, RAS, Grid((3, 3, 3), np.eye(4), has_world=False)):
            points, findings = parse(content, grid)
            assert points == {20: (sign * 2.0, sign * 6.0, 12.0)}
            assert [f.code for f in findings] == (["landmark-outside-image"] if sign < 0 and grid is RAS else [])

    def test_a_list_inside_the_output_of_a_pipeline_is_read(self) -> None:
        inner = along("PIR", point(20, 8.0, 9.0, 2.0))
        content = {"centroids": {"centroids": inner}, "Spacing": [2, 3, 1], "Shape": [12, 14, 10]}
        assert parse(content) == ({20: (2.0, 6.0, 12.0)}, [])
        _, (note,) = parse({**content, "Spacing": [1, 1, 1]})
        assert note.code == "landmark-grid-differs"

    def test_one_point_by_both_of_its_names_is_an_error(self) -> None:
        with pytest.raises(LabelError, match=r"label 20 \(L1\) stands twice"):
            parse([self.HEADER, {"L1": {"50": [1, 1, 1]}, "20": {"50": [2, 2, 2]}}])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ([{"vert_label": "8", "50": "(1, 2, 3)"}], "old layout"),
            ([HEADER, {"L1": [1, 2, 3]}], "no points by vertebra and part"),
            ([HEADER, {"L1": {"50": [1, 2]}}], "L1, part 50"),
            ([HEADER, {"L1": {"50": "(1, 2, 3)"}}], "L1, part 50"),
            ([{"format": "POI"}, {"L1": {"50": [1, 2, 3]}}], "no direction"),
            ([{"format": "POI_GLOBAL", "coordinate_system": "mni"}, {"L1": {"50": [1, 2, 3]}}], "'mni'"),
            ({"centroids": [1]}, "no list of points"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, content: Any, message: str) -> None:
        with pytest.raises(ReadError, match=message):
            parse(content)

    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.floats(allow_nan=True)
            | st.sampled_from(["L1", "POI", "50", "R", "nib", ""]),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["direction", "format", "label", "X", "Y", "Z", "L1", "50", "centroids", "vert_label"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        )
    )
    def test_any_json_gives_points_or_our_error(self, content: Any) -> None:
        try:
            points, _ = parse(content)
        except MedotterViewerError:
            return
        assert all(np.isfinite(p).all() for p in points.values())


class TestFiles:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "x_ctd.json"
        path.write_text(text, encoding="utf-8")
        return path

    def test_nan_as_python_writes_it_is_read(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, json.dumps(along("PIR", point(20, float("nan"), 1, 2), point(21, 5, 6, 7))))
        assert list(read_landmark_file(path).points) == [21]

    @pytest.mark.parametrize("text", ["{", "", '[{"label": Infinity}]', '[{"label": 20, "label": 21}]'])
    def test_what_is_no_json_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(BundleError, match=r"x_ctd\.json"):
            read_landmark_file(self.write(tmp_path, text))

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match=r"no\.json"):
            read_landmarks(tmp_path / "no.json", RAS)

    def test_the_file_is_the_source(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, json.dumps(along("RAS", point(20, 1, 1, 1))))
        assert read_landmarks(path, RAS)[0].source == str(path)

    @given(
        st.sampled_from(CODES),
        st.dictionaries(st.sampled_from([*range(1, 26), 28]), st.tuples(*[st.floats(0, 9)] * 3)),
    )
    def test_what_is_written_is_read_again(self, tmp_path_factory: Any, codes: str, voxels: Any) -> None:
        path = tmp_path_factory.mktemp("written") / "own_ctd.json"
        grid = grid_along(codes)
        world = {label: tuple(grid.voxel_to_world(v).tolist()) for label, v in voxels.items()}
        write_landmarks(path, Landmarks(world), grid)
        again, findings = read_landmarks(path, grid)
        assert findings == []
        assert set(again.points_world) == set(world)
        for label, p in again.points_world.items():
            assert p == pytest.approx(world[label], abs=1e-5)

    def test_as_verse_writes_it_from_head_to_feet(self, tmp_path: Path) -> None:
        path = tmp_path / "own_ctd.json"
        world = {label: (1.0, 2.0, float(z)) for label, z in ((20, 3), (28, 6), (19, 9))}
        write_landmarks(path, Landmarks(world), RAS)
        header, *points = json.loads(path.read_text())
        assert header == {"direction": ["R", "A", "S"]}
        assert points[0] == {"label": 19, "X": 1.0, "Y": 1.0, "Z": 3.0}
        assert [p["label"] for p in points] == [19, 28, 20]

    def test_nothing_is_written_for_an_unknown_orientation_or_place(self, tmp_path: Path) -> None:
        with pytest.raises(WriteError, match="orientation"):
            write_landmarks(tmp_path / "x.json", Landmarks({}), Grid((2, 2, 2), np.eye(4), has_world=False))
        with pytest.raises(WriteError, match="no"):
            write_landmarks(tmp_path / "no" / "x.json", Landmarks({}), RAS)

    @pytest.mark.parametrize("codes", CODES)
    def test_every_orientation_of_an_image_comes_back_to_the_same_place(self, tmp_path: Path, codes: str) -> None:
        assert len(CODES) == len(set(CODES)) == 48
        grid = grid_along(codes)
        world = {20: (-3.25, 8.5, 20.125), 28: (0.0, 10.0, 30.0)}
        write_landmarks(tmp_path / "x.json", Landmarks(world), grid)
        again, _ = read_landmarks(tmp_path / "x.json", grid)
        assert list(again.points_world) == [28, 20]
        for label, place in again.points_world.items():
            assert place == pytest.approx(world[label], abs=1e-5)

    def test_a_file_is_replaced_only_when_asked(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "[]")
        with pytest.raises(WriteError, match=r"x_ctd\.json exists"):
            write_landmarks(path, Landmarks({20: (1, 2, 3)}), RAS)
        assert path.read_text() == "[]"
        write_landmarks(path, Landmarks({20: (1, 2, 3)}), RAS, overwrite=True)
        assert list(read_landmarks(path, RAS)[0].points_world) == [20]
        assert [p.name for p in tmp_path.iterdir()] == ["x_ctd.json"]

    def test_a_write_that_fails_leaves_nothing_behind(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").mkdir()
        with pytest.raises(WriteError):
            write_landmarks(tmp_path / "x.json", Landmarks({}), RAS, overwrite=True)
        assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
