"""Both engines fill the same pixels and trace the same rings, point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.engine import choice, outlines
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import FillRule, TracedPolygon, fill, trace, trace_slices

Rings = list[NDArray[np.float64]]


@st.composite
def ring_lists(draw: st.DrawFn) -> Rings:
    """Scribbles, stars, rings on half pixels, flat ones and single points, partly outside the image."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rings = []
    for _ in range(draw(st.integers(0, 4))):
        n = draw(st.integers(0, 30))
        kind = draw(st.sampled_from(["any", "halves", "flat", "star", "retraced"]))
        ring = rng.uniform(-8, 40, (n, 2))
        if kind == "halves":
            ring = np.round(ring * 2) / 2
        if kind == "flat":
            ring = np.outer(rng.random(n), rng.random(2))
        if kind == "star":
            turn = np.linspace(0, 2 * np.pi, n, endpoint=False)
            ring = rng.uniform(5, 25, 2) + rng.uniform(2, 15, n)[:, None] * np.stack([np.cos(turn), np.sin(turn)], 1)
        if kind == "retraced":
            ring = np.concatenate([ring, ring[::-1]])
        rings.append(ring)
    return rings


@given(ring_lists(), st.tuples(st.integers(0, 40), st.integers(0, 40)), st.sampled_from(["even_odd", "union"]))
def test_filled_pixels_are_equal(rings: Rings, shape: tuple[int, int], rule: FillRule) -> None:
    with choice.using("plain"):
        plain = fill(rings, shape, rule=rule)
    with choice.using("compiled"):
        found = fill(iter(rings), shape, rule=rule)
        lists = fill([ring.tolist() for ring in rings], shape, rule=rule)
    assert found.dtype == plain.dtype
    assert found.shape == plain.shape
    assert found.tolist() == plain.tolist() == lists.tolist()
    assert set(np.unique(found.view(np.uint8)).tolist()) <= {0, 1}


@pytest.mark.parametrize(
    "rings",
    [
        [[(0, 0), (4, 0), (4, 4)], [(0, 0), (np.nan, 0), (4, 4)]],
        [np.array([(0, 0), (4, 0), (4, np.inf)])],
        [np.zeros((4, 3))],
        [[(0, 0), (1e101, 0), (4, 4)]],
        ["ring"],
    ],
)
def test_what_is_no_ring_is_refused_in_the_same_words(rings: list[Any]) -> None:
    messages = []
    for engine in ("plain", "compiled"):
        with choice.using(engine), pytest.raises(MetricInputError) as error:
            fill(rings, (6, 6))
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_huge_coordinates_are_cut_off() -> None:
    ring = np.array([(-1e99, -1e99), (1e99, -1e99), (1e99, 1e99), (-1e99, 1e99)])
    with choice.using("compiled"):
        assert fill([ring], (5, 21)).all()


@st.composite
def label_slices(draw: st.DrawFn) -> NDArray[Any]:
    """Noise of a few labels, in which many pixels touch at corners, and pieces with holes at the border."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 14), st.integers(1, 40)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = rng.integers(0, draw(st.integers(2, 4)), shape)
    labels[rng.random(shape) < draw(st.sampled_from([0.0, 0.4, 0.9]))] = draw(st.integers(0, 2))
    cell = draw(st.sampled_from([1, 1, 3]))
    labels = np.repeat(labels, cell, axis=2)
    kind = draw(st.sampled_from([np.uint8, np.bool_, np.uint16]))
    made: NDArray[Any] = (labels * (70 if kind == np.uint16 else 1)).astype(kind)
    return np.asfortranarray(made) if draw(st.booleans()) else made


def as_lists(polygons: list[TracedPolygon]) -> list[Any]:
    return [([ring.tolist() for ring in polygon.rings], polygon.area) for polygon in polygons]


@given(label_slices(), st.integers(0, 2), st.booleans())
def test_traced_rings_are_equal(labels: NDArray[Any], axis: int, has_little_room: bool) -> None:
    if has_little_room:
        chunk, room = (1, 4) if axis else (1 << 22, 4)
    else:
        chunk, room = 1 << 22, 1 << 14
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outlines, "_CHUNK", chunk)
        patch.setattr(outlines, "_RUNS", room)
        patch.setattr(outlines, "_POINTS", room)
        with choice.using("compiled"):
            found = trace_slices(labels, axis)
            compiled = {place: as_lists(found.polygons(*place)) for place in found.places()}
            alone = as_lists(trace(labels[0] == labels[0, 0, 0]))
    with choice.using("plain"):
        plain = trace_slices(labels, axis)
        assert compiled == {place: as_lists(plain.polygons(*place)) for place in plain.places()}
        assert alone == as_lists(trace(labels[0] == labels[0, 0, 0]))
    assert list(compiled) == sorted(compiled)
    slices = np.moveaxis(labels, axis, 0)
    for (index, label), polygons in compiled.items():
        assert sum(area for _, area in polygons) == np.count_nonzero(slices[index] == label)
    assert found.polygons(10**6) == plain.polygons(10**6) == []


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (2, 3, 4)])
def test_nothing_has_no_rings(shape: tuple[int, int, int]) -> None:
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            assert trace_slices(np.zeros(shape, dtype=bool), 0).places() == []
            assert trace(np.zeros(shape[1:], dtype=bool)) == []
