"""Save a review, close the window, take it up again in another; and the link to a place."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from review_windows import block_case, scored, settle, wait_for

from medotter_viewer import open_source
from medotter_viewer.cli.parser import build_parser
from medotter_viewer.errors import SavedReviewError, UsageError
from medotter_viewer.session.deep_link import parse_position
from medotter_viewer.session.state_file import SavedView, read_state
from medotter_viewer.ui.readout import position_of
from medotter_viewer.ui.saved_reviews import copy_link, restore_review, save_review, state_of
from medotter_viewer.ui.saved_views import show_view, view_of

pytestmark = [pytest.mark.window, pytest.mark.timeout(120)]


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    cases = {"D/0": block_case(0), "D/1": block_case(1)}
    return write_bundle(tmp_path / "bundle", cases, predictions={name: case["gt"] for name, case in cases.items()})


@pytest.fixture
def window(open_review: Any, tiny: Any) -> Any:
    return open_review(tiny.bundle, tiny.predictions)


def grid(window: Any) -> Any:
    return window.looking.placed.grid


def look_around(window: Any) -> None:
    """Leave nothing as it opens."""
    window.session.go_to("D/1")
    wait_for(lambda: window.session.current_id == "D/1" and scored(window), "the other case")
    window.session.select_region("one")
    window.looking.look(mode="fill", window=None)
    window.looking.next_window()
    show_view(window.viewer, grid(window), SavedView((20.0, 15.0, 21.0), "coronal", 7.5))
    settle(0.1)


def test_what_was_looked_at_and_where_comes_back_in_another_window(
    window: Any, tiny: Any, tmp_path: Path, open_review: Any
) -> None:
    look_around(window)
    before = state_of(window)
    save_review(window, tmp_path / "a")
    saved = tmp_path / "a.review.json"
    assert json.loads(saved.read_text())["hash"] == "0123456789ab"
    other = open_review(tiny.bundle)
    restore_review(other, saved)
    from medotter_viewer.ui.window import window_of

    wait_for(lambda: window_of(other.viewer) is not other, "the restored review")
    again = window_of(other.viewer)
    wait_for(lambda: again.session.current_id == "D/1" and scored(again), "its case")
    settle(0.2)
    assert again.session.region == "one"
    assert again.looking.show.mode == "fill"
    after = state_of(again)
    assert after.view.position_world == pytest.approx(before.view.position_world, abs=1e-3)
    assert after.view.zoom == pytest.approx(7.5, rel=1e-6)
    assert (after.view.plane, after.window, after.source) == ("coronal", before.window, before.source)
    again.close()


def the_position_is_that_of_the_middle_of_the_canvas_in_mm_ras(window: Any) -> None:
    # voxels of 2 x 1.5 x 3 mm from the origin: index (10, 10, 7) lies at 20, 15, 21 mm
    assert show_view(window.viewer, grid(window), SavedView((20.0, 15.0, 21.0), "sagittal", 5.0)) == ""
    view = view_of(window.viewer, grid(window))
    assert view.position_world == pytest.approx((20.0, 15.0, 21.0), abs=1e-6)
    assert view.position_voxel == pytest.approx((10.0, 10.0, 7.0), abs=1e-6)
    assert view.plane == "sagittal"
    assert window.viewer.dims.order[0] == 2


def a_place_outside_is_shown_at_the_edge_and_said(window: Any) -> None:
    assert "outside" in show_view(window.viewer, grid(window), SavedView((20.0, 15.0, 900.0)))
    assert view_of(window.viewer, grid(window)).position_voxel[2] == 15  # the last of 16 slices


def without_a_world_the_voxel_counts(window: Any) -> None:
    from dataclasses import replace

    flat = replace(grid(window), has_world=False)
    assert show_view(window.viewer, flat, SavedView(None, "axial", None, (10.0, 10.0, 7.0))) == ""
    view = view_of(window.viewer, flat)
    assert view.position_world is None
    assert view.position_voxel == pytest.approx((10.0, 10.0, 7.0), abs=1e-6)
    assert "nowhere" in show_view(window.viewer, flat, SavedView((1.0, 2.0, 3.0)))


def test_another_bundle_is_refused_and_the_window_stays_as_it_is(window: Any, tiny: Any, tmp_path: Path) -> None:
    saved = tmp_path / "a.review.json"
    save_review(window, saved)
    manifest = tiny.bundle / "manifest_test.json"
    manifest.write_text(manifest.read_text().replace("0123456789ab", "fedcba987654"))
    with pytest.raises(SavedReviewError, match=r"0123456789ab.*fedcba987654"):
        restore_review(window, saved)
    assert window.session.current_id == "D/0"


def test_edits_that_are_in_no_file_are_not_lost_to_it(window: Any, tmp_path: Path) -> None:
    save_review(window, tmp_path / "a.review.json")
    window.session.pred_data[0, 0, 0] = 1
    window.session.edits.note_painted()
    with pytest.raises(UsageError, match="D/0"):
        restore_review(window, tmp_path / "a.review.json")


def test_cases_that_are_in_no_files_cannot_be_saved(open_cases: Any, window: Any, tmp_path: Path) -> None:
    case = window.session.case
    loose = open_cases([case], window.session.spec)
    with pytest.raises(UsageError, match="not opened from files"):
        save_review(loose, tmp_path / "a.review.json")


def the_link_opens_this_place(window: Any, tiny: Any) -> None:
    from qtpy.QtGui import QGuiApplication

    look_around(window)
    text = copy_link(window)
    assert QGuiApplication.clipboard().text() == text
    options = build_parser().parse_args(shlex.split(text)[1:])
    assert (options.target, options.predictions) == (str(tiny.bundle.absolute()), str(tiny.predictions.absolute()))
    assert (options.case, options.region, options.plane) == ("D/1", "one", "coronal")
    assert parse_position(options.position) == pytest.approx((20.0, 15.0, 21.0), abs=0.051)


def with_side_planes_the_link_is_to_the_crosshair(window: Any) -> None:
    assert show_view(window.viewer, grid(window), SavedView((20.0, 15.0, 21.0), "axial", 5.0)) == ""
    window.tools.toggle_planes()
    settle(0.1)
    crosshair = position_of(grid(window), (5, 20, 11))  # 10, 30, 33 mm
    window.tools.crosshair.move_to(crosshair)
    window.viewer.scene.camera.center = (0.0, -15.0, -20.0)
    options = build_parser().parse_args(shlex.split(copy_link(window))[1:])
    assert parse_position(options.position) == pytest.approx((10.0, 30.0, 33.0), abs=0.051)
    window.tools.toggle_planes()
    settle(0.1)
    options = build_parser().parse_args(shlex.split(copy_link(window))[1:])
    assert parse_position(options.position) == pytest.approx((20.0, 15.0, 33.0), abs=0.051)


def test_places_and_links_in_one_window(window: Any, tiny: Any) -> None:
    the_position_is_that_of_the_middle_of_the_canvas_in_mm_ras(window)
    a_place_outside_is_shown_at_the_edge_and_said(window)
    without_a_world_the_voxel_counts(window)
    the_link_opens_this_place(window, tiny)
    with_side_planes_the_link_is_to_the_crosshair(window)


def test_a_case_opens_at_the_place_that_was_asked_for(tiny: Any, qapp: Any) -> None:
    from medotter_viewer.ui.window import open_window

    window = open_window(
        open_source(tiny.bundle), case_id="D/1", view=SavedView((20.0, 15.0, 21.0), "coronal"), show=True
    )
    try:
        wait_for(lambda: window.session.opened is not None, "the case")
        settle(0.1)
        view = view_of(window.viewer, grid(window))
        assert view.position_world == pytest.approx((20.0, 15.0, 21.0), abs=1e-6)
        assert view.plane == "coronal"
    finally:
        window.close()
        window.viewer.close()
        settle(0.1)


def test_verdicts_go_on_in_the_file_that_was_saved_and_in_no_other_kind(
    window: Any, tiny: Any, tmp_path: Path, open_review: Any
) -> None:
    from dataclasses import replace

    from medotter_viewer.ui.saved_reviews import take_up

    save_review(window, tmp_path / "a.review.json")
    state = read_state(tmp_path / "a.review.json")
    before = window.session.verdicts.path
    take_up(window, replace(state, verdicts=tmp_path / "shell_history"))
    assert window.session.verdicts.path == before
    take_up(window, replace(state, verdicts=tmp_path / "mine.reviews.jsonl"))
    assert window.session.verdicts.path == tmp_path / "mine.reviews.jsonl"
