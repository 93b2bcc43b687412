"""The pair of voxels of hd95: asked for, followed through edits, regions and cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.fixture
def told(session: Any) -> list[tuple[str, Any]]:
    """What the pair of a session says, in order."""
    found: list[tuple[str, Any]] = []
    session.hd95_pair.events.found.connect(lambda pairs: found.append(("found", pairs.hd95_mm)))
    session.hd95_pair.events.said.connect(lambda text: found.append(("said", text)))
    return found


def test_it_is_found_when_it_is_asked_for_and_goes_when_it_is_hidden(session: Any, told: Any) -> None:
    session.go_to("A/bad")
    assert session.hd95_pair.pairs is None
    session.hd95_pair.show()
    # the upper half of a cube of 4 x 4 x 4 mm is missed
    assert session.hd95_pair.pairs.deciding == ("gt_to_pred", (1, 1, 4), (1, 1, 2), 2.0)
    assert told == [("found", 2.0)]
    session.hd95_pair.show()
    assert told == [("found", 2.0)] * 2
    session.hd95_pair.hide()
    assert session.hd95_pair.pairs is None


def test_it_stays_on_from_case_to_case_and_nobody_is_taken_there(session: Any, told: Any) -> None:
    session.go_to("A/bad")
    session.hd95_pair.show()
    session.go_to("B/ok")
    assert session.hd95_pair.pairs.hd95_mm == 1.0
    session.go_to("A/good")
    assert session.hd95_pair.pairs.hd95_mm == 0.0
    assert told == [("found", 2.0)]


def test_it_follows_an_edit_once_that_settles(session: Any) -> None:
    session.go_to("A/bad")
    session.hd95_pair.show()
    session.pred_data[1:5, 1:5, 3] = 1
    session.edits.note_painted()
    assert session.hd95_pair.pairs.deciding == ("gt_to_pred", (1, 1, 4), (1, 1, 3), 1.0)
    session.pred_data[...] = 0
    session.edits.note_painted()
    assert session.hd95_pair.pairs is None


def test_without_a_distance_the_reason_is_said(session: Any, told: Any) -> None:
    session.go_to("A/bad")
    session.pred_data[...] = 0
    session.edits.note_painted()
    session.hd95_pair.show()
    ((what, text),) = told
    assert what == "said"
    assert text.startswith("one: hd95 is a cap")
    assert np.isfinite(session.score.regions["one"].metrics["hd95"].value)
