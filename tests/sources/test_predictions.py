"""A prediction is found by the full id of its case, never by a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from medotter_viewer import CaseEntry
from medotter_viewer.errors import UsageError
from medotter_viewer.sources.predictions import PredictionFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "model"
    for name in [
        "BTCV/0001.nii.gz",
        "FLARE22/0001.nii.gz",
        "X/case_1.nii.gz",
        "X/case_10.nii.gz",
        "X/case_1_0000.nii.gz",
        "flat.nii",
        "0001.nii.gz",
        "p/0001_pred.nii.gz",
    ]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    return root


def found(folder: Path, case_id: str, pattern: str | None = None, **known: Any) -> str | None:
    path, findings = PredictionFolder(folder, "model", pattern).find(CaseEntry(case_id, **known))
    assert findings == []
    return None if path is None else str(path.relative_to(folder))


@pytest.mark.parametrize("case_id", ["BTCV/0001", "FLARE22/0001", "X/case_1", "X/case_10"])
def test_ids_that_share_an_end_or_a_beginning_each_get_their_own_file(folder: Path, case_id: str) -> None:
    assert found(folder, case_id) == f"{case_id}.nii.gz"


@pytest.mark.parametrize(
    "case_id", ["X/case", "X/case_", "case_1", "BTCV", "BTCV/1", "BTCV/0001.nii", "btcv/0001", "x"]
)
def test_a_part_of_an_id_finds_nothing(folder: Path, case_id: str) -> None:
    assert found(folder, case_id) is None


def test_any_known_suffix_will_do(folder: Path) -> None:
    assert found(folder, "flat") == "flat.nii"


def test_two_files_for_one_case_are_an_error_that_names_both(folder: Path) -> None:
    (folder / "BTCV" / "0001.nii").write_bytes(b"")
    path, findings = PredictionFolder(folder, "model").find(CaseEntry("BTCV/0001"))
    assert path is None
    assert [(f.severity, f.code, f.where) for f in findings] == [("error", "ambiguous-prediction", "BTCV/0001")]
    for name in ("0001.nii", "0001.nii.gz"):
        assert str(folder / "BTCV" / name) in findings[0].message


def test_a_folder_of_that_name_is_no_prediction(folder: Path) -> None:
    (folder / "dir.nii.gz").mkdir()
    assert found(folder, "dir") is None


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{case_id}.nii.gz", "BTCV/0001.nii.gz"),
        ("{dataset}/{stem}.nii.gz", "BTCV/0001.nii.gz"),
        ("{stem}.nii.gz", "0001.nii.gz"),
        ("{split}/{stem}_pred.nii.gz", None),
        ("{tier}/{stem}_pred.nii.gz", "p/0001_pred.nii.gz"),
        ("flat.nii", "flat.nii"),
    ],
)
def test_a_pattern_says_the_whole_path(folder: Path, pattern: str, expected: str | None) -> None:
    assert found(folder, "BTCV/0001", pattern, dataset="BTCV", split="test", tier="p") == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "{nope}.nii",
        "{}.nii",
        "{0}.nii",
        "{case_id",
        "case_id}",
        "{case_id.__class__}",
        "{case_id[0]}",
        "{case_id:d}",
        "{stem!z}",
        "{stem:{width}}",
    ],
)
def test_a_pattern_that_cannot_be_filled_is_a_usage_error_at_once(folder: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="--pattern"):
        PredictionFolder(folder, "model", pattern)


def test_an_unknown_field_is_named_beside_the_known_ones(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown field \['nope'\], expected case_id, dataset, split, tier, stem"):
        PredictionFolder(folder, "model", "{nope}.nii")


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "file"):
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(UsageError, match="no such folder"):
            PredictionFolder(path, "model")


@pytest.mark.parametrize(
    "case_id", ["../0001", "/etc/passwd", "BTCV/../../x", "C:\\x", "x\0", "..", "y" * 400, "\ud800"]
)
@pytest.mark.parametrize("pattern", [None, "{case_id}.nii.gz"])
def test_a_hostile_id_is_an_error_of_its_case(folder: Path, case_id: str, pattern: str | None) -> None:
    path, findings = PredictionFolder(folder, "model", pattern).find(CaseEntry(case_id))
    assert path is None
    expected = [] if case_id == ".." else [("error", "unsafe-path")]  # "...nii.gz" is a name like any other
    assert [(f.severity, f.code) for f in findings] == expected


def test_a_hostile_dataset_cannot_lead_a_pattern_out(folder: Path) -> None:
    (folder.parent / "0001.nii.gz").write_bytes(b"")
    predictions = PredictionFolder(folder, "model", "{dataset}/{stem}.nii.gz")
    path, findings = predictions.find(CaseEntry("A/0001", dataset=".."))
    assert path is None
    assert [f.code for f in findings] == ["unsafe-path"]
    # without a dataset the pattern begins with a slash
    assert [f.code for f in predictions.find(CaseEntry("A/0001"))[1]] == ["unsafe-path"]


def test_files_that_no_case_uses_are_listed(folder: Path) -> None:
    used = [folder / "BTCV/0001.nii.gz", folder / "X" / ".." / "X" / "case_1.nii.gz"]
    unused = PredictionFolder(folder, "model").unused(used)
    assert [str(path.relative_to(folder)) for path in unused] == [
        "0001.nii.gz",
        "FLARE22/0001.nii.gz",
        "X/case_10.nii.gz",
        "X/case_1_0000.nii.gz",
        "flat.nii",
        "p/0001_pred.nii.gz",
    ]


def test_verdicts_beside_the_predictions_are_no_unused_prediction(tmp_path: Path) -> None:
    for name in ("tiny-0123.model.anna.reviews.jsonl", "notes.jsonl"):
        (tmp_path / name).write_bytes(b"")
    assert [path.name for path in PredictionFolder(tmp_path, "model").unused([])] == ["notes.jsonl"]


@pytest.mark.parametrize("dataset", ["BTCV", "FLARE22"])
def test_a_file_without_its_dataset_is_never_a_guess_between_two(tmp_path: Path, dataset: str) -> None:
    (tmp_path / "0001.nii.gz").write_bytes(b"")
    assert found(tmp_path, f"{dataset}/0001", dataset=dataset) is None
