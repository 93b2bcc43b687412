"""Which intensities are shown from black to white."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import (
    BY_NAME,
    PRESETS,
    SOFT_TISSUE,
    Window,
    default_limits,
    has_hu,
    limits,
    value_range,
    window_of_task,
)


@pytest.mark.parametrize(
    ("unit", "modality", "lowest", "dtype", "expected"),
    [
        ("HU", None, 0, np.float32, True),
        ("HU", "MRI", 0, np.int16, True),
        ("SUV", "CT", -1000, np.int16, False),
        ("", None, -1000, np.int16, True),
        ("", None, -1000, np.float32, False),
        ("", None, -100, np.int16, False),
        ("", "CT", -100, np.int16, True),
        ("", "CT", 0, np.int16, False),
        ("", "MRI", -1000, np.int16, False),
    ],
)
def test_hu_is_believed_when_unit_or_values_say_so(
    unit: str, modality: str | None, lowest: int, dtype: Any, expected: bool
) -> None:
    data = np.linspace(lowest, 900, 1000).reshape(10, 10, 10).astype(dtype)
    assert has_hu(Volume(data, Grid((10, 10, 10), np.eye(4)), unit), modality) is expected


def test_ringing_below_zero_does_not_make_mr_a_ct() -> None:
    data = np.full((20, 20, 20), 300, dtype=np.int16)
    data[0, 0, :3] = -70
    assert not has_hu(Volume(data, Grid((20, 20, 20), np.eye(4))), "CT")


def test_default_limits_leave_out_the_background_and_survive_constants_and_nan() -> None:
    grid = Grid((10, 10, 10), np.eye(4))
    data = np.zeros((10, 10, 10), dtype=np.float32)
    data[:, :, 8:] = np.linspace(100, 200, 200).reshape(10, 10, 2)
    low, high = default_limits(Volume(data, grid))
    assert low == 0
    assert 199 < high <= 200
    data[0, 0, 0] = np.nan
    assert np.isfinite(default_limits(Volume(data, grid))).all()
    flat = Volume(np.full((10, 10, 10), 7, dtype=np.int16), grid)
    assert default_limits(flat) == value_range(flat) == (7.0, 8.0)
    empty = Volume(np.full((10, 10, 10), np.nan, dtype=np.float32), grid)
    assert default_limits(empty) == value_range(empty) == (0.0, 1.0)


def test_presets_read_as_on_a_workstation() -> None:
    assert SOFT_TISSUE.text == "W 400  L 40  soft tissue"
    assert Window.from_limits(0, 1).text == "W 1  L 0.5"
    assert {w.name: limits(w) for w in PRESETS}["bone"] == (-500.0, 1300.0)


def test_presets_are_found_by_name() -> None:
    assert len(BY_NAME) == len(PRESETS) == 6
    assert all(BY_NAME[window.name] is window for window in PRESETS)
    assert limits(BY_NAME["lung"]) == (-1350.0, 150.0)


def test_the_window_of_a_task_is_that_of_its_organ() -> None:
    names = [window_of_task(task).name for task in ("lung_contour", "vertebra", "segmentation", None)]
    assert names == ["lung", "bone", "soft tissue", "soft tissue"]


def test_ct_gets_a_soft_tissue_window() -> None:
    data = np.linspace(-1000, 1000, 120).reshape(6, 5, 4).astype(np.int16)
    assert default_limits(Volume(data, Grid((6, 5, 4), np.eye(4)))) == (-160, 240)


def test_a_stripped_skull_does_not_darken_the_window() -> None:
    values = np.zeros(120)
    values[60:] = np.arange(1, 61)
    volume = Volume(values.reshape(6, 5, 4), Grid((6, 5, 4), np.eye(4)))
    assert default_limits(volume) == pytest.approx((0, np.percentile(np.arange(1, 61), 99.9)))
