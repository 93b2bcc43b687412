"""What is said above the picture of a case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.ui.banner import banner_text, case_line, working_lines
from medotter_viewer.ui.placing import place

SPINE = EvalSpec("vertebra", {"L1": (20,)}, ("dice",), Headline("L1", "dice"))
ENTRY = CaseEntry("A/1", remap=Remap(None, "none"), pred_path=Path("1.nii.gz"))
STRAIGHT = Grid((2, 3, 4), np.diag([1.0, 2.0, 3.0, 1.0]))


def turned(degrees: float) -> Grid:
    """Return the grid turned about the axis from feet to head."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.eye(4)
    turn[:2, :2] = [[c, -s], [s, c]]
    return Grid(STRAIGHT.shape, turn @ STRAIGHT.affine)


def make_case(grid: Grid = STRAIGHT, entry: CaseEntry = ENTRY, **parts: Any) -> Case:
    labels = LabelMap(np.zeros(grid.shape, dtype=np.uint8), grid)
    image = Volume(np.zeros(grid.shape), grid)
    return Case(entry, **{"channels": {"ct": image}, "gt_native": labels, "gt": labels, "pred": labels, **parts})


def test_there_is_nothing_to_say_about_a_plain_case() -> None:
    assert banner_text(make_case()) == ""
    assert banner_text(make_case(turned(0.05))) == ""


def test_a_black_canvas_is_explained_whatever_is_drawn_on_it() -> None:
    assert banner_text(make_case(channels={})) == "no image"  # the manifest names none
    gone = [Finding("warning", "missing-file", f"case A/1: chan.{name}: no such file: {name}.nii.gz") for name in "ab"]
    lines = banner_text(make_case(channels={}, findings=tuple(gone))).split("\n")
    assert lines == ["chan.a: no such file: a.nii.gz", "chan.b: no such file: b.nii.gz", "no image"]
    said = Finding("warning", "missing-file", "case A/1: image: no such file: a.nii.gz")
    assert banner_text(make_case(channels={}, findings=(said,))) == "image: no such file: a.nii.gz"


def test_an_oblique_case_says_by_how_much() -> None:
    line = "oblique by 30.0 deg: shown along its own axes"
    assert banner_text(make_case(turned(30))) == line
    image = Volume(np.zeros(STRAIGHT.shape), turned(30))
    assert banner_text(make_case(gt_native=None, gt=None, pred=None, channels={"ct": image})) == line


def test_native_ids_are_said_only_where_canonical_ones_could_be_shown() -> None:
    assert banner_text(make_case(), native_shown=True) == "ground truth in native ids, before the remap"
    assert banner_text(make_case(gt=None), native_shown=True) == ""


def test_a_missing_prediction_is_said_once() -> None:
    without = replace(ENTRY, pred_path=None)
    assert banner_text(make_case(entry=without, pred=None)) == "no prediction for this case"
    several = Finding("error", "ambiguous-prediction", "case A/1: two files could be its prediction")
    assert banner_text(make_case(entry=without, pred=None, findings=(several,))) == "two files could be its prediction"


def test_findings_that_change_what_is_seen_are_said_without_the_name_of_the_case() -> None:
    findings = (
        Finding("error", "grid-mismatch", "case A/1: grids differ by 12 mm"),
        Finding("info", "some-detail", "case A/1: of no consequence for the picture"),
        Finding("warning", "image-grid-differs", "case A/1: ct: another grid"),
        Finding("error", "grid-mismatch", "case A/1: grids differ by 12 mm"),
        Finding("error", "missing-file", "case A/10: no such file"),
    )
    assert banner_text(make_case(turned(30), findings=findings), native_shown=True).split("\n") == [
        "oblique by 30.0 deg: shown along its own axes",
        "ground truth in native ids, before the remap",
        "grids differ by 12 mm",
        "ct: another grid",
        "case A/10: no such file",
    ]


def test_the_line_of_a_case_names_its_grid_where_it_has_one() -> None:
    assert case_line(make_case()) == "A/1  ·  2 x 3 x 4 voxels of 1 x 2 x 3 mm, RAS"
    nothing: dict[str, Any] = {"channels": {}, "gt_native": None, "gt": None, "pred": None}
    assert case_line(make_case(**nothing)) == "A/1"
    image = Volume(np.zeros((5, 6, 7)), Grid((5, 6, 7), np.eye(4), has_world=False))
    assert case_line(make_case(**{**nothing, "channels": {"ct": image}})) == (
        "A/1  ·  5 x 6 x 7 voxels of 1 x 1 x 1 mm, orientation unknown"
    )


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        (1, "what if: labels moved by 1 level towards the feet"),
        (-2, "what if: labels moved by 2 levels towards the head"),
    ],
)
def test_a_what_if_and_what_is_edited_are_said(shift: int, said: str) -> None:
    with_points = place(make_case(pred_landmarks=Landmarks({20: (0, 0, 0)})), SPINE)
    assert working_lines(with_points, "", shift) == [said]
    assert working_lines(with_points, "drag them", 0) == ["editing points\ndrag them"]
    assert working_lines(place(make_case(), SPINE), "draw", 0) == ["editing contours\ndraw"]
    assert working_lines(with_points, "", 0) == []
