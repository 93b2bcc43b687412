"""Named segments that may overlap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.segments import Segment, SegmentPainter, joined, shared_ids, unique_names
from medotter_viewer.errors import LabelError

GRID = Grid((4, 3, 2), np.eye(4))


def test_names_that_stand_twice_get_their_number() -> None:
    assert unique_names([(2, "GTV"), (9, "GTV"), (5, "BODY")]) == {2: "GTV (2)", 9: "GTV (9)", 5: "BODY"}


def test_a_name_that_looks_like_a_numbered_one_stays_apart() -> None:
    names = unique_names([(2, "GTV"), (9, "GTV"), (5, "GTV (2)")])
    assert len(set(names.values())) == 3
    assert names[9] == "GTV (9)"


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "a (1)", "a (1) (1)", "a (2)", "b"])), max_size=9))
def test_names_always_differ(numbered: list[tuple[int, str]]) -> None:
    numbered = list(dict(numbered).items())
    names = unique_names(numbered)
    assert len(set(names.values())) == len(numbered) == len(names)


@given(st.data())
def test_painting_boxes_is_joining_whole_masks(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    n = data.draw(st.integers(1, 5))
    masks = rng.random((n, *GRID.shape)) < 0.4
    segments = [Segment(10 + i, f"s{i}") for i in range(n)]
    painter = SegmentPainter(GRID)
    pieces = [(i, k) for i in range(n) for k in range(2)]
    rng.shuffle(pieces)
    for i, k in pieces:
        painter.add(10 + i, masks[i][1:4, :, k : k + 1], (slice(1, 4), slice(None), slice(k, k + 1)))
        painter.add(10 + i, masks[i][:1, :, k : k + 1], (slice(0, 1), slice(None), slice(k, k + 1)))
    for found in (painter.segments(segments), joined(zip(segments, masks, strict=True), GRID)):
        for i in range(n):
            assert (np.isin(found.codes, [c for c, of in found.members.items() if 10 + i in of]) == masks[i]).all()
        assert sorted(np.unique(found.codes[found.codes > 0]).tolist()) == sorted(found.members)


def test_adding_a_mask_twice_changes_nothing() -> None:
    painter = SegmentPainter(GRID)
    for _ in range(2):
        painter.add(1, np.ones(GRID.shape, dtype=bool))
    assert painter.segments([Segment(1, "a")]).members == {1: (1,)}


def test_more_than_255_combinations_fit() -> None:
    grid = Grid((300, 1, 1), np.eye(4))
    segments = [Segment(i + 1, f"s{i}") for i in range(300)]
    found = joined(((s, np.arange(300).reshape(300, 1, 1) == i) for i, s in enumerate(segments)), grid)
    assert found.codes.ravel().tolist() == list(range(1, 301))


def test_structures_of_one_file_alone_keep_an_id() -> None:
    one = joined([(Segment(1, "a"), np.ones(GRID.shape, bool)), (Segment(2, "b"), np.zeros(GRID.shape, bool))], GRID)
    two = joined([(Segment(1, "c"), np.ones(GRID.shape, bool))], GRID)
    ids, regions = shared_ids([one, two])
    assert sorted(regions) == ["a", "b", "c"]
    assert len({i for of in regions.values() for i in of}) == 3
    assert set(np.unique(two.label_map(ids).data)) == set(regions["c"])


def test_a_combination_without_id_is_refused_by_name() -> None:
    one = joined([(Segment(1, "a"), np.ones(GRID.shape, bool)), (Segment(2, "b"), np.ones(GRID.shape, bool))], GRID)
    with pytest.raises(LabelError, match=r"a \+ b have no id"):
        one.label_map({frozenset({"a"}): 1})
