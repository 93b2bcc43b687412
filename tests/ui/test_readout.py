"""The line about what lies under the pointer; positions are worked out by hand."""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.ui.readout import label_name, position_of, readout, voxel_at

# i to the right 1 mm, j to the front 2 mm, k to the head 3 mm, from R 10, P 20, S 30.
GRID = Grid((4, 5, 6), np.array([[1.0, 0, 0, 10], [0, 2, 0, -20], [0, 0, 3, 30], [0, 0, 0, 1]]))
SPEC = EvalSpec("seg", {"organs": (1, 2), "liver": (1,), "apart": (4, 5)}, ("dice",), Headline("liver", "dice"))
VOXEL, AT = (1, 2, 3), (-39.0, 16.0, -11.0)  # R 11, P 16, S 39 mm
TURN = radians(30)


def labels(value: int = 0) -> NDArray[np.uint8]:
    data = np.zeros(GRID.shape, dtype=np.uint8)
    data[VOXEL] = value
    return data


def make_case(**parts: Any) -> Case:
    image = np.zeros(GRID.shape, dtype=np.int16)
    image[VOXEL] = 57
    whole: dict[str, Any] = {
        "channels": {"ct": Volume(image, GRID), "pet": Volume(image / 8, GRID)},
        "gt_native": LabelMap(labels(7), GRID),
        "gt": LabelMap(labels(1), GRID),
        "pred": LabelMap(labels(2), GRID),
    }
    return Case(CaseEntry("A/1", remap=Remap({7: 1}, "dict")), **{**whole, **parts})


def test_position_voxel_intensity_and_all_labels_are_said_in_one_line() -> None:
    assert readout(make_case(), SPEC, AT, unit="HU") == (
        "LPS -11.0 16.0 39.0 mm  ·  voxel 1 2 3  ·  HU 57  ·  gt liver (1)  ·  native 7  ·  pred organs (2)"
    )


def test_the_voxel_is_the_nearest_one() -> None:
    near = [at + half for at, half in zip(AT, (-1.4, 0.9, 0.4), strict=True)]
    assert "voxel 1 2 3" in readout(make_case(), SPEC, near)
    assert "voxel 1 2 2" in readout(make_case(), SPEC, (AT[0] + 1.6, *AT[1:]))
    assert "voxel 1 1 3" in readout(make_case(), SPEC, (AT[0], AT[1] + 1.1, AT[2]))
    assert "voxel 0 2 3" in readout(make_case(), SPEC, (*AT[:2], AT[2] + 0.6))


def test_what_a_case_lacks_is_left_out() -> None:
    only_pred = make_case(channels={}, gt=None, gt_native=None)
    assert readout(only_pred, SPEC, AT) == "LPS -11.0 16.0 39.0 mm  ·  voxel 1 2 3  ·  pred organs (2)"
    only_native = make_case(channels={}, gt=None, pred=None)
    assert readout(only_native, SPEC, AT) == "LPS -11.0 16.0 39.0 mm  ·  voxel 1 2 3  ·  native 7"
    only_image = make_case(gt=None, gt_native=None, pred=None)
    assert readout(only_image, SPEC, AT) == "LPS -11.0 16.0 39.0 mm  ·  voxel 1 2 3  ·  value 57"
    assert readout(make_case(channels={}, gt=None, gt_native=None, pred=None), SPEC, AT) == ""


def test_the_prediction_is_read_as_edited_and_the_channel_as_asked() -> None:
    line = readout(make_case(), SPEC, AT, pred_data=labels(1), channel="pet")
    assert "value 7.125" in line
    assert line.endswith("pred liver (1)")
    assert "value 57" in readout(make_case(), SPEC, AT, channel="not there")


@pytest.mark.parametrize("past", [(-46.6, 16.0, -11.0), (-39.0, 21.1, -11.0), (-39.0, 16.0, -9.4)])
def test_outside_nothing_is_said(past: tuple[float, float, float]) -> None:
    assert voxel_at(GRID, past) is None
    assert readout(make_case(), SPEC, past) == ""


def test_outside_the_image_the_labels_are_still_said() -> None:
    small = Volume(np.zeros((1, 1, 1)), Grid((1, 1, 1), GRID.affine))
    line = readout(make_case(channels={"ct": small}), SPEC, AT)
    assert "outside the image  ·  gt liver (1)" in line


def test_a_file_that_does_not_say_where_it_lies_has_no_position() -> None:
    grid = Grid(GRID.shape, np.diag([1.0, 2.0, 3.0, 1.0]), has_world=False)
    case = make_case(channels={}, gt=LabelMap(labels(1), grid), gt_native=None, pred=None)
    assert readout(case, SPEC, position_of(grid, VOXEL)) == "no position  ·  voxel 1 2 3  ·  gt liver (1)"


def test_at_the_origin_no_zero_has_a_sign() -> None:
    grid = Grid(GRID.shape, np.eye(4))
    case = make_case(channels={}, gt=LabelMap(labels(), grid), gt_native=None, pred=None)
    assert readout(case, SPEC, (0.0, 0.0, 0.0)) == "LPS 0.0 0.0 0.0 mm  ·  voxel 0 0 0  ·  gt background"


def test_an_oblique_volume_is_drawn_along_its_own_axes_and_read_out_where_it_lies() -> None:
    c, s = cos(TURN), sin(TURN)
    grid = Grid((3, 3, 3), np.array([[c, -s, 0, 10], [s, c, 0, 20], [0, 0, 2, 30], [0, 0, 0, 1]]))
    # The middle voxel lies at R 10 + c - s = 10.366, A 20 + s + c = 21.366, S 32 and is drawn there;
    # the next one along i lies at R 11.232, A 21.866 and is drawn 1 mm further to the right, no further to the front.
    middle, beside = (-32.0, -(20 + s + c), -(10 + c - s)), (-32.0, -(20 + s + c), -(11 + c - s))
    assert (voxel_at(grid, middle), voxel_at(grid, beside)) == ((1, 1, 1), (2, 1, 1))
    assert position_of(grid, (2, 1, 1)) == pytest.approx(beside)
    gt = LabelMap(np.full((3, 3, 3), 2, dtype=np.uint8), grid)
    case = make_case(channels={}, gt=gt, gt_native=None, pred=None)
    assert readout(case, SPEC, middle).startswith("LPS -10.4 -21.4 32.0 mm  ·  voxel 1 1 1")
    assert readout(case, SPEC, beside) == "LPS -11.2 -21.9 32.0 mm  ·  voxel 2 1 1  ·  gt organs (2)"


def test_every_voxel_is_found_where_it_is_drawn() -> None:
    flipped = Grid((2, 3, 4), np.array([[0.0, 0, -3, 5], [-1, 0, 0, 6], [0, 2, 0, 7], [0, 0, 0, 1]]))
    for grid in (GRID, flipped):
        for voxel in np.ndindex(*grid.shape):
            assert voxel_at(grid, position_of(grid, voxel)) == voxel


@pytest.mark.parametrize(
    ("label", "name"),
    [(0, "background"), (1, "liver (1)"), (2, "organs (2)"), (5, "apart (5)"), (9, "id 9")],
)
def test_an_id_is_called_by_the_smallest_region_that_holds_it(label: int, name: str) -> None:
    assert label_name(label, SPEC) == name
