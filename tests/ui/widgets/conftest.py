"""A tiny bundle and a session on it whose jobs run at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.session.review import ReviewSession
from medotter_viewer.sources.opening import open_source

TASK = """
task: {id: tiny, name: Tiny task}
canonical_labels: {liver: [1], spleen: [2], gland: [3]}
main_region: liver
label_remap:
  A: {5: 1, 6: 1, 9: 2, 11: 0, 12: 3}
  B: {1: 1, 2: 2}
"""
SPEC = """
eval_regions: {liver: [1], spleen: [2], gland: [3]}
partial_label: true
metrics: [dice, hd95]
empty_structure: {hd95: {gt_nonempty_pred_empty: 373.13}}
"""


class AtOnce(Executor):
    """Runs work when it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as an executor does
            future.set_exception(error)
        return future


@pytest.fixture
def at_once() -> type[Executor]:
    """Executor that runs work when it is submitted."""
    return AtOnce


def deliver_at_once(call: Callable[[], None]) -> None:
    call()


def _write(path: Path, data: np.ndarray) -> None:
    import nibabel as nib

    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(data, np.diag([1.0, 2.0, 3.0, 1.0])), path)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a bundle of three cases of 8 x 8 x 6 voxels of 6 mm³; ``B/three`` has no prediction."""
    gt = np.zeros((8, 8, 6), dtype=np.uint8)
    gt[1:4, 1:5, 1:5] = 5  # 48 voxels of liver, of which 12 by another id
    gt[1:4, 1:5, 4] = 6
    gt[5:7, 5:7, 2] = 9  # 4 of spleen
    gt[7, 7, 5] = 11  # listed as background
    gt[7, 0, 0:2] = 40  # not listed
    pred = np.zeros_like(gt)
    pred[1:4, 1:5, 1:4] = 1  # 36 of 48
    for case in ("one", "two"):
        _write(tmp_path / f"data/{case}.nii.gz", gt)
        _write(tmp_path / f"data/{case}_img.nii.gz", gt.astype(np.int16))
    _write(tmp_path / "data/three.nii.gz", np.where(gt == 5, 1, 0).astype(np.uint8))
    _write(tmp_path / "predictions/fast/A/one.nii.gz", pred)
    _write(tmp_path / "predictions/fast/A/two.nii.gz", np.where((gt == 5) | (gt == 6), 1, 0).astype(np.uint8))
    per_case = {
        "A/one": {"dataset": "A", "image": "one_img.nii.gz", "seg": "one.nii.gz", "tier": "near"},
        "A/two": {"dataset": "A", "image": "gone.nii.gz", "seg": "two.nii.gz", "tier": "far"},
        "B/three": {"dataset": "B", "image": "three.nii.gz", "seg": "three.nii.gz", "tier": "far"},
    }
    manifest = {
        "task": "tiny",
        "version": "1",
        "hash": "abc",
        "train": [],
        "test": list(per_case),
        "per_case": per_case,
    }
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "manifest_test.json").write_text(json.dumps(manifest))
    (folder / "task.yaml").write_text(TASK)
    (folder / "eval_spec.yaml").write_text(SPEC)
    return tmp_path


@pytest.fixture
def session(bundle: Path) -> Iterator[ReviewSession]:
    """Return a session on the bundle, nothing open."""
    source = open_source(bundle, predictions=bundle / "predictions/fast", data_root=bundle / "data")
    session = ReviewSession(source, executor=AtOnce(), deliver=deliver_at_once)
    yield session
    session.close()
