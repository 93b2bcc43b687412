"""A remap by the kernels is that of the plain code: ids, type and order of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.core.labels import Remap
from medotter_viewer.engine import choice, threads
from medotter_viewer.engine.remapping import remapped


@st.composite
def natives(draw: st.DrawFn) -> NDArray[Any]:
    shape = (*draw(st.lists(st.integers(1, 5), max_size=2).map(tuple)), draw(st.integers(1, 300)))
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.int32, np.int64, np.bool_]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    ids = rng.integers(0, {np.uint8: 256, np.bool_: 2}.get(kind, 60_000), 5)
    if kind == np.int32:
        ids[:2] = -3, 2**31 - 1
    cells = np.repeat(rng.integers(0, 5, (*shape[:-1], -(-shape[-1] // 30))), 30, axis=-1)[..., : shape[-1]]
    made: NDArray[Any] = ids[np.where(rng.random(shape) < 0.03, rng.integers(0, 5, shape), cells)].astype(kind)
    return np.asfortranarray(made.T) if draw(st.booleans()) else made


@given(natives(), st.sampled_from([5, 255, 256, 65_535, 65_536]), st.booleans(), st.integers(0, 10**6))
def test_remaps_are_equal(native: NDArray[Any], highest: int, keeps_background: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = [i for i in np.unique(native).tolist() if i >= 0]
    table = {i: int(rng.integers(0, highest, endpoint=True)) for i in ids if rng.random() < 0.8}
    table |= {9: highest} | ({} if keeps_background else {0: 7})
    remap = Remap(table, "dict")
    expected = remap.apply(native)
    with choice.using("compiled"):
        found = remapped(remap, native)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
    assert found.flags.f_contiguous == expected.flags.f_contiguous
    assert found.flags.c_contiguous == expected.flags.c_contiguous


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_the_identity_is_no_copy_and_nothing_stays_nothing(engine: choice.Engine) -> None:
    labels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    with choice.using(engine):
        assert remapped(Remap(None, "none"), labels) is labels
        assert remapped(Remap({1: 300}, "dict"), labels[:0]).dtype == np.uint16
        cut = remapped(Remap({5: 1}, "dict"), labels[:, 1:, ::2])
    assert cut.tolist() == (labels[:, 1:, ::2] == 5).astype(int).tolist()


def test_parts_of_several_threads_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_SMALL", 10)
    monkeypatch.setenv("MEDOTTER_VIEWER_THREADS", "3")
    labels = np.random.default_rng(1).integers(0, 4, (11, 13, 17)).astype(np.uint8)
    with choice.using("compiled"):
        found = remapped(Remap({1: 2, 2: 1, 3: 9}, "dict"), labels)
    assert np.array_equal(found, np.array([0, 2, 1, 9])[labels])
