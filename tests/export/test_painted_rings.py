"""Which rings of a painted label map are still the model's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.export.painted_rings import with_painted_rings

SPEC = EvalSpec("seg", {"tumour": (1,), "both": (1, 2)}, ("dice",), Headline("tumour", "dice"))
GRID = Grid((8, 6, 3), np.diag([-2.0, -2, 5, 1]))


def case() -> Case:
    pred = np.zeros((8, 6, 3), dtype=np.uint8)
    pred[1:3, 1:3, :2] = 1  # a block on two slices, another beside it on the first
    pred[5:7, 1:3, 0] = 1
    return Case(CaseEntry("A", remap=Remap(None, "none")), pred=LabelMap(pred, GRID))


def painted(case: Case, place: tuple[int, int, int], label: int) -> Case:
    assert case.pred is not None
    data = case.pred.data.copy()
    data[place] = label
    return replace(case, pred=LabelMap(data, case.pred.grid))


def test_only_the_ring_whose_pixels_changed_is_edited() -> None:
    before = case()
    found = with_painted_rings(painted(before, (3, 1, 0), 1), before.pred, "tumour", SPEC)
    assert found.pred_contours is not None
    assert found.pred_contours.origins == {1: ("edited", "model"), 2: ("model",)}
    # 5 pixels of 2 mm by 2 mm
    assert len(found.pred_contours.rings[1][0]) == 6
    assert found.pred is not None


def test_a_new_piece_on_an_empty_slice_is_edited_and_an_erased_one_is_gone() -> None:
    before = case()
    after = painted(painted(before, (4, 4, 2), 1), (slice(1, 3), slice(1, 3), 1), 0)  # type: ignore[arg-type]
    found = with_painted_rings(after, before.pred, "tumour", SPEC).pred_contours
    assert found is not None
    assert found.origins == {1: ("model", "model"), 3: ("edited",)}


def test_a_change_of_another_region_leaves_the_rings_to_the_model() -> None:
    before = case()
    after = painted(before, (0, 5, 0), 2)
    tumour = with_painted_rings(after, before.pred, "tumour", SPEC).pred_contours
    both = with_painted_rings(after, before.pred, "both", SPEC).pred_contours
    assert tumour is not None
    assert both is not None
    assert tumour.origins[1] == ("model", "model")
    assert sorted(both.origins[1]) == ["edited", "model", "model"]


def test_what_is_not_painted_or_cannot_be_traced_stays_as_it_is() -> None:
    before = case()
    assert with_painted_rings(before, before.pred, "tumour", SPEC) is before
    assert before.pred is not None
    nowhere = replace(before, pred=LabelMap(before.pred.data, replace(GRID, has_world=False)))
    assert with_painted_rings(painted(nowhere, (0, 0, 0), 1), nowhere.pred, "tumour", SPEC).pred_contours is None
