"""The straightened picture of a spine: where points and names stand, what is said, what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

import medotter_viewer
from medotter_viewer.core.accents import GT_ACCENT, PRED_ACCENT, WRONG_ACCENT
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Candidates, LandmarkRules, Landmarks, Point
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import CaseNotFoundError, GridMismatchError, ReadError, UsageError
from medotter_viewer.figures.cells import png_of
from medotter_viewer.figures.spine import OUTSIDE, spine_figure
from medotter_viewer.figures.spine_scene import make_spine_scene

SPEC = EvalSpec.from_mapping({"task_type": "vertebra", "eval_regions": {"T12": [19], "L1": [20], "L2": [21]}})
GT: dict[int, Point] = {19: (0, 0, 60), 20: (0, 0, 30), 21: (0, 0, 0)}
GRID = Grid((40, 60, 70), np.array([[1, 0, 0, -20], [0, 1, 0, -30], [0, 0, 1, -5], [0, 0, 0, 1.0]]))


def case_of(points: Any = GT, pred: Any = None, *, image: bool = False, **parts: Any) -> Case:
    sides = [None if side is None else Landmarks(side) for side in (points, pred)]
    channels = {"ct": Volume(np.full(GRID.shape, 300, dtype=np.int16), GRID)} if image else {}
    return Case(
        CaseEntry("V/1", remap=Remap(None, "none")),
        channels,
        gt_landmarks=sides[0],
        pred_landmarks=sides[1],
        **parts,
    )


def mask(labels: Mapping[int, tuple[int, int, int]], grid: Grid = GRID) -> LabelMap:
    data = np.zeros(grid.shape, dtype=np.uint8)
    for label, (i, j, k) in labels.items():
        data[i - 2 : i + 3, j - 2 : j + 3, k - 2 : k + 3] = label
    return LabelMap(data, grid)


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.texts]


def boxes(figure: Any) -> dict[str, str]:
    """Names beside the picture and the colour of their boxes; those of the prediction end in a *."""
    found = {}
    for note in figure.axes[0].texts:
        if isinstance(note, Annotation) and note.get_bbox_patch() is not None:
            side = "*" if note.get_horizontalalignment() == "left" else ""
            found[note.get_text() + side] = to_hex(note.get_bbox_patch().get_facecolor())
    return found


class TestPlaces:
    def test_points_lie_at_their_length_and_distance_behind(self) -> None:
        # From T12 downwards; L1 predicted 4 mm behind and 3 mm below its place, and 6 mm to the right.
        scene = make_spine_scene(case_of(GT, {20: (6, -4, 27)}), SPEC)
        assert [(p.label, p.along_mm, p.behind_mm) for p in scene.gt] == [
            (19, pytest.approx(0), pytest.approx(0)),
            (20, pytest.approx(30), pytest.approx(0)),
            (21, pytest.approx(60), pytest.approx(0)),
        ]
        (point,) = scene.pred
        assert (point.along_mm, point.behind_mm, point.right_mm) == pytest.approx((33, 4, 6))
        assert point.text == "7.8 mm  R 6 mm"
        assert any("to the patient's right or left" in note for note in scene.notes)

    def test_the_picture_holds_points_beyond_the_ends(self) -> None:
        scene = make_spine_scene(case_of(GT, {**GT, 24: (0, 0, -70)}), SPEC)
        assert scene.extent[2] > 130 + 20
        far = make_spine_scene(case_of(GT, {**GT, 24: (0, 0, -1e6)}), SPEC)
        assert far.extent[2] < 200  # a point that is nowhere near makes no endless picture

    def test_masks_come_out_where_they_are(self) -> None:
        scene = make_spine_scene(case_of(None, gt=_mask()), SPEC)
        for label, along in ((19, 0), (20, 30), (21, 60)):
            rows, columns = np.nonzero(scene.labels["gt"] == label)
            assert rows.mean() + scene.extent[3] + 0.5 == pytest.approx(along, abs=0.6)
            assert columns.mean() + scene.extent[0] + 0.5 == pytest.approx(0, abs=0.6)
        edges = scene.outlines("gt")
        assert edges[..., 0].min() == pytest.approx(-2.5, abs=0.6)
        assert edges[..., 1].min() == pytest.approx(-2.5, abs=0.6)

    def test_an_image_ends_where_its_file_ends(self) -> None:
        scene = make_spine_scene(case_of(image=True), SPEC)
        assert scene.image is not None
        inside = np.isfinite(scene.image)
        assert set(np.unique(scene.image[inside])) == {300.0}
        assert inside.any(axis=0).sum() == 60  # mm from front to back that the image has
        assert inside.any(axis=1).sum() == 70

    def test_without_ground_truth_the_curve_is_that_of_the_prediction(self) -> None:
        scene = make_spine_scene(case_of(None, GT), SPEC)
        assert (scene.on_curve, len(scene.pred), scene.gt) == ("prediction", 3, ())
        assert scene.subtitle == "prediction alone: 3 points"


class TestDrawing:
    def test_names_and_what_is_wrong_have_the_colours_of_the_window(self) -> None:
        pred = {19: (0, -3, 60), 20: (0, 0, 2), 28: (0, 0, 45)}  # L1 where L2 is, T13 invented, L2 missed
        figure = spine_figure(case_of(GT, pred), SPEC)
        gt, found, wrong = (color.lower() for color in (GT_ACCENT, PRED_ACCENT, WRONG_ACCENT))
        assert boxes(figure) == {"T12": gt, "L1": gt, "L2": wrong, "T12*": found, "T13*": found, "L1*": wrong}
        beside = [note.get_text() for note in figure.axes[0].texts]
        assert {"missed", "3.0 mm", "28.0 mm  nearer to L2", "extra"} <= set(beside)
        assert any("identified 1 of 3" in text and "extra T13" in text for text in texts(figure))

    @pytest.mark.parametrize(
        ("candidates", "words"),
        [("all_gt", "identified 1 of 3 (nearest of all)"), ("common", "identified 2 of 3 (nearest of those on both")],
    )
    def test_the_rule_of_a_hit_is_said_beside_the_count(self, candidates: Candidates, words: str) -> None:
        pred = {19: (0, 0, 60), 20: (0, 0, 12)}  # L1 18 mm from its point, 12 mm from L2, which is missed
        spec = replace(SPEC, landmarks=LandmarkRules(candidates=candidates))
        assert make_spine_scene(case_of(GT, pred), spec).subtitle.startswith(words)

    def test_the_scale_bar_has_a_dark_edge(self) -> None:
        (axes,) = spine_figure(case_of(image=True), SPEC).axes
        (bar,) = [line for line in axes.lines if np.ptp(line.get_ydata()) == 50]
        (edge,) = bar.get_path_effects()
        assert edge._gc["foreground"] == "black"
        assert edge._gc["linewidth"] > bar.get_linewidth()

    def test_lines_join_the_two_points_of_a_vertebra(self) -> None:
        figure = spine_figure(case_of(GT, {19: (0, -3, 60), 20: (0, 0, 2)}), SPEC)
        lines = {
            to_hex(line.get_color()): (list(line.get_xdata()), list(line.get_ydata()))
            for line in figure.axes[0].lines
            if to_hex(line.get_color()) in (GT_ACCENT.lower(), WRONG_ACCENT.lower())
        }
        assert lines[GT_ACCENT.lower()] == (pytest.approx([0, 3]), pytest.approx([0, 0]))
        x, y = lines[WRONG_ACCENT.lower()]  # bent to the back, so that lines of shifted labels can be told apart
        assert (x[0], x[-1], y[0], y[-1]) == (pytest.approx(0), pytest.approx(0), pytest.approx(30), pytest.approx(58))
        assert 3 < max(x) < 10

    def test_outside_the_image_has_its_own_colour_and_is_named(self) -> None:
        figure = spine_figure(case_of(image=True), SPEC)
        assert to_hex(figure.axes[0].get_facecolor()) == OUTSIDE.lower()
        assert "outside the image" in [text.get_text() for text in figure.legends[0].get_texts()]

    def test_points_from_a_mask_are_said_to_be_so(self) -> None:
        words = " ".join(texts(spine_figure(case_of(None, gt=_mask()), SPEC)))
        assert "ground-truth points: none in a file: taken from the mask" in words
        assert "no image: masks and points alone" in words

    def test_a_shift_of_all_labels_is_said(self) -> None:
        pred = {label - 1: point for label, point in {**GT, 22: (0, 0, -30)}.items()}
        words = " ".join(texts(spine_figure(case_of({**GT, 22: (0, 0, -30)}, pred), SPEC)))
        assert "shifted by 1 level towards the head" in words

    def test_it_is_a_picture(self) -> None:
        assert png_of(spine_figure(case_of(GT, GT, image=True), SPEC)).startswith(b"\x89PNG")


class TestRefusals:
    @pytest.mark.parametrize("gt", [None, {}, {20: (0, 0, 0)}, {20: (0, 0, 0), 26: (0, 0, 9)}])
    def test_fewer_than_two_vertebrae_are_no_spine(self, gt: Any) -> None:
        with pytest.raises(ReadError, match=r"case V/1: .*two vertebrae or more"):
            spine_figure(case_of(gt), SPEC)

    def test_points_that_make_no_curve_are_named(self) -> None:
        with pytest.raises(ReadError, match=r"case V/1: ground truth: .*left to right"):
            spine_figure(case_of({19: (0, 0, 0), 20: (50, 0, 0)}), SPEC)
        with pytest.raises(ReadError, match="span"):
            spine_figure(case_of({19: (0, 0, 0), 20: (0, 0, -1e8)}), SPEC)

    def test_an_image_without_position_is_refused(self) -> None:
        flat = Grid((3, 3, 3), np.eye(4), has_world=False)
        case = Case(CaseEntry("V/1"), {"ct": Volume(np.zeros((3, 3, 3)), flat)}, gt_landmarks=Landmarks(GT))
        with pytest.raises(GridMismatchError, match="form codes"):
            spine_figure(case, SPEC)

    def test_unknown_names_are_refused(self) -> None:
        with pytest.raises(UsageError, match="channel: got 'mr'"):
            spine_figure(case_of(image=True), SPEC, channel="mr")
        with pytest.raises(UsageError, match="window"):
            spine_figure(case_of(image=True), SPEC, window="teeth")


class TestNotebook:
    def test_one_line_draws_a_case_of_a_bundle(self, shared_data: Path) -> None:
        spine = shared_data / "bundles/spine_ct_verse"
        figure = medotter_viewer.plot_spine(
            spine / "bundle", "TotalSegmentator_spine/example_ct", spine / "predictions/derived"
        )
        assert "TotalSegmentator_spine/example_ct" in texts(figure)
        assert boxes(figure)["L1"] == WRONG_ACCENT.lower()  # called T12
        with pytest.raises(CaseNotFoundError, match="nearest are"):
            medotter_viewer.plot_spine(spine / "bundle", "TotalSegmentator_spine/example")

    def test_a_task_without_vertebrae_has_no_spine(self, shared_data: Path) -> None:
        with pytest.raises(UsageError, match="no vertebrae; use plot_case"):
            medotter_viewer.plot_spine(
                shared_data / "bundles/abdominal_multiorgan_ct/bundle", _first(shared_data / "bundles")
            )


def _mask() -> LabelMap:
    return mask({19: (20, 30, 65), 20: (20, 30, 35), 21: (20, 30, 5)})


def _first(bundles: Path) -> str:
    return next(iter(medotter_viewer.Bundle(bundles / "abdominal_multiorgan_ct/bundle").test))
