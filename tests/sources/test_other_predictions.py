"""A folder of predictions that holds none: where it was looked, and which folder was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.checks.source import check_source
from medotter_viewer.cli import main
from medotter_viewer.errors import UsageError
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.other_predictions import meant_text, nothing_found
from medotter_viewer.sources.second_predictions import with_predictions

GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1


def write(path: Path, data: np.ndarray = GT) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(data, np.eye(4)), path)


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Two cases; ``models/good`` has both, ``models/old/best`` the second, ``models/plots`` neither."""
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}, "A/2": {"gt": GT}})
    for name in ("good/A/1", "good/A/2", "old/best/A/2", "plots/curve"):
        write(tmp_path / f"models/{name}.nii.gz")
    return tiny


def test_folders_below_that_hold_predictions_are_named(tiny: Any) -> None:
    models = tiny.folder / "models"
    source = open_source(tiny.bundle, predictions=models)
    assert meant_text(source) == f"did you mean {models / 'good'} or {models / 'old/best'}?"
    assert source.entry("A/1").pred_sought == f"{models / 'A/1'} with a known suffix"
    said = nothing_found(source, models)
    assert said == (
        f"predictions: {models} holds nothing for any of the 2 cases; {meant_text(source)}; of A/1, for example, "
        f"it was looked for {models / 'A/1'} with a known suffix"
    )


def test_the_template_of_predictions_is_looked_for_below_too(tiny: Any) -> None:
    write(tiny.folder / "runs/x/1_pred.nii.gz")
    source = open_source(tiny.bundle, predictions=tiny.folder / "runs", pattern="{stem}_pred.nii.gz")
    assert meant_text(source) == f"did you mean {tiny.folder / 'runs/x'}?"
    assert source.entry("A/1").pred_sought == str(tiny.folder / "runs/1_pred.nii.gz")


def test_nothing_is_meant_instead_where_a_case_is_predicted_or_no_folder_holds_any(tiny: Any) -> None:
    assert meant_text(open_source(tiny.bundle, predictions=tiny.folder / "models/good")) == ""
    assert meant_text(open_source(tiny.bundle, predictions=tiny.folder / "models/plots")) == ""
    assert meant_text(open_source(tiny.bundle)) == ""


def test_the_bundles_own_images_and_ground_truths_are_not_meant(tiny: Any) -> None:
    models = tiny.folder / "models"
    source = open_source(tiny.bundle, predictions=tiny.folder)
    assert meant_text(source) == f"did you mean {models / 'good'}?"  # two levels below; data/labels is left out


def test_plain_folders_are_looked_through_as_well(tmp_path: Path) -> None:
    write(tmp_path / "gt/p1.nii.gz")
    write(tmp_path / "models/unet/p1.nii.gz")
    source = open_source(gt=tmp_path / "gt", pred=tmp_path / "models")
    assert meant_text(source) == f"did you mean {tmp_path / 'models/unet'}?"


def test_a_second_prediction_one_level_too_high_names_the_folder_below(tiny: Any) -> None:
    source = open_source(tiny.bundle, predictions=tiny.folder / "models/good")
    with pytest.raises(UsageError, match=r"second prediction: .* did you mean \S*models/good or \S*models/old/best\?"):
        with_predictions(source, tiny.folder / "models")


def test_score_and_check_say_it_in_the_same_words(tiny: Any, capsys: pytest.CaptureFixture[str]) -> None:
    models = tiny.folder / "models"
    meant = f"did you mean {models / 'good'} or {models / 'old/best'}?"
    assert main(["score", str(tiny.bundle), "--predictions", str(models), "--no-cache"]) == 1
    said = capsys.readouterr().err
    assert f"no prediction found, looked for {models / 'A/1'} with a known suffix" in said
    assert f"no prediction was found: {meant}" in said
    found = [f.message for f in check_source(open_source(tiny.bundle, predictions=models))]
    assert f"no case has a prediction of models; {meant}" in found
    assert f"case A/1: no prediction of models, looked for {models / 'A/1'} with a known suffix" in found
