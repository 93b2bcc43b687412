"""While the open case is painted on its numbers are those of scoring it anew, at once or as they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np

from medotter_viewer.scoring.registry import score_case


def paint(session: Any, place: tuple[Any, ...], label: int) -> tuple[Any, ...]:
    """Paint as the window does: into the working array."""
    session.pred_data[place] = label
    shown = np.zeros(session.pred_data.shape, dtype=bool)
    shown[place] = True
    return tuple(np.nonzero(shown))


def test_dice_follows_a_stroke_before_it_settles_and_hd95_after(session: Any, listen: Any) -> None:
    session.go_to("A/bad")
    stored = session.row("A/bad").score
    heard = listen(session)
    session.note_stroke(paint(session, np.s_[1:5, 1:5, 3:5], 1))
    (score,) = heard.of("scores_changed")
    assert score.regions["one"].metrics["dice"].value == 1.0
    assert "hd95" not in score.regions["one"].metrics
    assert heard.of("scoring_changed") == [True]  # hd95 is still to come
    session.edits.note_painted()
    assert session.score == score_case(session.working_case, session.spec, session.options)
    assert heard.of("scoring_changed")[-1] is False
    assert session.row("A/bad").score is stored


def test_a_stroke_that_is_taken_back_gives_the_former_numbers_exactly(session: Any) -> None:
    session.go_to("B/ok")
    before, pred = session.score, session.pred_data.copy()
    voxels = paint(session, np.s_[2:4, 2:4, 2:4], 0)
    session.note_stroke(voxels)
    session.edits.note_painted()
    assert session.score != before
    session.pred_data[...] = pred
    session.note_stroke(voxels)
    session.edits.note_painted()
    assert session.score == before
    assert not session.edited


def test_a_change_that_no_stroke_told_of_is_found_when_strokes_settle(session: Any) -> None:
    session.go_to("A/good")
    paint(session, np.s_[0, 0, 0:3], 1)
    session.edits.note_painted()
    assert session.score == score_case(session.working_case, session.spec, session.options)
    assert session.score.regions["one"].pred_voxels == 67


def test_the_profile_of_slices_follows_and_is_that_of_counting_anew(session: Any, listen: Any) -> None:
    from medotter_viewer.scoring.slices import slice_profile

    session.go_to("A/bad")
    heard = listen(session)
    session.request_profile(0)
    session.note_stroke(paint(session, np.s_[1:5, 1:3, 3], 1))
    session.request_profile(0)
    first, second = heard.of("profile_changed")
    expected = slice_profile(session.working_case, session.spec, axis=0)
    assert second.dice.tolist() != first.dice.tolist()
    for part in ("gt", "pred", "both"):
        assert getattr(second, part).tolist() == getattr(expected, part).tolist()


def test_a_remap_that_is_tried_while_painting_counts_the_stroke_too(session: Any) -> None:
    session.go_to("A/bad")
    session.note_stroke(paint(session, np.s_[1:5, 1:5, 3:5], 1))
    session.what_if.set_target(session.case, 1, 0)
    assert session.score == score_case(session.working_case, session.spec, session.options)
    assert session.score.regions["one"].gt_voxels == 0
    session.what_if.reset()
    assert session.score.regions["one"].metrics["dice"].value == 1.0


def test_leaving_a_case_forgets_its_table(session: Any) -> None:
    session.go_to("A/bad")
    session.go_to("A/good")
    session.note_stroke(paint(session, np.s_[0, 0, 0], 1))
    session.edits.note_painted()
    assert session.score.case_id == "A/good"
    assert session.score == score_case(session.working_case, session.spec, session.options)
