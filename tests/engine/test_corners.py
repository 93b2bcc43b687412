"""Both engines find the same surface elements of a mask, in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.engine import choice, corners, threads
from medotter_viewer.metrics.surfel import surface_elements


@st.composite
def masks(draw: st.DrawFn) -> NDArray[np.bool_]:
    """Noise, solid blocks to the border, single voxels and nothing, as they lie in memory or cut out of more."""
    shape = (*draw(st.lists(st.integers(1, 9), min_size=1, max_size=2).map(tuple)), draw(st.integers(1, 40)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    mask = rng.random(shape) < draw(st.sampled_from([0.0, 0.02, 0.5, 0.97, 1.0]))
    if draw(st.booleans()):
        mask[tuple(slice(n // 4, n) for n in shape)] = True
    mask[tuple(rng.integers(0, shape))] ^= True
    lies = draw(st.sampled_from(["C", "F", "turned", "cut"]))
    if lies == "cut":
        return np.pad(mask, 1)[tuple(slice(1, -1) for _ in shape)]
    if lies == "turned":
        return mask.T
    return np.asfortranarray(mask) if lies == "F" else mask


@given(masks(), st.booleans())
def test_surface_elements_are_equal(mask: NDArray[np.bool_], is_parted: bool) -> None:
    spacing = (0.7, 1.3, 2.9)[: mask.ndim]
    with choice.using("plain"):
        plain = surface_elements(mask, spacing)
    with pytest.MonkeyPatch.context() as patch:
        if is_parted:
            patch.setattr(threads, "_SMALL", 4)
            patch.setattr(corners, "_CHUNK", 8)
            patch.setenv("MEDOTTER_VIEWER_THREADS", "3")
        with choice.using("compiled"):
            found = surface_elements(mask, spacing)
    assert [part.dtype for part in found] == [part.dtype for part in plain]
    assert [part.shape for part in found] == [part.shape for part in plain]
    assert found[0].tolist() == plain[0].tolist()
    assert found[1].tolist() == plain[1].tolist()
