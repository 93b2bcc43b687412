"""A bundle whose numbers are known, and a way to run commands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.cli import main

GT = np.zeros((8, 8, 8), dtype=np.uint8)
GT[1:5, 1:5, 1:5] = 5  # 64 voxels, canonical 1
GT[6, 6, 6] = 7  # dropped: not listed
GT[6, 1:3, 1] = 9  # 2 voxels, canonical 2
PRED = np.zeros((8, 8, 8), dtype=np.uint8)
PRED[1:5, 1:5, 1:3] = 1  # half of the 64

TASK = {
    "task": {"id": "tiny", "name": "Tiny task"},
    "canonical_labels": {"one": [1], "two": [2]},
    "label_remap": {"A": {5: 1, 9: 2, 11: 0, "note": "documentary"}, "B": {1: 1}},
}
SPEC = {
    "eval_regions": {"one": [1], "two": [2]},
    "partial_label": True,
    "metrics": ["dice", "hd95"],
    "main_region": "one",
    "empty_structure": {"hd95": {"gt_nonempty_pred_empty": 80}},
    "prediction_format": {"label_space": [0, 1, 2]},
}


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines on stderr."""
        return self.err.splitlines()

    @property
    def data(self) -> Any:
        """The JSON on stdout, which must be nothing else; NaN and Infinity are refused."""

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} in JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Any:
    """Function that runs one command line in this process."""

    def run(*words: object) -> Outcome:
        capsys.readouterr()
        try:
            code = main([str(w) for w in words])
        except SystemExit as error:  # argparse
            code = int(error.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return run


def build(write_bundle: Any, folder: Path) -> Any:
    """Write case A/1 with dice 2/3, B/1 (all right, region two not labelled) and B/2 without prediction.

    C/1 is a train case of a dataset without remap.
    """
    cases = {
        "A/1": {"dataset": "A", "gt": GT, "image": GT.astype(np.float32), "tier": "easy", "patient_uid": "p"},
        "B/1": {"dataset": "B", "gt": (GT == 5).astype(np.uint8), "chan": {"t2": GT, "t1": GT}, "tier": "hard"},
        "B/2": {"dataset": "B", "gt": (GT == 5).astype(np.uint8), "image": None},
        "C/1": {"dataset": "C", "gt": GT, "split": "train"},
    }
    full = (GT == 5).astype(np.uint8)
    return write_bundle(folder, cases, TASK, SPEC, {"A/1": PRED, "B/1": full, "C/1": full})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory, write_bundle: Any) -> Any:
    """The bundle, shared by a module's tests: nobody changes it."""
    return build(write_bundle, tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def own(tmp_path: Path, write_bundle: Any) -> Any:
    """The same bundle for one test to spoil."""
    return build(write_bundle, tmp_path)
