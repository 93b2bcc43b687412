"""Contours cut by planes across their slices are the same pixels as those of the slices, however these lie."""

from __future__ import annotations

import numpy as np
import pytest
from scan_phantoms import BLOCK, POSES, block_ring, block_stack

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.geometry.placed_rings import place_rings
from medotter_viewer.ui.rings import RingsView


@pytest.mark.parametrize("pose", list(POSES))
def test_planes_across_the_slices_hold_the_same_pixels(pose: str) -> None:
    stack = block_stack(POSES[pose])
    rings = {stack.numbers[k]: [block_ring(stack, k), block_ring(stack, k, 3.0)] for k in range(1, 4)}
    placed = place_rings(ScanContours(rings), stack)
    slices = RingsView(placed)
    across = placed.axis
    filled = np.stack([slices._plane(shown) for shown in range(slices.shape[across])], axis=across)
    # 6 columns and 3 more by the ring that is moved, 5 rows, 3 slices
    assert filled.sum() == (BLOCK[0].stop - BLOCK[0].start + 3) * 5 * 3
    cuts = RingsView(placed)
    for axis in range(3):
        for index in range(filled.shape[axis]):
            key = tuple(index if a == axis else slice(None) for a in range(3))
            np.testing.assert_array_equal(cuts[key], filled[key], err_msg=f"{axis} {index}")
    np.testing.assert_array_equal(cuts[:, 3, 5:9], filled[:, 3, 5:9])
    np.testing.assert_array_equal(cuts[2:4, :, -1], filled[2:4, :, -1])
