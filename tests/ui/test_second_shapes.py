"""A second model beside the first, and a next case on another grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from review_windows import scored, settle, wait_for

from medotter_viewer import open_source
from medotter_viewer.sources.second_predictions import with_predictions

pytestmark = [pytest.mark.window, pytest.mark.timeout(120)]


def test_a_next_case_of_another_shape_is_opened_beside_a_second_model(
    tmp_path: Path, write_bundle: Any, open_review: Any
) -> None:
    wide, tall = np.zeros((12, 10, 8), dtype=np.uint8), np.zeros((8, 12, 10), dtype=np.uint8)
    for gt in (wide, tall):
        gt[2:6, 2:6, 2:6] = 1
    cases = {"D/0": {"gt": wide, "image": wide * 1.0}, "D/1": {"gt": tall, "image": tall * 1.0}}
    tiny = write_bundle(tmp_path, cases, predictions={name: case["gt"] for name, case in cases.items()})
    second = with_predictions(open_source(tiny.bundle, predictions=tiny.predictions), tiny.predictions, "again")
    window = open_review(tiny.bundle, tiny.predictions, second=second)
    window.session.verdicts.choose(blinded=True, keep=False)  # then the legend is written anew with the case, too
    for case_id, shape in (("D/1", (10, 12, 8)), ("D/0", (8, 10, 12))):
        window.session.go_to(case_id)
        wait_for(lambda: window.session.current_id == case_id and scored(window), f"{case_id} is open")  # noqa: B023
        settle()
        assert window.looking.placed.case.case_id == case_id
        assert np.asarray(window.display.layer("pred").data).shape == shape
        assert "on a grid of shape" not in window.docks._line.text()
