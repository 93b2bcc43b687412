"""Another model's predictions for the same cases: the same rules, other files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.errors import UsageError
from medotter_viewer.sources.inferred_spec import spec_of_ids
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.other_predictions import is_predicted
from medotter_viewer.sources.second_predictions import with_predictions

GT = np.zeros((6, 6, 6), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 1


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Two cases, predicted by `model`; `other` has the first one only."""
    cases = {"A/1": {"gt": GT}, "A/2": {"gt": GT}}
    tiny = write_bundle(tmp_path, cases, predictions={"A/1": GT, "A/2": GT})
    write(tmp_path / "other/A/1.nii.gz", GT)
    return tiny


def write(path: Path, data: np.ndarray) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(data, np.eye(4)), path)


def test_a_bundle_keeps_its_rules_and_gets_the_other_files(tiny: Any) -> None:
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    other = with_predictions(source, tiny.folder / "other")
    assert other.model == "other"
    assert other.spec == source.spec
    assert other.entry("A/1").pred_path == (tiny.folder / "other/A/1.nii.gz").resolve()
    assert [is_predicted(entry) for entry in other.entries()] == [True, False]
    assert source.model == "model"


def test_the_template_of_the_first_finds_those_of_the_second(tiny: Any) -> None:
    for model in ("x", "y"):
        write(tiny.folder / model / "A-1_pred.nii.gz", GT)
    source = open_source(tiny.bundle, predictions=tiny.folder / "x", pattern="{dataset}A-{stem}_pred.nii.gz")
    other = with_predictions(source, tiny.folder / "y", "why")
    assert other.entry("A/1").pred_path == (tiny.folder / "y/A-1_pred.nii.gz").resolve()
    assert other.model == "why"


def test_two_models_of_one_name_are_told_apart_by_the_folder_above(tiny: Any) -> None:
    write(tiny.folder / "run2/model/A/1.nii.gz", GT)
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    assert with_predictions(source, tiny.folder / "run2/model").model == "run2/model"


def test_plain_folders_are_paired_by_name_and_ids_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("gt", "one", "two"):
        write(tmp_path / part / "p1.nii.gz", GT)
    source = open_source(gt=tmp_path / "gt", pred=tmp_path / "one")
    spec = source.spec

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("ids of the other files were collected")

    monkeypatch.setattr("medotter_viewer.sources.folder_pairs.spec_of_ids", fail)
    other = with_predictions(source, tmp_path / "two")
    assert other.spec is spec
    assert other.entry("p1").pred_path == tmp_path / "two/p1.nii.gz"
    assert spec == spec_of_ids([source.entry("p1")], None)


def test_a_folder_that_is_not_there_is_named(tiny: Any) -> None:
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    with pytest.raises(UsageError, match=r"second prediction: no such folder: .*nowhere"):
        with_predictions(source, tiny.folder / "nowhere")


def test_a_folder_without_any_prediction_says_what_was_looked_for(tiny: Any) -> None:
    (tiny.folder / "empty").mkdir()
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    with pytest.raises(UsageError, match=r"holds nothing for any of the 2 cases; of A/1, .*looked for .*empty/A/1"):
        with_predictions(source, tiny.folder / "empty")
