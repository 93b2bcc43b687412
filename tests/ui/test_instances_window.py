"""What a person does in the window of an instance task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import settle, wait_for

pytestmark = pytest.mark.window

SPEC = {
    "task_type": "instance_seg_2d",
    "eval_regions": {"nucleus": [1]},
    "metrics": ["f1", "aji", "pq"],
    "iou_threshold": 0.5,
    "main_region": "nucleus",
}


def write_tile(folder: Path, name: str, data: Any) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, data)
    return name


@pytest.fixture
def window(open_review: Any, tmp_path: Path, write_bundle: Any) -> Any:
    gt, pred = (np.zeros((120, 160), dtype=np.int32) for _ in range(2))
    gt[10:30, 10:30], pred[10:30, 12:32] = 1, 11  # found
    gt[60:70, 100:110] = 2  # missed
    pred[90:100, 20:30] = 12  # invented
    case = {"seg": "gt/a.npy", "dataset": "D"}
    tiny = write_bundle(tmp_path / "tiles", {"D/a": case}, task={"task": {"id": "nuclei"}}, eval_spec=SPEC)
    write_tile(tiny.data, "gt/a.npy", gt)
    write_tile(tiny.predictions, "D/a.npy", pred)
    window = open_review(tiny.bundle, tiny.predictions, wait=False)
    wait_for(lambda: window.session.opened is not None, "case open")
    wait_for(lambda: window.session.matches.found is not None, "objects matched")
    settle()
    return window


def row_of(window: Any, kind: str) -> int:
    matches = window.session.matches
    return next(place for place in range(len(matches)) if matches.row(place).kind == kind)


def test_a_click_frames_the_nucleus_and_rings_it(window: Any) -> None:
    window.docks.show("Instances")
    zoom = window.viewer.scene.camera.zoom
    window.docks.instances.table.row_chosen.emit(row_of(window, "fn"))
    settle()
    # rows 60..69, columns 100..109: the middle is 64.5, 104.5
    assert window.viewer.scene.camera.center[-2:] == pytest.approx((64.5, 104.5))
    assert window.viewer.scene.camera.zoom > zoom
    ring = np.asarray(window.display.layer("selected").data[0])
    assert window.display.layer("selected").visible
    assert ring[64, 110:114].tolist() == [0, 1, 2, 0]  # a gap, white, black
    assert not ring[60:70, 100:110].any()


def test_j_and_k_walk_what_has_no_match(window: Any, qtbot: Any) -> None:
    from qtpy.QtCore import Qt

    canvas = window.viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    seen = []
    for key in (Qt.Key.Key_J, Qt.Key.Key_J, Qt.Key.Key_K):
        qtbot.keyClick(canvas, key)
        settle(0.1)
        row = window.session.matches.selected
        seen.append((row.gt_id, row.pred_id))
    # both cost 100 voxels: what is invented stands before what is missed
    assert seen == [(None, 12), (2, None), (None, 12)]
    assert window.viewer.scene.camera.center[-2:] == pytest.approx((94.5, 24.5))


def test_colours_by_match_and_the_threshold_follow_each_other(window: Any) -> None:
    from medotter_viewer.ui.colors import rgba
    from medotter_viewer.ui.match_layers import KIND_ACCENTS

    window.docks.instances.colored.click()
    settle()
    gt = window.display.layer("gt")
    assert gt.colormap.color_dict[1] == pytest.approx(rgba(KIND_ACCENTS["tp"]))
    assert gt.colormap.color_dict[2] == pytest.approx(rgba(KIND_ACCENTS["fn"]))
    assert ("missed (FN)", KIND_ACCENTS["fn"]) in window.overlay.legend
    window.session.matches.set_threshold(0.9)  # 18 of 22 columns agree: 0.818
    wait_for(lambda: gt.colormap.color_dict[1] == pytest.approx(rgba(KIND_ACCENTS["fn"])), "new colours")
    window.docks.instances.colored.click()
    settle()
    assert gt.colormap.color_dict[1] != pytest.approx(rgba(KIND_ACCENTS["fn"]))


def test_painting_a_missed_nucleus_makes_it_a_match(window: Any) -> None:
    layer = window.display.layer("pred")
    indices = np.meshgrid([0], range(60, 70), range(100, 110), indexing="ij")
    layer.data_setitem(tuple(a.ravel() for a in indices), 13)
    wait_for(lambda: window.session.matches.rows.count("tp") == 2, "matched again")
    assert window.session.matches.found.values()["fn"].value == 0


def test_a_tile_has_no_surface_and_says_so(window: Any) -> None:
    window.session.matches.select(0)
    window.surfaces.toggle()
    settle()
    assert window.viewer.dims.ndisplay == 2
    assert "no surface" in window.docks._line.text()
