"""Layers that show nothing now leave the steps between slices alone. No window needed."""

from __future__ import annotations

import numpy as np
from napari.components import ViewerModel
from napari.layers import Labels, Shapes, Surface

from medotter_viewer.ui.resting import rest

_FLAT = (np.array([(0, 0, 0), (0, 0, 1), (0, 1, 0)], dtype=np.float32), np.array([(0, 1, 2)]), np.zeros(3))
SCALE, TRANSLATE = (5.0, 2.0, 2.0), (-20.0, 1.0, 0.0)


def test_hidden_and_empty_layers_take_the_steps_of_the_case_and_shown_or_foreign_ones_stay() -> None:
    viewer = ViewerModel()
    where = {"scale": SCALE, "translate": TRANSLATE}
    case = Labels(np.zeros((6, 7, 8), np.uint8), **where)
    hidden, shown = (Surface(_FLAT, visible=visible) for visible in (False, True))
    empty, foreign = Shapes(ndim=3), Shapes(ndim=3)
    for layer in (case, hidden, empty):
        layer.locked = True
        viewer.layers.append(layer)
    assert [axis.step for axis in viewer.dims.range] == [1.0, 1.0, 1.0]
    rest(viewer.layers, SCALE, TRANSLATE)
    assert [axis.step for axis in viewer.dims.range] == [5.0, 2.0, 2.0]
    assert viewer.dims.nsteps == (6, 7, 8)
    shown.locked = True
    rest([shown, foreign], SCALE, TRANSLATE)
    assert tuple(shown.scale) == tuple(foreign.scale) == (1.0, 1.0, 1.0)
