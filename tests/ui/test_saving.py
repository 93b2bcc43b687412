"""Saving a prediction: the reason of a refusal comes before what is cut off at the bottom of the window."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from medotter_viewer import open_source
from medotter_viewer.ui.saving import Saving


def test_over_what_is_reviewed_nothing_is_saved_and_the_reason_is_said_first(tmp_path: Path, write_bundle: Any) -> None:
    gt = np.zeros((4, 4, 4), dtype=np.uint8)
    gt[1:3, 1:3, 1:3] = 1
    tiny = write_bundle(tmp_path / "a" / "long" / "way", {"D/0": {"gt": gt}}, predictions={"D/0": gt})
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    case = source.load("D/0")
    working = SimpleNamespace(case=case, level_shift=0, predicted=None, frozen=lambda: case)
    edits = SimpleNamespace(cases=lambda: None)
    said: list[tuple[str, Any]] = []
    session: Any = SimpleNamespace(working=working, edits=edits, source=source)
    saving = Saving(session, lambda work, done: done(work()), lambda text, **how: said.append((text, how)))
    before = case.entry.pred_path.read_bytes()
    saving.save_as(case.entry.pred_path)
    name = case.entry.pred_path.name
    ((text, how),) = said
    assert text.startswith(f"not saved: {name}: is the prediction that is being reviewed")
    assert text.count(name) == 1
    assert str(tmp_path) not in text
    assert how == {"hold": True}
    assert case.entry.pred_path.read_bytes() == before
