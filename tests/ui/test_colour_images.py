"""Images in colour: shown as stored, never windowed; grey and colour may follow each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import default_limits, has_hu, value_range
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.images import pixel_grid
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.ui.display import Display
from medotter_viewer.ui.layers import LayerSpec, ShowOptions, specs
from medotter_viewer.ui.readout import position_of, readout

SPEC = EvalSpec("instance_seg_2d", {"nucleus": (1,)}, ("pq",), Headline("nucleus", "pq"))
TILE = np.random.default_rng(0).integers(0, 256, (1, 6, 8, 3), dtype=np.uint8)
GRID = pixel_grid((6, 8))


def case_of(*, rgb: bool = True, image: bool = True) -> Case:
    volume = Volume(TILE, GRID, rgb=True) if rgb else Volume(TILE[..., 0], GRID)
    mask = LabelMap((TILE[..., 0] > 128).astype(np.uint8), GRID)
    entry = CaseEntry("D/1", remap=Remap(None, "none"))
    return Case(entry, {"image": volume} if image else {}, mask, mask, mask)


def image_spec(case: Case, options: ShowOptions | None = None) -> LayerSpec:
    return next(spec for spec in specs(case, SPEC, options) if spec.role == "image:image")


def test_colours_have_three_values_of_8_bits_for_each_voxel() -> None:
    with pytest.raises(ReadError, match="on a grid of shape"):
        Volume(TILE, GRID)
    with pytest.raises(ReadError, match="on a grid of shape"):
        Volume(TILE[..., :2], GRID, rgb=True)
    with pytest.raises(ReadError, match="expected uint8"):
        Volume(TILE.astype(np.float32), GRID, rgb=True)


def test_colours_are_not_windowed() -> None:
    volume = Volume(TILE // 4, GRID, rgb=True)
    assert default_limits(volume, "CT") == value_range(volume) == (0.0, 255.0)
    assert not has_hu(volume, "CT")
    assert image_spec(case_of(), ShowOptions(limits=(10.0, 20.0))).contrast_limits == (0.0, 255.0)


def test_the_colour_axis_stays_last_however_the_volume_is_turned() -> None:
    grid = Grid((2, 3, 4), np.diag([1.0, 1.0, 5.0, 1.0]))
    data = np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3)
    turned = display_order(grid).apply(data)
    assert turned.shape == (4, 3, 2, 3)
    assert turned[0, 0, 0].tolist() == data[1, 2, 3].tolist()


def test_a_layer_shows_the_tile_as_it_is_stored() -> None:
    spec = image_spec(case_of())
    assert spec.rgb
    assert np.array_equal(spec.data, TILE)
    assert np.shares_memory(spec.data, TILE)


def test_grey_colour_and_no_image_follow_each_other() -> None:
    viewer = ViewerModel()
    display = Display(viewer)
    for rgb, image in [(True, True), (False, True), (True, True), (True, False), (False, True), (True, True)]:
        case = case_of(rgb=rgb, image=image)
        display.apply(specs(case, SPEC, pred_data=None))
        layer: Any = display.layer("image:image")
        assert layer.visible == image
        assert [one.name for one in viewer.layers] == ["image", "ground truth", "prediction"]
        if image:
            assert layer.rgb == rgb
            assert layer.data.shape == (1, 6, 8) + (3,) * rgb
            assert tuple(layer.contrast_limits) == (
                (0, 255) if rgb else pytest.approx(default_limits(case.channels["image"]))
            )


def test_the_read_out_names_the_three_values() -> None:
    line = readout(case_of(), SPEC, position_of(GRID, (0, 2, 3)))
    red, green, blue = TILE[0, 2, 3]
    assert f"red green blue {red} {green} {blue}" in line
    assert line.startswith("no position")


def test_a_picture_of_a_case_is_drawn_in_colour() -> None:
    from medotter_viewer.figures import triplet

    figure = triplet(case_of(), SPEC)
    drawn = [image.get_array() for axes in figure.axes for image in axes.get_images()]
    assert any(array is not None and array.shape == (6, 8, 3) for array in drawn)
    assert not any("form codes" in text.get_text() for text in figure.texts)
