"""What a case opens on: a spine in a sagittal plane, whether its points come from a file or from a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.session.first_view import first_view

GRID = Grid((9, 8, 20), np.eye(4))
MASK = np.zeros(GRID.shape, dtype=np.uint8)
MASK[2, 3:5, 3:6], MASK[2, 3:5, 12:15] = 20, 19  # at x = 2, which is displayed column 6 of 9: L is -x


@pytest.mark.parametrize(
    ("task", "points", "expected"),
    [
        ("vertebra", {20: (2, 4, 4), 19: (2, 4, 13)}, (6, 2)),
        ("vertebra", None, (6, 2)),
        ("seg", None, (5, 0)),  # axial, the first of the wrong slices from the head: z = 14 of 20
    ],
)
def test_a_spine_opens_in_the_sagittal_plane_of_its_points(task: str, points: Any, expected: tuple[int, int]) -> None:
    spec = EvalSpec.from_mapping({"task_type": task, "eval_regions": {"L1": [20], "T12": [19]}})
    maps = LabelMap(MASK, GRID)
    case = Case(
        CaseEntry("V/1", remap=Remap(None, "none")),
        gt_native=maps,
        gt=maps,
        pred=LabelMap(np.zeros_like(MASK), GRID),
        gt_landmarks=None if points is None else Landmarks(points),
    )
    assert first_view(case, spec) == expected
