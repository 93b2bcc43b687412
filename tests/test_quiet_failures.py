"""Things that once went wrong quietly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, ReadError, UnsafePathError, UsageError
from medotter_viewer.formats.config_files import read_yaml
from medotter_viewer.geometry.orientation import display_order, drawing_error_mm
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.predictions import PredictionFolder

GT = np.zeros((6, 7, 5), dtype=np.uint8)
GT[1:4, 2:5, 1:4] = 1
REGIONS = {"eval_regions": {"one": [1]}}


def turned(degrees: float, noise: float = 0.0) -> Any:
    """Return an affine turned about z, with noise in its last digits."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    affine = np.eye(4)
    affine[:2, :2] = [[c, -s], [s, c]]
    affine[:3, :3] += noise * np.random.default_rng(0).normal(size=(3, 3))
    return affine


def test_at_45_degrees_the_last_digits_do_not_choose_the_axes() -> None:
    orders = {display_order(Grid((5, 6, 7), turned(45.0, noise))).axes for noise in (0.0, 1e-9, -1e-9, 1e-7, -1e-7)}
    assert len(orders) == 1


def test_how_far_an_oblique_grid_is_drawn_from_where_it_lies() -> None:
    assert drawing_error_mm(Grid((5, 6, 7), np.eye(4))) == pytest.approx(0, abs=1e-12)
    # a square of 10 mm half diagonal sqrt(50): turned by 30 degrees a corner moves by 2 sin(15) of its distance
    grid = Grid((11, 11, 1), turned(30.0))
    assert drawing_error_mm(grid) == pytest.approx(2 * np.sin(np.radians(15)) * np.sqrt(50), abs=1e-9)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"aggregation": {"unit": "patients"}}, "patients"),
        ({"aggregation": {"reduce": "median"}}, "median"),
        ({"hd95": {"unit": "voxel"}}, "voxel"),
        ({"empty_structure": {"HD95": {"both_empty": 0}}}, "HD95"),
        ({"empty_structure": {"hd95": {"pred_empty": 1}}}, "pred_empty"),
        ({"empty_structure": {"hd95": {"both_empty": 1.7e308}}}, "both_empty"),
        ({"hd95": {"spacing": [1e308, 1, 1]}}, "spacing"),
        ({"prediction_format": {"label_space": {"a": 1}}}, "label_space"),
        ({"eval_regions": {1: [1], "1": [2]}}, "named twice"),
    ],
)
def test_a_word_the_specification_does_not_know_is_refused_by_name(more: Any, word: str) -> None:
    with pytest.raises(BundleError, match=word):
        EvalSpec.from_mapping({**REGIONS, **more})


def test_a_specification_that_is_a_folder_is_no_missing_specification(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, eval_spec=None)
    (tiny.bundle / "eval_spec.yaml").mkdir()
    with pytest.raises(ReadError, match=r"eval_spec\.yaml: not a regular file"):
        _ = open_source(tiny.bundle).spec


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    pipe = tmp_path / "remap.yaml"
    os.mkfifo(pipe)
    with pytest.raises(ReadError, match="not a regular file"):
        read_yaml(pipe)


def test_a_file_that_goes_between_listing_and_reading_fails_its_case_only(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}, "A/2": {"gt": GT}}, predictions={"A/1": GT, "A/2": GT})
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    entries = list(source.entries("test"))
    entries[0].gt_path.unlink()
    first, second = score_entries(entries, source.spec, ScoreOptions())
    assert first.status == "error"
    assert entries[0].gt_path.name in first.message
    assert second.regions["one"].metrics["dice"].value == 1.0


def test_window_and_command_line_adopt_the_same_grid(tmp_path: Path, write_bundle: Any) -> None:
    import nibabel

    image = np.zeros(GT.shape, dtype=np.int16)
    tiny = write_bundle(
        tmp_path,
        {"A/1": {"gt": GT, "image": image, "affine": np.diag([1, 1, 5, 1])}},
        predictions={"A/1": np.roll(GT, 1, axis=2)},
    )
    for path in (*tiny.data.rglob("*.nii*"), *tiny.predictions.rglob("*.nii*")):
        loaded = nibabel.load(path)
        data = np.asarray(loaded.dataobj)
        if data.dtype == np.int16:
            nibabel.save(loaded, tmp_path / "image.nii")
            raw = (tmp_path / "image.nii").read_bytes()
            path.write_bytes(raw[:-40])  # voxels cut off, header whole
        else:
            bare = nibabel.Nifti1Image(data, None)
            nibabel.save(bare, path)
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    spacings = [source.load("A/1", images=images).gt.grid.spacing for images in (True, False)]
    assert spacings == [(1.0, 1.0, 5.0)] * 2


def test_a_prepared_folder_that_is_a_link_out_is_refused(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path / "b", {"A/1": {"gt": GT}})
    (tmp_path / "outside").mkdir()
    (tiny.data / "_prepared").symlink_to(tmp_path / "outside")
    with pytest.raises(UnsafePathError, match="leaves the data root"):
        _ = open_source(tiny.bundle).root


@pytest.mark.parametrize("pattern", ["{stem:{dataset}}", "{stem:>99999999999}", "{stem!r}"])
def test_a_pattern_holds_names_only(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="pattern"):
        PredictionFolder(tmp_path, "m", pattern)


def test_a_remap_for_datasets_that_no_case_has_is_an_error(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT, "dataset": "A"}})
    file = tmp_path / "remap.yaml"
    file.write_text("Q: {1: 2}\n")
    with pytest.raises(BundleError, match=r"\['Q'\] that no case has"):
        open_source(tiny.bundle, remap=str(file))


def test_half_a_surrogate_pair_in_an_id_is_written_as_json_writes_it(tmp_path: Path, write_bundle: Any) -> None:
    import json

    from medotter_viewer.cli import main

    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}})
    path = tiny.bundle / "manifest_test.json"
    path.write_text(path.read_text().replace("A/1", "A/\\ud800"))
    out = tmp_path / "out.json"
    main(["cases", str(tiny.bundle), "--json", str(out)])
    assert json.loads(out.read_text())["cases"][0]["id"] == "A/\ud800"
