"""A file of names that is not that of the label maps must not score well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

GT = np.zeros((4, 4, 4), dtype=np.uint8)
GT[1] = 1  # 16 voxels
GT[2, 0] = 3  # 4 voxels


def nifti(path: Path, array: Any) -> None:
    import nibabel

    path.parent.mkdir(exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, np.eye(4), dtype=array.dtype), path)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that writes the file of names, beside gt/{a,b} and pred/{a,b} with ids 1 and 3."""
    for case in "ab":
        nifti(tmp_path / "gt" / f"{case}.nii.gz", GT)
        nifti(tmp_path / "pred" / f"{case}.nii.gz", GT)
    monkeypatch.chdir(tmp_path)
    return (tmp_path / "names.yaml").write_text


ALL = ("--gt", "gt", "--pred", "pred", "--labels", "names.yaml")
FILES = ("gt/a.nii.gz", "pred/a.nii.gz", "--labels", "names.yaml")
SAID = "names.yaml: names id 9, of which no ground truth holds any; ground truths hold ids 1, 3"


@pytest.mark.parametrize(
    "words", [("score", *ALL), ("check", *ALL), ("cases", *ALL), ("open", *ALL), ("compare", *FILES)]
)
def test_names_of_ids_that_no_ground_truth_has_are_an_error(cli: Any, names: Any, words: Any) -> None:
    names("0: background\n9: heart\n")
    outcome = cli(*words)
    assert outcome.code == 1
    assert SAID in outcome.err


def test_a_remap_is_applied_before_ids_are_looked_up(cli: Any, names: Any) -> None:
    names("9: heart\n")
    Path("remap.yaml").write_text("1: 9\n")
    assert cli("score", *ALL, "--remap", "remap.yaml").code == 0
    assert cli("compare", *FILES, "--remap", "remap.yaml").code == 0


def test_empty_ground_truths_are_scored_as_empty(cli: Any, names: Any) -> None:
    names("9: heart\n")
    for path in ("gt/a.nii.gz", "gt/b.nii.gz", "pred/a.nii.gz", "pred/b.nii.gz"):
        nifti(Path(path), np.zeros_like(GT))
    found = cli("score", *ALL, "--json", "-")
    assert found.code == 0
    assert found.data["cases"]["a"]["regions"]["heart"]["dice"]["status"] == "absent"


def test_ids_without_a_name_are_said_with_their_voxels_and_again_from_memory(cli: Any, names: Any) -> None:
    names("1: liver\n")
    for _ in range(2):
        found = cli("score", *ALL, "--json", "-").data
        notes = {n["code"]: n["message"] for n in found["cases"]["b"]["notes"]}
        assert "3 (4 voxels): dropped" in notes["id-without-name"]
        assert found["cases"]["b"]["regions"]["liver"]["dice"]["value"] == 1.0
    names("0: background\n1: liver\n3: cyst\n")
    found = cli("score", *ALL, "--json", "-").data
    assert found["cases"]["b"]["notes"] == []
    names("1: liver\n")
    assert "3 (4 voxels): dropped" in cli("compare", *FILES).out
    assert "id-without-name" in cli("check", *ALL).out


def test_a_named_id_of_no_file_is_a_warning(cli: Any, names: Any) -> None:
    names("1: liver\n3: cyst\n9: heart\n10: background\n")
    said = "heart: id 9 named, but not found in"
    for words in (("score", *ALL), ("check", *ALL), ("compare", *FILES)):
        outcome = cli(*words)
        assert outcome.code == 0
        assert outcome.out.count("named-id-not-seen") == 1
        assert said in outcome.out
    (finding,) = cli("score", *ALL, "--json", "-").data["findings"]
    assert (finding["severity"], finding["code"], finding["where"]) == ("warning", "named-id-not-seen", "heart")
