"""File > Open Sample: the folders are there, and a review opens on predictions that are wrong in known ways."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from review_windows import scored, settle, wait_for

from medotter_viewer.ui import samples


def contributed() -> dict[str, str]:
    """Return the key of each sample of the manifest, and what is called for it."""
    from npe2 import PluginManifest

    manifest = PluginManifest.from_file(str(files("medotter_viewer") / "napari.yaml"))
    called = {command.id: command.python_name for command in manifest.contributions.commands}
    return {sample.key: called[sample.command] for sample in manifest.contributions.sample_data}


def test_every_sample_of_the_manifest_is_a_folder_with_predictions() -> None:
    found = contributed()
    assert found.keys() == {"torso_ct", "glioma_mr", "lung_scans", "spine_ct"}
    for key, name in found.items():
        assert name == f"medotter_viewer.ui.samples:{key}"
        assert callable(getattr(samples, key))
        assert (samples.sample_folder(key) / "predictions" / "mixed").is_dir()


@pytest.mark.window
@pytest.mark.parametrize(
    ("key", "case_id", "metric", "value"),
    [
        ("lung_scans", "PHANTOM_LUNG_1", "scan_score", 0.908060854),
        ("spine_ct", "PHANTOM_SPINE/001", "id_rate_official", 0.875),
    ],
)
def test_a_sample_opens_scored_in_the_window(qapp: Any, key: str, case_id: str, metric: str, value: float) -> None:
    import napari

    from medotter_viewer.ui.window import window_of

    viewer = napari.Viewer()
    try:
        viewer.open_sample("medotter-viewer", key)
        window = window_of(viewer)
        wait_for(lambda: window.session.opened is not None and scored(window), "the sample")
        assert window.session.case.case_id == case_id
        assert window.session.score.case[metric].value == pytest.approx(value, abs=1e-8)
        wait_for(lambda: not any(layer.name == samples.PLACEHOLDER[1]["name"] for layer in viewer.layers), "the layers")
    finally:
        window_of(viewer).close()
        viewer.close()
        settle(0.1)
