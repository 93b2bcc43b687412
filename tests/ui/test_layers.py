"""Descriptions of layers: views in displayed order, colours instead of copies, napari not needed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import PRESETS, limits
from medotter_viewer.metrics.error_map import error_map
from medotter_viewer.ui import colors
from medotter_viewer.ui.derived import ErrorView, RegionView, same_data
from medotter_viewer.ui.layers import LayerSpec, ShowOptions, specs

GRID = Grid((4, 5, 6), np.diag([1.0, 2.0, 3.0, 1.0]))
SPEC = EvalSpec(
    "seg",
    {"one": (1,), "two": (2,), "both": (1, 2)},
    ("dice",),
    Headline("one", "dice"),
    label_space=frozenset({0, 1, 2, 3}),
)


def labels(seed: int, high: int = 4) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, high, GRID.shape, dtype=np.uint8)


def make_case(remap: Remap | None = None, **parts: Any) -> Case:
    remap = remap or Remap(None, "none")
    gt = LabelMap(labels(1), GRID)
    chosen: dict[str, Any] = {
        "channels": {"ct": Volume(np.arange(120, dtype=np.int16).reshape(GRID.shape), GRID)},
        "gt_native": gt,
        "gt": LabelMap(remap.apply(gt.data), GRID),
        "pred": LabelMap(labels(2), GRID),
    }
    return Case(CaseEntry("set/1", dataset="set", remap=remap), **{**chosen, **parts})


def by_role(case: Case, options: ShowOptions | None = None, **more: Any) -> dict[str, LayerSpec]:
    return {spec.role: spec for spec in specs(case, SPEC, options, **more)}


def test_layers_come_from_the_lowest_to_the_topmost() -> None:
    roles = [spec.role for spec in specs(make_case(), SPEC, ShowOptions(mode="error"))]
    assert roles == ["image:ct", "error", "gt", "pred"]


def test_data_are_views_in_displayed_order_with_positive_steps() -> None:
    case = make_case()
    found = by_role(case)
    assert case.gt is not None
    assert found["gt"].data.base is not None
    assert np.shares_memory(found["gt"].data, case.gt.data)
    assert np.shares_memory(found["image:ct"].data, case.channels["ct"].data)
    np.testing.assert_array_equal(found["gt"].data, case.gt.data.transpose(2, 1, 0)[::-1, ::-1, ::-1])
    assert found["gt"].scale == (3.0, 2.0, 1.0)
    assert found["gt"].translate == (-15.0, -8.0, -3.0)


def test_the_working_copy_of_the_prediction_is_shown_and_may_be_painted_on() -> None:
    case = make_case()
    work = labels(5)
    shown = by_role(case, pred_data=work)["pred"]
    assert shown.editable
    assert np.shares_memory(shown.data, work)
    assert not by_role(case)["pred"].editable


def test_a_mask_of_booleans_is_shown_without_a_copy_and_float64_as_float32() -> None:
    mask = labels(1) > 1
    image = np.linspace(0, 1, 120).reshape(GRID.shape)
    case = make_case(channels={"mr": Volume(image, GRID)}, pred=LabelMap(mask, GRID))  # type: ignore[arg-type]
    found = by_role(case)
    assert found["pred"].data.dtype == np.uint8
    assert np.shares_memory(found["pred"].data, mask)
    assert found["image:mr"].data.dtype == np.float32


def test_contours_are_in_label_colours_for_ground_truth_and_in_orange_for_the_prediction() -> None:
    found = by_role(make_case())
    gt, pred = found["gt"].color_dict, found["pred"].color_dict
    assert gt is not None
    assert pred is not None
    assert gt[2] == colors.label_color(2)
    assert pred[1] == pred[3] == colors.rgba(colors.PRED_ACCENT)
    assert gt[None] == pred[None] == colors.LOUD
    assert found["gt"].contour > found["pred"].contour > 0


def test_ground_truth_is_filled_under_an_outline_of_the_same_colour() -> None:
    found = by_role(make_case(), ShowOptions(mode="fill"))
    assert (found["gt"].contour, found["pred"].contour) == (0, 1)
    assert found["gt"].opacity < 1
    assert found["gt"].color_dict == found["pred"].color_dict


def test_a_region_of_one_id_is_shown_through_colours_and_stays_paintable() -> None:
    work = labels(3)
    found = by_role(make_case(), ShowOptions(region="two"), pred_data=work)
    for role, accent in (("gt", colors.GT_ACCENT), ("pred", colors.PRED_ACCENT)):
        assert found[role].color_dict == {None: colors.CLEAR, 0: colors.CLEAR, 2: colors.rgba(accent)}
    assert found["pred"].editable
    assert np.shares_memory(found["pred"].data, work)


def test_a_region_of_several_ids_is_outlined_as_one_unless_it_is_painted_on() -> None:
    case, work = make_case(), labels(3)
    joined = by_role(case, ShowOptions(region="both"), pred_data=work)["pred"]
    assert isinstance(joined.data, RegionView)
    assert not joined.editable
    assert joined.names == {1: "both"}
    whole = np.asarray(joined.data)
    assert set(np.unique(whole)) == {0, 1}
    np.testing.assert_array_equal(whole > 0, np.isin(work.transpose(2, 1, 0)[::-1, ::-1, ::-1], (1, 2)))
    apart = by_role(case, ShowOptions(region="both", joined=False), pred_data=work)["pred"]
    assert apart.editable
    assert np.shares_memory(apart.data, work)


@pytest.mark.parametrize(
    ("options", "there"),
    [
        (ShowOptions(), True),
        (ShowOptions(region="macro_avg"), True),
        (ShowOptions(region="one"), False),
        (ShowOptions(region="both"), False),
        (ShowOptions(region="both", joined=False), False),
        (ShowOptions(native=True), False),
        (ShowOptions(mode="fill"), False),
        (ShowOptions(mode="off"), False),
        (ShowOptions(mode="error"), True),
        (ShowOptions(mode="error", region="one"), True),
    ],
)
def test_the_error_map_is_there_in_its_mode_and_under_the_contours_of_all_regions(
    options: ShowOptions, there: bool
) -> None:
    assert ("error" in by_role(make_case(), options)) is there
    assert "error" not in by_role(make_case(pred=None), options)
    assert "error" not in by_role(make_case(gt=None), options)


def test_under_contours_only_a_wrong_label_is_tinted() -> None:
    gt = np.zeros(GRID.shape, dtype=np.uint8)
    gt[0, 0, :4] = 1, 1, 2, 2
    pred = np.zeros_like(gt)
    pred[0, 0, 1:5] = 2, 1, 2, 2  # missed, two swapped, right, invented
    shown = by_role(make_case(gt=LabelMap(gt, GRID), pred=LabelMap(pred, GRID)))["error"]
    assert shown.visible
    assert shown.color_dict == colors.error_colors(only_wrong=True)
    errors = np.asarray(shown.data)[::-1, ::-1, ::-1].transpose(2, 1, 0)
    assert errors[0, 0].tolist() == [2, 4, 4, 1, 3, 0]
    tinted = np.vectorize(lambda value: shown.color_dict[value][3] > 0)(errors)
    assert np.argwhere(tinted).tolist() == [[0, 0, 1], [0, 0, 2]]
    hidden = by_role(make_case(), ShowOptions(hidden=frozenset({"error"})))["error"]
    assert not hidden.visible


def test_the_error_map_follows_edits() -> None:
    case, work = make_case(), labels(2).copy()
    assert case.gt is not None
    found = by_role(case, ShowOptions(mode="error"), pred_data=work)
    assert not found["gt"].visible
    assert not found["pred"].visible
    assert found["error"].color_dict == colors.error_colors()
    view = found["error"].data
    assert isinstance(view, ErrorView)
    work[...] = case.gt.data
    shown = case.gt.data.transpose(2, 1, 0)[::-1, ::-1, ::-1]
    np.testing.assert_array_equal(np.asarray(view), error_map(shown, shown, ids=[1, 2]))
    assert set(np.unique(view[3])) <= {0, 1}


def test_the_error_map_of_a_region_is_that_of_one_mask() -> None:
    case = make_case()
    assert case.gt is not None
    assert case.pred is not None
    view = by_role(case, ShowOptions(mode="error", region="both"))["error"].data
    expected = error_map(case.gt.data, case.pred.data, ids=[1, 2], as_one=True).transpose(2, 1, 0)[::-1, ::-1, ::-1]
    np.testing.assert_array_equal(np.asarray(view), expected)
    np.testing.assert_array_equal(view[:, 2], expected[:, 2])
    assert 4 not in expected


def test_native_ids_have_their_own_colours_and_a_region_means_what_becomes_of_them() -> None:
    case = make_case(Remap({3: 1, 1: 2}, "dict"))
    native = by_role(case, ShowOptions(native=True))["gt"]
    assert case.gt_native is not None
    assert np.shares_memory(native.data, case.gt_native.data)
    assert native.color_dict is not None
    assert native.color_dict[3] == colors.label_color(3)
    alone = by_role(case, ShowOptions(native=True, region="one"))["gt"]
    assert alone.color_dict == {None: colors.CLEAR, 0: colors.CLEAR, 3: colors.rgba(colors.GT_ACCENT)}


def test_without_a_remap_native_ids_are_shown_and_nothing_is_called_an_error() -> None:
    found = by_role(make_case(gt=None), ShowOptions(mode="error"))
    assert "error" not in found
    assert found["gt"].name == "ground truth (native ids)"


def test_the_prediction_alone_is_filled() -> None:
    found = by_role(make_case(gt=None, gt_native=None), ShowOptions(mode="fill"))
    assert found["pred"].contour == 0


def test_roles_can_be_hidden_for_a_moment_and_overlays_switched_off() -> None:
    found = by_role(make_case(), ShowOptions(hidden=frozenset({"pred"})))
    assert (found["gt"].visible, found["pred"].visible) == (True, False)
    assert not any(s.visible for r, s in by_role(make_case(), ShowOptions(mode="off")).items() if r in ("gt", "pred"))


def test_without_regions_every_id_that_occurs_has_its_colour() -> None:
    spec = EvalSpec("instance_seg_3d", {}, ("pq",), Headline("macro_avg", "pq"))
    many = np.zeros(GRID.shape, dtype=np.uint16)
    many[0, 0, :2] = (70, 60000)
    found = {s.role: s for s in specs(make_case(pred=LabelMap(many, GRID)), spec, ShowOptions(mode="fill"))}
    table = found["pred"].color_dict
    assert table is not None
    assert set(table) == {None, 0, 70, 60000}
    assert table[70] != table[60000]


def test_one_channel_is_visible() -> None:
    image = np.zeros(GRID.shape, dtype=np.int16)
    case = make_case(channels={name: Volume(image, GRID) for name in ("t1", "t2", "fla")})
    for asked, shown in (("t2", "t2"), (None, "t1"), ("adc", "t1")):
        found = by_role(case, ShowOptions(channel=asked))
        assert [r for r, s in found.items() if s.is_image and s.visible] == [f"image:{shown}"]


def test_a_preset_is_for_images_with_hu_and_own_limits_win() -> None:
    ct = np.arange(120, dtype=np.int16).reshape(GRID.shape) * 10 - 1000
    case = make_case(channels={"ct": Volume(ct, GRID), "pet": Volume(np.abs(ct) + 1, GRID)})
    lung = PRESETS[1]
    found = by_role(case, ShowOptions(window=lung))
    assert found["image:ct"].contrast_limits == limits(lung) == (-1350.0, 150.0)
    assert found["image:pet"].contrast_limits != limits(lung)
    assert by_role(case, ShowOptions(window=lung, limits=(5, 6)))["image:ct"].contrast_limits == (5, 6)
    low, high = found["image:ct"].limits_range or (0, 0)
    assert low <= -1350
    assert high >= 150


def test_same_memory_is_recognised_and_other_memory_is_not() -> None:
    one = labels(1)
    assert same_data(one.T, one.T)
    assert not same_data(one, one.copy())
    assert not same_data(one, one[::-1])
    assert same_data(ErrorView(one, one, (1,), False), ErrorView(one, one, (1,), False))
    assert not same_data(ErrorView(one, one, (1,), False), ErrorView(one, one, (1,), True))
    assert not same_data(RegionView(one, (1, 2)), RegionView(one, (1, 3)))
    assert not same_data(RegionView(one, (1, 2)), one)


def test_options_are_values() -> None:
    assert replace(ShowOptions(), region="one") == ShowOptions(region="one")


def test_descriptions_need_neither_napari_nor_qt() -> None:
    code = (
        "import sys, medotter_viewer.ui.layers, medotter_viewer.ui.letters\n"
        "sys.exit(any(m.split('.')[0] in ('napari', 'qtpy', 'PyQt6') for m, one in sys.modules.items() if one))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_image_stored_the_other_way_round_lies_under_its_labels_with_positive_steps() -> None:
    shape = (4, 5, 3)
    ras = Grid(shape, np.diag([2.0, 2.0, 3.0, 1.0]))
    lps = Grid(shape, np.array([[-2.0, 0, 0, 6], [0, -2.0, 0, 8], [0, 0, 3.0, 0], [0, 0, 0, 1]]))
    values = np.arange(60, dtype=np.int16).reshape(shape)  # of the image: 0 lies at (6, 8, 0) mm
    gt = LabelMap((values % 7 == 0).astype(np.uint8)[::-1, ::-1], ras)
    assert gt.data[3, 4, 0] == 1  # which is (6, 8, 0) mm too
    case = make_case(channels={"ct": Volume(values, lps)}, gt_native=gt, gt=gt, pred=None)
    found = by_role(case)
    image, labels_shown = found["image:ct"], found["gt"]
    assert image.scale == labels_shown.scale == (3.0, 2.0, 2.0)
    assert image.translate == labels_shown.translate
    np.testing.assert_array_equal(np.asarray(labels_shown.data) == 1, np.asarray(image.data) % 7 == 0)
    (at,) = np.argwhere(np.asarray(image.data) == 0)
    # Displayed axes are -S, P, L: (6, 8, 0) mm to the right, front and head are -0, -8, -6.
    assert (at * image.scale + image.translate).tolist() == [0.0, -8.0, -6.0]
