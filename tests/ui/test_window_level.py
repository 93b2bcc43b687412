"""Window and level by hand, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.spec import EvalSpec, Headline
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import Window, default_limits
from medotter_viewer.ui.layers import specs
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.window_level import dragged, relative_limits

SOFT = Window("soft tissue", 40, 400)
SPEC = EvalSpec("seg", {"one": (1,)}, ("dice",), Headline("one", "dice"))


def test_right_is_wider_and_up_is_higher() -> None:
    assert dragged(SOFT, 150, 0, whole=True) == Window("", 40, 800)
    assert dragged(SOFT, -300, 0, whole=True) == Window("", 40, 100)
    assert dragged(SOFT, 0, 20, whole=True) == Window("", 80, 400)  # a tenth of the width
    assert dragged(SOFT, 0, 0, whole=True) == Window("", 40, 400)


def test_hu_are_whole_and_a_window_never_closes() -> None:
    found = dragged(SOFT, 7, 3, whole=True)
    assert (found.level, found.width) == (46, 413)  # 400 * 2 ** (7 / 150) = 413.15
    assert dragged(SOFT, -5000, 0, whole=True).width == 1
    fine = dragged(Window("", 0.5, 1.0), -150, 10, whole=False)
    assert (fine.level, fine.width) == (0.55, 0.5)


def image(low: float, high: float) -> Volume:
    """Evenly spread intensities without a unit."""
    return Volume(np.linspace(low, high, 1000).reshape(10, 10, 10), Grid((10, 10, 10), np.eye(4)))


def limits_of(volume: Volume, **options: Any) -> Any:
    case = Case(CaseEntry("a/1"), {"t1": volume})
    (spec,) = (s for s in specs(case, SPEC, ShowOptions(modality="MR", **options)) if s.role == "image:t1")
    return spec.contrast_limits


def test_limits_without_hu_are_kept_as_parts_of_each_images_own_range() -> None:
    for one in (image(0, 100), image(5000, 9000)):
        base = default_limits(one, "MR")
        low, high = limits_of(one, relative={"t1": (0.25, 1.5)})
        extent = base[1] - base[0]
        assert (low, high) == pytest.approx((base[0] + 0.25 * extent, base[0] + 1.5 * extent))
        assert relative_limits(base, low, high) == pytest.approx((0.25, 1.5))
        assert limits_of(one, relative={"flair": (0.0, 0.1)}) == base


def test_a_window_of_hu_does_not_touch_an_image_without() -> None:
    assert limits_of(image(0, 100), window=Window("", 0, 10)) == default_limits(image(0, 100), "MR")
