"""Objects in the colours of what became of them, rings around what is looked at, and where objects lie."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.formats.images import pixel_grid
from medotter_viewer.ui import colors
from medotter_viewer.ui.derived import same_data
from medotter_viewer.ui.layers import LayerSpec, ShowOptions, specs
from medotter_viewer.ui.match_layers import KIND_ACCENTS, ROLE, MatchLook, apart, match_legend, match_specs
from medotter_viewer.ui.match_views import INNER, OUTER, HaloView, KindView, ring_around
from medotter_viewer.ui.object_places import object_place

SPEC = EvalSpec.from_mapping({"task_type": "instance_seg_2d", "eval_regions": {"nucleus": [1]}})


def tile(*boxes: tuple[int, int, int, int, int]) -> Any:
    array = np.zeros((1, 20, 24), dtype=np.int32)
    for label, top, bottom, left, right in boxes:
        array[0, top:bottom, left:right] = label
    return array


GT = tile((3, 2, 6, 2, 8), (4, 10, 14, 2, 6))
PRED = tile((7, 3, 6, 2, 8), (9, 15, 18, 15, 20))


def case_of(gt: Any = GT, pred: Any = PRED) -> Case:
    maps = [LabelMap(a, pixel_grid(a.shape)) for a in (gt, pred)]
    return Case(CaseEntry("D/1", dataset="D", remap=Remap(None, "none")), gt_native=maps[0], gt=maps[0], pred=maps[1])


def shown(look: MatchLook | None, options: ShowOptions | None = None, **arrays: Any) -> dict[str, LayerSpec]:
    options = options or ShowOptions()
    return {s.role: s for s in match_specs(specs(case_of(**arrays), SPEC, options), look, options)}


KINDS: Any = ({3: "tp", 4: "fn"}, {7: "tp", 9: "fp"})


def test_objects_have_the_colour_of_what_became_of_them() -> None:
    found = shown(MatchLook(KINDS))
    gt, pred = found["gt"].color_dict, found["pred"].color_dict
    assert gt is not None
    assert pred is not None
    assert gt[3] == pred[7] == colors.rgba(KIND_ACCENTS["tp"])
    assert gt[4] == colors.rgba(KIND_ACCENTS["fn"])
    assert pred[9] == colors.rgba(KIND_ACCENTS["fp"])
    assert gt[None] == pred[None] == colors.rgba(colors.OTHER_ACCENT)  # painted just now: not counted yet
    assert found["gt"].data is not None
    assert np.shares_memory(found["pred"].data, PRED)  # may still be painted on


def test_without_matches_nothing_changes() -> None:
    plain = shown(None)
    for look in (None, MatchLook()):
        found = shown(look)
        assert {r: s.color_dict for r, s in found.items()} == {r: s.color_dict for r, s in plain.items()}


def test_many_objects_share_a_small_table_of_colours() -> None:
    ids = np.arange(1, 6001, dtype=np.int32).reshape(1, 60, 100)
    kinds = {int(i): "tp" if i % 2 else "fn" for i in ids.ravel()}
    spec = shown(MatchLook((kinds, {})), gt=ids, pred=np.zeros_like(ids))["gt"]  # type: ignore[arg-type]
    assert spec.color_dict is not None
    assert len(spec.color_dict) < 200
    plane = spec.data[0]
    assert spec.color_dict[int(plane[0, 0])] == colors.rgba(KIND_ACCENTS["tp"])
    assert spec.color_dict[int(plane[0, 1])] == colors.rgba(KIND_ACCENTS["fn"])
    assert plane[0, 0] != plane[0, 2]  # an outline between two of one class


def test_ids_without_a_class_and_background_stay_apart_in_a_view() -> None:
    view = KindView(np.array([[[0, 5, 6]]]), np.array([5]), np.array([2]))
    assert [view.code(int(n)) for n in view[0, 0]] == [None, 2, None]
    assert view[0, 0, 0] == 0
    assert view[0, 0, 2] != 0
    assert KindView(np.array([[[0, 5]]]), np.zeros(0, np.int64), np.zeros(0, np.int64))[0, 0].tolist() == [0, 65535]


def test_a_ring_surrounds_both_objects_of_a_pair_and_touches_neither() -> None:
    spec = shown(MatchLook(selected=(3, 7)))[ROLE]
    plane = np.asarray(spec.data[0])
    assert not plane[(GT[0] == 3) | (PRED[0] == 7)].any()
    row = plane[4]  # object from column 2 to 7: gap, white, black at the right
    assert row[8:12].tolist() == [0, INNER, OUTER, 0]
    assert not plane[10:].any()
    assert spec.color_dict is not None
    assert spec.color_dict[INNER] != spec.color_dict[OUTER]


def test_a_ring_goes_with_the_overlays_and_not_with_the_kinds() -> None:
    look = MatchLook(selected=(3, None))
    assert shown(look)[ROLE].visible
    assert not shown(look, ShowOptions(mode="off"))[ROLE].visible
    assert not shown(look, ShowOptions(hidden=frozenset({"gt", "pred", "error"})))[ROLE].visible
    assert ROLE not in shown(MatchLook())


def test_a_ring_is_drawn_in_any_plane_of_a_volume() -> None:
    gt = np.zeros((9, 9, 9), dtype=np.uint16)
    gt[4, 4, 4] = 2
    view = HaloView(gt, gt, 2, None)
    for key in ((4,), (slice(None), 4), (slice(None), slice(None), 4)):
        assert np.asarray(view[key])[4].tolist() == [0, 2, 1, 0, 0, 0, 1, 2, 0]
    assert not np.asarray(view[0]).any()


def test_a_large_object_has_a_wider_ring() -> None:
    mask = np.zeros((300, 300), dtype=bool)
    mask[100:200, 100:200] = True
    assert ring_around(mask)[150, 200:212].tolist() == [0] * 2 + [INNER] * 2 + [OUTER] * 2 + [0] * 6


def test_the_same_ring_is_no_new_data() -> None:
    one, other = HaloView(GT, PRED, 3, 7), HaloView(GT, PRED, 3, 7)
    assert same_data(one, other)
    assert not same_data(one, HaloView(GT, PRED, 3, None))
    assert not same_data(one, HaloView(GT.copy(), PRED, 3, 7))
    ids, codes = np.array([3, 4]), np.array([0, 1])
    assert same_data(KindView(GT, ids, codes), KindView(GT, ids.copy(), codes.copy()))
    assert not same_data(KindView(GT, ids, codes), KindView(GT, ids, codes[::-1]))


def test_the_legend_names_the_classes_that_are_there() -> None:
    assert [word for word, _ in match_legend(MatchLook(KINDS), ShowOptions())] == [
        "match",
        "missed (FN)",
        "invented (FP)",
        "thick line: ground truth, thin: prediction",
    ]
    assert match_legend(MatchLook(KINDS), ShowOptions(mode="error")) == []
    assert match_legend(MatchLook(), ShowOptions()) == []


def oklab(color: Any, matrix: Any = None) -> Any:
    linear = np.where(np.array(color) <= 0.04045, np.array(color) / 12.92, ((np.array(color) + 0.055) / 1.055) ** 2.4)
    if matrix is not None:
        linear = np.clip(np.array(matrix) @ linear, 0, 1)
    lms = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]) @ linear
    return np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]) @ np.cbrt(lms)


DEUTERANOPIA = [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
PROTANOPIA = [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
TRITANOPIA = [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]


@pytest.mark.parametrize("matrix", [None, DEUTERANOPIA, PROTANOPIA, TRITANOPIA])
def test_classes_are_told_apart_by_everybody(matrix: Any) -> None:
    """Matrices of Machado et al., IEEE TVCG 15 (2009), severity 1."""
    seen = {kind: oklab(colors.rgba(color)[:3], matrix) for kind, color in KIND_ACCENTS.items()}
    near = {(a, b): float(np.linalg.norm(seen[a] - seen[b])) for a, b in itertools.combinations(seen, 2)}
    assert min(near.values()) > 0.08, near


def test_objects_that_touch_and_look_alike_get_other_colours() -> None:
    alike = next(
        (a, b)
        for a, b in itertools.combinations(range(25, 400), 2)
        if max(abs(x - y) for x, y in zip(colors.label_color(a)[:3], colors.label_color(b)[:3], strict=True)) < 0.1
    )
    taken = apart(np.array([alike]))
    assert len(taken) == 1
    one, other = (colors.label_color(taken.get(i, i)) for i in alike)
    assert max(abs(x - y) for x, y in zip(one[:3], other[:3], strict=True)) > 0.3
    gt = tile((alike[0], 2, 6, 2, 8), (alike[1], 2, 6, 8, 12))
    table = shown(MatchLook(apart=taken), gt=gt)["gt"].color_dict
    assert table is not None
    assert {table[alike[0]], table[alike[1]]} == {one, other}


def test_an_object_lies_where_the_box_of_both_sides_is() -> None:
    place = object_place(case_of(), 3, 7)
    assert place is not None
    assert (place.low.tolist(), place.high.tolist()) == ([0, 2, 2], [0, 5, 7])
    assert place.centre(0) == (0.0, 3.5, 4.5)
    # five times 4 x 6 pixels, but 24 at least
    assert place.extent_mm == (24.0, 24.0, 30.0)
    assert object_place(case_of(), 99, None) is None
    assert object_place(case_of(), None, None) is None


def test_in_a_volume_the_fullest_slice_is_looked_at_in_displayed_order() -> None:
    grid = Grid((6, 8, 10), np.diag([1.0, 2.0, 3.0, 1.0]))  # RAS: all three axes are shown the other way round
    data = np.zeros(grid.shape, dtype=np.uint16)
    data[2, 3, 2:9] = 5
    data[1:4, 2:5, 7] = 5
    case = replace(case_of(), gt=LabelMap(data, grid), pred=None)
    place = object_place(case, 5, None)
    assert place is not None
    assert place.fullest[0] == 10 - 1 - 7
    assert place.low.tolist() == [10 - 1 - 8, 8 - 1 - 4, 6 - 1 - 3]
    assert place.centre(0) == (2.0, 4.0, 3.0)
    assert place.scale == (3.0, 2.0, 1.0)
