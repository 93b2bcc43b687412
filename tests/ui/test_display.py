"""The layers of a viewer: made once, swapped in place, nothing of an earlier case kept. No window needed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.layers import ShowOptions, specs

SPEC = EvalSpec("seg", {"one": (1,), "two": (2,), "both": (1, 2)}, ("dice",), Headline("one", "dice"))
PRED = "pred"


def make_case(
    shape: tuple[int, int, int] = (12, 14, 10),
    spacing: tuple[float, float, float] = (1.0, 1.0, 2.0),
    channels: Iterable[str] = ("image",),
    *,
    gt: bool = True,
    pred: bool = True,
) -> Case:
    grid = Grid(shape, np.diag([*spacing, 1.0]))
    rng = np.random.default_rng(sum(shape))

    def label_map(wanted: bool) -> LabelMap | None:
        return LabelMap(rng.integers(0, 3, shape, dtype=np.uint8), grid) if wanted else None

    truth = label_map(gt)
    images = {name: Volume(rng.integers(-900, 900, shape).astype(np.int16), grid) for name in channels}
    entry = CaseEntry("set/1", dataset="set", remap=Remap(None, "none"))
    return Case(entry, images, truth, truth, label_map(pred))


@pytest.fixture
def viewer() -> ViewerModel:
    return ViewerModel()


def show(display: Display, case: Case, options: ShowOptions | None = None) -> None:
    display.apply(specs(case, SPEC, options, pred_data=None if case.pred is None else case.pred.data))


def test_images_lie_below_errors_below_ground_truth_below_the_prediction(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case(gt=False))
    show(display, make_case(channels=("t1", "t2")), ShowOptions(mode="error"))
    show(display, make_case(channels=("t1", "fla")))
    names = [layer.name for layer in viewer.layers]
    assert names == ["image", "t1", "t2", "fla", "errors", "ground truth", "prediction"]


def test_a_layer_of_the_user_stays_on_top(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    points = viewer.add_points(np.zeros((1, 3)), units=("mm",) * 3)
    show(display, make_case(channels=("t1", "t2")), ShowOptions(mode="error"))
    assert viewer.layers[-1] is points


def test_every_layer_has_mm_the_same_axes_and_no_affine(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case(channels=("t1", "t2")), ShowOptions(mode="error"))
    for layer in viewer.layers:
        assert [str(unit) for unit in layer.units] == ["millimeter"] * 3
        assert layer.axis_labels == ("I", "P", "L")
        assert (layer.scale > 0).all()
        np.testing.assert_array_equal(layer.affine.affine_matrix, np.eye(4))
    assert viewer.dims.axis_labels == ("I", "P", "L")
    assert [str(unit) for unit in viewer.layers.extent.units] == ["millimeter"] * 3


def test_layers_stay_the_same_objects_over_cases_of_all_kinds(viewer: ViewerModel) -> None:
    display = Display(viewer)
    cases = [
        make_case(),
        make_case((8, 9, 30), (0.5, 0.5, 3.0)),
        make_case(channels=()),
        make_case((20, 6, 7), channels=("t1c", "fla", "t2", "t1")),
        make_case((9, 9, 9), pred=False),
    ]
    known: dict[str, Any] = {}
    for case in cases:
        show(display, case)
        for role in ("image:image", "error", "gt", "pred", "image:t1c", "image:t1"):
            layer = display.layer(role)
            assert known.setdefault(role, layer) is layer or known[role] is None
            known[role] = layer
        assert case.gt is not None
        np.testing.assert_array_equal(known["gt"].data, case.gt.data.transpose(2, 1, 0)[::-1, ::-1, ::-1])
        assert tuple(known["gt"].scale) == case.gt.grid.spacing[::-1]
        assert known["pred"].visible is (case.pred is not None)
        shown = [
            layer.name for layer in viewer.layers if layer.visible and layer.name not in ("ground truth", "prediction")
        ]
        assert shown == list(case.channels)[:1] + ["errors"] * (case.pred is not None)
    assert len(viewer.layers) == 8
    assert known["pred"].data.shape == known["error"].data.shape == (1, 1, 1)


def test_a_hidden_role_does_not_widen_the_range_of_the_sliders(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case((40, 40, 40), (0.3, 0.3, 0.3), ("t1", "t2")), ShowOptions(mode="error"))
    show(display, make_case((4, 5, 6), (1.0, 2.0, 3.0)))
    show(display, make_case((5, 6, 7), (1.0, 2.0, 3.0), channels=()))
    assert [tuple(axis) for axis in viewer.dims.range] == [(-18.0, 0.0, 3.0), (-10.0, 0.0, 2.0), (-4.0, 0.0, 1.0)]


def test_a_case_without_arrays_keeps_the_steps_of_the_grid_it_is_drawn_on(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    display.ground = (4.0, 2.0, 2.0), (0.0, 0.0, 0.0)
    display.apply([])
    assert [axis.step for axis in viewer.dims.range] == [4.0, 2.0, 2.0]


@pytest.mark.parametrize("mode", ["contour", "error"])
def test_arrays_of_an_earlier_case_are_let_go(viewer: ViewerModel, mode: Any) -> None:
    display = Display(viewer)
    first = make_case(channels=("t1", "t2"))
    assert first.gt is not None
    assert first.pred is not None
    old = [weakref.ref(a) for a in (first.gt.data, first.pred.data, *(v.data for v in first.channels.values()))]
    show(display, first, ShowOptions(mode=mode))
    show(display, first, ShowOptions(region="both"))
    display.layer(PRED).editable = True
    show(display, first)
    display.layer(PRED).fill((1, 1, 1), 2)
    viewer.dims.set_point(0, -4.0)
    del first
    show(display, make_case((9, 8, 7)), ShowOptions(mode=mode))
    gc.collect()
    assert [ref() is None for ref in old] == [True] * 4


@pytest.mark.window
def test_a_window_lets_arrays_of_an_earlier_case_go(new_viewer: Any) -> None:
    viewer = new_viewer()
    display = Display(viewer)
    first = make_case(channels=("t1", "t2"))
    assert first.gt is not None
    assert first.pred is not None
    old = [weakref.ref(a) for a in (first.gt.data, first.pred.data, *(v.data for v in first.channels.values()))]
    show(display, first, ShowOptions(channel="t2"))
    show(display, first, ShowOptions(mode="error"))
    show(display, first)
    viewer.screenshot(flash=False)
    del first
    show(display, make_case((9, 8, 7)))
    viewer.screenshot(flash=False)
    gc.collect()
    assert [ref() is None for ref in old] == [True] * 4


def test_strokes_of_an_earlier_case_cannot_be_undone_in_the_next(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    layer = display.layer(PRED)
    layer.fill((1, 1, 1), 2)
    second = make_case()
    assert second.pred is not None
    second.pred.data[...] = 1
    show(display, second)
    layer.undo()
    assert (second.pred.data == 1).all()


def test_painting_changes_the_working_copy_in_place(viewer: ViewerModel) -> None:
    display, case = Display(viewer), make_case()
    assert case.pred is not None
    work = case.pred.data.copy(order="K")
    display.apply(specs(case, SPEC, pred_data=work))
    layer = display.layer(PRED)
    layer.data_setitem((np.array([0]), np.array([0]), np.array([0])), 2)
    assert work[-1, -1, -1] == 2
    layer.brush_size = 1
    layer.paint((3.0, 2.0, 1.0), 1)
    assert work[-2, -3, -4] == 1


def test_only_what_differs_is_written(viewer: ViewerModel) -> None:
    display, case = Display(viewer), make_case()
    show(display, case)
    written: list[tuple[str, str]] = []
    for layer in viewer.layers:
        for name in ("data", "scale", "translate", "visible", "opacity", "colormap", "contrast_limits", "name"):
            if name in layer.events:
                layer.events[name].connect(lambda event, layer=layer.name: written.append((layer, event.type)))
    show(display, case)
    assert written == []
    show(display, case, ShowOptions(region="one"))
    recoloured = {("ground truth", "colormap"), ("prediction", "colormap")}
    assert {one for one in written if one[0] != "errors"} == recoloured
    assert {what for layer, what in written if layer == "errors"} >= {"visible", "data"}  # not with a region alone
    written.clear()
    show(display, case, ShowOptions(region="two"))
    assert set(written) == recoloured


def test_contrast_set_by_hand_stays_until_a_new_case_or_window(viewer: ViewerModel) -> None:
    display, case = Display(viewer), make_case()
    show(display, case)
    image = display.layer("image:image")
    image.contrast_limits = (-20, 20)
    show(display, case, ShowOptions(region="two"))
    assert tuple(image.contrast_limits) == (-20, 20)
    show(display, case, ShowOptions(limits=(0, 50)))
    assert tuple(image.contrast_limits) == (0, 50)
    show(display, make_case((6, 7, 8)), ShowOptions(limits=(0, 50)))
    assert tuple(image.contrast_limits) == (0, 50)


def test_slices_and_frames_are_found_on_the_grid_of_the_labels(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case((12, 14, 10), (1.0, 1.5, 2.0)))
    display.set_slice(3)
    assert viewer.dims.point[0] == -18 + 3 * 2.0
    display.set_slice(2, axis=1)
    assert viewer.dims.point[1] == -19.5 + 2 * 1.5
    display.frame((4, 5, 6), extent_mm=(10, 20, 30))
    assert viewer.dims.point == (-10.0, -12.0, -5.0)
    assert viewer.scene.camera.center == (0.0, -12.0, -5.0)
    assert viewer.scene.camera.zoom == pytest.approx(min(800 / 20, 600 / 30))
    viewer.dims.order = (1, 0, 2)
    display.frame((4, 5, 6))
    assert viewer.scene.camera.center == (0.0, -10.0, -5.0)


def test_the_whole_volume_fits_the_canvas(viewer: ViewerModel) -> None:
    display = Display(viewer)
    display.fit()
    show(display, make_case((100, 50, 10), (1.0, 1.0, 1.0)))
    display.fit(margin=0)
    assert viewer.scene.camera.zoom == pytest.approx(6.0)
    assert viewer.scene.camera.center == (0.0, -24.5, -49.5)


def test_a_layer_that_was_taken_away_is_made_again(viewer: ViewerModel) -> None:
    display, case = Display(viewer), make_case()
    show(display, case)
    viewer.layers.remove(display.layer("gt"))
    show(display, case)
    assert [layer.name for layer in viewer.layers] == ["image", "errors", "ground truth", "prediction"]


def test_names_show_under_the_pointer(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    assert list(display.layer("gt").features["name"]) == ["one", "two"]
    assert display.layer("image:image").locked


def test_the_active_layer_stays_when_layers_are_added(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    viewer.layers.selection.active = display.layer(PRED)
    show(display, make_case(channels=("t1", "t2")), ShowOptions(mode="error"))
    assert viewer.layers.selection.active is display.layer(PRED)


def test_no_case_leaves_nothing_visible(viewer: ViewerModel) -> None:
    display = Display(viewer)
    show(display, make_case())
    display.apply([])
    assert not any(layer.visible for layer in viewer.layers)
    assert not display.shows("gt")


def test_a_moved_grid_is_written_without_new_data(viewer: ViewerModel) -> None:
    display, case = Display(viewer), make_case()
    found = specs(case, SPEC)
    display.apply(found)
    display.apply([replace(spec, translate=(1.0, 2.0, 3.0)) for spec in found])
    assert tuple(display.layer("gt").translate) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "data",
    [
        np.array([1, 50, 2**24, 2**24 + 1, 305], dtype=np.int32),
        np.array([255] * 4 + [254], dtype=np.uint8),
        np.array([True] * 4 + [False]),
    ],
    ids=["large ids", "full bytes", "booleans"],
)
def test_touching_objects_of_any_ids_and_type_are_seen_apart(viewer: ViewerModel, data: Any) -> None:
    block = np.repeat(data, 4).reshape(20, 1, 1) * np.ones((1, 4, 2), dtype=data.dtype)
    labels = LabelMap(block.astype(data.dtype), Grid((20, 4, 2), np.eye(4)))
    regions = {f"r{i}": (int(i),) for i in np.unique(data) if i}
    spec = EvalSpec("seg", regions, ("dice",), Headline(next(iter(regions)), "dice"))
    case = Case(CaseEntry("A/1", remap=Remap(None, "none")), {}, labels, labels, None)
    display = Display(viewer)
    display.apply(specs(case, spec, ShowOptions()))
    layer = display.layer("gt")
    shown = np.asarray(layer.data)
    assert shown.dtype.kind in "iu"
    assert len(np.unique(shown)) == len(np.unique(data))
    colours = {int(value): layer.get_color(int(value)) for value in np.unique(shown) if value}
    assert all(colour[3] == 1 for colour in colours.values())
    assert len({tuple(np.round(colour, 3)) for colour in colours.values()}) == len(colours)
