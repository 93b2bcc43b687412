"""The Preferences page is declared and read."""

from __future__ import annotations

from typing import Any

from medotter_viewer.core.spec import HD95_NAMES
from medotter_viewer.core.windows import PRESETS
from medotter_viewer.ui.preferences import OF_THE_TASK, read_preferences


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
