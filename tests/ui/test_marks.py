"""Marks in napari's model: on which slices they are seen, and that their layer stays and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from napari.components import ViewerModel
from napari.layers import Labels

from medotter_viewer.ui.marks import ArrowMark, BoxMark, MarkDisplay

SCALE, TRANSLATE, SHAPE = (5.0, 1.0, 2.0), (-10.0, 3.0, 0.0), (8, 20, 30)
ARROW = ArrowMark(np.array([2.0, 4.0, 5.0]), np.array([4.0, 12.0, 5.0]), "#FFFFFF", 3.0)
BOX = BoxMark(np.array([1.0, 0.0, 0.0]), np.array([1.0, 3.0, 3.0]), "#F4502C")


@pytest.fixture
def viewer() -> Any:
    made = ViewerModel()
    made.add_layer(
        Labels(
            np.zeros(SHAPE, np.uint8), scale=SCALE, translate=TRANSLATE, units=("mm",) * 3, axis_labels=("I", "P", "L")
        )
    )
    return made


@pytest.fixture
def marks(viewer: Any) -> MarkDisplay:
    made = MarkDisplay(viewer)
    made.set_marks([BOX, ARROW], SCALE, TRANSLATE, SHAPE)
    return made


def look(viewer: Any, marks: MarkDisplay, index: int, axis: int = 0) -> int:
    viewer.dims.set_point(axis, TRANSLATE[axis] + SCALE[axis] * index)
    marks.follow()
    return len(marks.layer.data)


def test_nothing_is_made_before_something_is_marked(viewer: Any) -> None:
    MarkDisplay(viewer).set_marks([], SCALE, TRANSLATE, SHAPE)
    assert len(viewer.layers) == 1


def test_an_arrow_is_seen_from_one_end_to_the_other_and_a_box_where_it_is(viewer: Any, marks: MarkDisplay) -> None:
    # an arrow with its rim, or four corners with theirs
    assert [look(viewer, marks, i) for i in range(8)] == [0, 8, 2, 2, 2, 0, 0, 0]
    viewer.dims.order = (2, 0, 1)
    assert [look(viewer, marks, i, axis=2) for i in (3, 4, 5, 6)] == [8, 0, 2, 0]


def test_it_lies_on_the_slice_that_is_looked_at_and_points_at_its_end(viewer: Any, marks: MarkDisplay) -> None:
    look(viewer, marks, 3)
    shape = marks.layer.data[-1]
    assert set(shape[:, 0]) == {3.0}
    assert shape[3].tolist() == pytest.approx([3.0, 12.0, 5.0])


def test_steps_and_extent_of_the_volume_stay_as_they_were(viewer: Any, marks: MarkDisplay) -> None:
    alone = ViewerModel()
    alone.add_layer(
        Labels(
            np.zeros(SHAPE, np.uint8), scale=SCALE, translate=TRANSLATE, units=("mm",) * 3, axis_labels=("I", "P", "L")
        )
    )
    for index in range(8):
        look(viewer, marks, index)
        assert viewer.dims.nsteps == alone.dims.nsteps
        assert viewer.dims.range == alone.dims.range


def test_the_layer_is_made_once_emptied_and_hidden_and_nobody_can_edit_it(viewer: Any, marks: MarkDisplay) -> None:
    look(viewer, marks, 2)
    layer = marks.layer
    assert layer.locked
    assert not layer.editable
    marks.set_visible(False)
    assert not layer.visible
    marks.set_visible(True)
    marks.set_marks([], SCALE, TRANSLATE, SHAPE)
    assert len(layer.data) == 0
    marks.set_marks([ARROW], SCALE, TRANSLATE, SHAPE)
    assert marks.layer is layer
    assert len(layer.data) == 2
    marks.close()
    assert len(viewer.layers) == 1


def test_marks_are_as_large_on_the_screen_at_any_zoom(viewer: Any, marks: MarkDisplay) -> None:
    widths = []
    for zoom in (1.0, 4.0):
        viewer.scene.camera.zoom = zoom
        look(viewer, marks, 2)
        marks.follow_zoom()
        shape = marks.layer.data[-1]
        widths.append(abs(shape[0, 2] - shape[-1, 2]) * SCALE[2] * zoom)
    assert widths == pytest.approx([3.0, 3.0])


def test_what_is_seen_can_be_asked(viewer: Any, marks: MarkDisplay) -> None:
    look(viewer, marks, 2)
    assert marks.is_seen(ARROW)
    look(viewer, marks, 6)
    assert not marks.is_seen(ARROW)


def test_in_3d_the_arrow_is_a_line_in_space(viewer: Any, marks: MarkDisplay) -> None:
    viewer.dims.ndisplay = 3
    marks.follow()
    (line,) = marks.layer.data
    assert line.tolist() == [ARROW.start.tolist(), ARROW.end.tolist()]
