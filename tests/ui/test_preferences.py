"""The Preferences page is declared and read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from medotter_viewer.core.spec import HD95_NAMES
from medotter_viewer.core.windows import PRESETS
from medotter_viewer.ui.preferences import OF_THE_TASK, Preferences, read_preferences


def _manifest() -> Any:
    from npe2 import PluginManifest

    return PluginManifest.from_distribution("medotter-viewer")


def test_the_page_offers_every_hd95_and_every_window() -> None:
    properties = _manifest().contributions.configurations["review"].properties
    assert properties["hd95"].enum == list(HD95_NAMES)
    assert properties["window_preset"].enum == [OF_THE_TASK, *(window.name for window in PRESETS)]
    assert properties["window_preset"].default == OF_THE_TASK


def test_what_a_user_chose_is_read(monkeypatch: Any) -> None:
    import napari.settings

    from medotter_viewer.ui.preferences import PLUGIN

    review = napari.settings.get_plugin_settings(PLUGIN).review
    before = (review.wheel_scrolls, review.hd95, review.window_preset)
    try:
        review.wheel_scrolls, review.hd95, review.window_preset = False, "pooled", "lung"
        read = read_preferences("vertebra")
        assert (read.wheel_scrolls, read.hd95, read.window.name) == (False, "pooled", "lung")
        review.window_preset = OF_THE_TASK
        names = {task: read_preferences(task).window.name for task in ("lung_contour", "vertebra", "seg", None)}
        assert names == {"lung_contour": "lung", "vertebra": "bone", "seg": "soft tissue", None: "soft tissue"}
    finally:
        review.wheel_scrolls, review.hd95, review.window_preset = before


def test_every_name_in_the_manifest_can_be_imported() -> None:
    from importlib import import_module

    for command in _manifest().contributions.commands:
        module, name = command.python_name.split(":")
        assert callable(getattr(import_module(module), name))


NUMBERS = {"read_ahead": (0, 8, 1), "read_ahead_mb": (1, 65536, 2048), "contour_width": (1, 6, 2)}


def test_the_page_says_the_bounds_and_defaults_that_hold() -> None:
    properties = _manifest().contributions.configurations["review"].properties
    for name, (low, high, default) in NUMBERS.items():
        told = properties[name]
        assert (told.minimum, told.maximum, told.default) == (low, high, default), name
        assert getattr(Preferences(), name) == default
    assert set(properties) == {
        "wheel_scrolls", "hd95", "window_preset", "reader", "verdicts", *NUMBERS,
    }  # fmt: skip


def _read(monkeypatch: Any, **chosen: Any) -> Preferences:
    """Read a page on which something was chosen, in a file by hand perhaps."""
    import napari.settings

    monkeypatch.setattr(
        napari.settings, "get_plugin_settings", lambda _: SimpleNamespace(review=SimpleNamespace(**chosen))
    )
    return read_preferences()


def test_numbers_words_and_lists_are_read(monkeypatch: Any) -> None:
    read = _read(
        monkeypatch,
        read_ahead=3,
        read_ahead_mb=512,
        contour_width=4,
        reader="  Dr. A ",
        verdicts="Fine, no idea ,,fine",
    )
    assert (read.read_ahead, read.read_ahead_mb, read.contour_width) == (3, 512, 4)
    assert (read.reader, read.verdicts) == ("Dr. A", ("fine", "no idea"))


def test_what_is_not_known_falls_back(monkeypatch: Any) -> None:
    for name, (low, high, default) in NUMBERS.items():
        for wrong in (low - 1, high + 1, "many", None, True, float("nan"), 1.5):
            assert getattr(_read(monkeypatch, **{name: wrong}), name) == default, (name, wrong)
    read = _read(monkeypatch, hd95="loudest", window_preset="pink", reader=7, verdicts=["a"])
    assert (read.hd95, read.window, read.reader, read.verdicts) == (
        Preferences().hd95, Preferences().window, "", (),
    )  # fmt: skip
    assert _read(monkeypatch) == Preferences()


def test_outlines_are_as_wide_as_was_chosen() -> None:
    from medotter_viewer.core.case import Case, CaseEntry
    from medotter_viewer.core.grid import Grid
    from medotter_viewer.core.labels import LabelMap
    from medotter_viewer.core.spec import EvalSpec
    from medotter_viewer.ui.layers import specs
    from medotter_viewer.ui.options import ShowOptions

    labels = LabelMap(np.ones((3, 3, 3), dtype=np.uint8), Grid((3, 3, 3), np.eye(4)))
    case = Case(CaseEntry("a"), gt=labels, gt_native=labels, pred=labels)
    spec = EvalSpec.from_mapping({"eval_regions": {"one": [1]}, "metrics": ["dice"], "main_region": "one"})
    for chosen, widths in ((1, (1, 1)), (2, (2, 1)), (5, (5, 2))):
        drawn = {one.role: one.contour for one in specs(case, spec, ShowOptions(contour_width=chosen))}
        assert (drawn["gt"], drawn["pred"]) == widths
