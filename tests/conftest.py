"""What all tests share: where real data lie, a way to write tiny bundles, and no aborts for want of a screen."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

# Before anything imports napari: tests neither read nor change the settings of whoever runs them.
os.environ["NAPARI_CONFIG"] = ""
os.environ["MEDOTTER_VIEWER_CACHE"] = os.path.join(tempfile.mkdtemp(prefix="medotter-viewer-"), "scores.sqlite")  # noqa: PTH118
os.environ["MEDOTTER_VIEWER_REVIEWS"] = tempfile.mkdtemp(prefix="medotter-viewer-reviews-")
# No test has kernels compiled behind its back; make test runs those of numbers with the compiled engine too.
os.environ.setdefault("MEDOTTER_VIEWER_ENGINE", "plain")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
DATA_VARIABLE = "MEDOTTER_VIEWER_TEST_DATA"
IN_CI = bool(os.environ.get("CI"))

settings.register_profile("quick", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=100)
settings.load_profile("thorough" if IN_CI else "quick")


# ---------------------------------------------------------------- screens


def _why_no_window(config: pytest.Config) -> str | None:
    """Say why no window can be opened, or None when one can."""
    if not sys.platform.startswith("linux"):
        return None
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return None  # a screen of the user's, or the one that pytest-xvfb has started
    if not shutil.which("Xvfb"):
        return "no display and no Xvfb: install it (apt-get install xvfb) or set DISPLAY"
    if not config.pluginmanager.hasplugin("xvfb"):
        return "no display, and Xvfb is not started: install pytest-xvfb, or run under xvfb-run"
    return "no display: Xvfb is there but was not started (--no-xvfb?)"


@pytest.hookimpl(trylast=True)  # after pytest-xvfb
def pytest_configure(config: pytest.Config) -> None:
    """Without a screen, let Qt at least make widgets: its own plugin would abort the process."""
    # napari means not to hear this; what it says so with counts for all threads, and another one may end it.
    config.addinivalue_line("filterwarnings", "ignore:Conversion from CIE-LAB, via XYZ to sRGB:UserWarning")
    starts_workers = config.getoption("dist", "no") != "no" and "PYTEST_XDIST_WORKER" not in os.environ
    if not starts_workers and _why_no_window(config):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep modules and tests out of collections of garbage: every viewer that is closed sets off a full one."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep a test that needs a window from aborting everything where there can be none."""
    if item.get_closest_marker("window") and (reason := _why_no_window(item.config)):
        _unavailable(reason)


def _unavailable(reason: str) -> None:
    """Skip here; in CI, where everything must be there, fail with the same line."""
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(autouse=True)
def _own_choices(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What one test chooses as a reader, such as to be blinded, is not there in the next."""
    folder = tmp_path_factory.getbasetemp() / f"reviews-{uuid.uuid4().hex}"
    monkeypatch.setenv("MEDOTTER_VIEWER_REVIEWS", str(folder))


# ---------------------------------------------------------------- real data


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data: $MEDOTTER_VIEWER_TEST_DATA, by default ``shared`` beside the repository."""
    folder = Path(os.environ.get(DATA_VARIABLE) or ROOT.parent / "shared").resolve()
    if not (folder / "bundles").is_dir():
        _unavailable(f"real data: no folder {folder}/bundles; set {DATA_VARIABLE}")
    return folder


# ---------------------------------------------------------------- tiny bundles


@dataclass(frozen=True)
class TinyBundle:
    """Where a bundle was written.

    ``folder/bundle`` holds the specification, ``folder/data`` the files, ``folder/<model>`` the predictions.
    """

    folder: Path

    @property
    def bundle(self) -> Path:
        return self.folder / "bundle"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def predictions(self) -> Path:
        return self.folder / "model"


class WriteBundle(Protocol):
    """Writes a bundle.

    Parameters
    ----------
    folder : Path
        Where.
    cases : mapping of case id to mapping
        ``gt``: array (None names a file but writes none); ``image``: array, or ``chan``: name to array; ``spacing``
        (1, 1, 1) or ``affine`` of these files; ``split`` ``test`` (the default) or ``train``; every other key goes
        into the manifest as it is.
    task, eval_spec : mapping, str or None
        Content of the YAML file, or its text; None writes none. By default: regions ``one`` [1] and ``two`` [2], dice
        and hd95, no label_remap.
    predictions : mapping of case id to array or (array, affine)
        An array alone gets the affine of its case.
    manifest : mapping
        More keys of the manifest.
    """

    def __call__(
        self,
        folder: Path,
        cases: Mapping[str, Mapping[str, Any]],
        task: Mapping[str, Any] | str | None = ...,
        eval_spec: Mapping[str, Any] | str | None = ...,
        predictions: Mapping[str, Any] = ...,
        manifest: Mapping[str, Any] = ...,
    ) -> TinyBundle: ...


REGIONS = {"one": [1], "two": [2]}
TASK: Mapping[str, Any] = {"task": {"id": "tiny", "name": "Tiny task"}, "canonical_labels": REGIONS}
EVAL_SPEC: Mapping[str, Any] = {"eval_regions": REGIONS, "metrics": ["dice", "hd95"]}


def _write_bundle(
    folder: Path,
    cases: Mapping[str, Mapping[str, Any]],
    task: Mapping[str, Any] | str | None = TASK,
    eval_spec: Mapping[str, Any] | str | None = EVAL_SPEC,
    predictions: Mapping[str, Any] = {},
    manifest: Mapping[str, Any] = {},
) -> TinyBundle:
    tiny = TinyBundle(folder)
    for path in (tiny.bundle, tiny.data, tiny.predictions):
        path.mkdir(parents=True, exist_ok=True)
    splits: dict[str, list[str]] = {"train": [], "test": []}
    per_case: dict[str, dict[str, Any]] = {}
    affines: dict[str, NDArray[np.float64]] = {}
    for case_id, case in cases.items():
        told = dict(case)
        splits[told.pop("split", "test")].append(case_id)
        spacing = told.pop("spacing", (1.0, 1.0, 1.0))
        affine = affines[case_id] = np.asarray(told.pop("affine", np.diag([*spacing, 1.0])), dtype=float)
        meta = per_case[case_id] = {"split": "train" if case_id in splits["train"] else "test", "patient_uid": None}
        if "gt" in told:
            meta["seg"] = f"labels/{case_id}.nii.gz"
            write_nifti(tiny.data / meta["seg"], told.pop("gt"), affine)
        if "image" in told:
            meta["image"] = f"images/{case_id}.nii.gz"
            write_nifti(tiny.data / meta["image"], told.pop("image"), affine)
        if "chan" in told:
            meta["chan"] = {name: f"images/{case_id}_{name}.nii.gz" for name in told["chan"]}
            for name, array in told.pop("chan").items():
                write_nifti(tiny.data / meta["chan"][name], array, affine)
        meta.update(told)
    content = {"task": "tiny", "version": "1.0", "hash": "0123456789ab", **splits, "per_case": per_case, **manifest}
    (tiny.bundle / "manifest_test.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    write_yaml(tiny.bundle / "task.yaml", task)
    write_yaml(tiny.bundle / "eval_spec.yaml", eval_spec)
    for case_id, pred in predictions.items():
        array, affine = pred if isinstance(pred, tuple) else (pred, affines[case_id])
        write_nifti(tiny.predictions / f"{case_id}.nii.gz", array, affine)
    return tiny


def write_nifti(path: Path, array: NDArray[Any] | None, affine: NDArray[np.float64]) -> None:
    """Write an array as it is; None writes nothing."""
    if array is None:
        return
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, affine, dtype=array.dtype), path)


def write_yaml(path: Path, content: Mapping[str, Any] | str | None) -> None:
    """Write YAML from values, or a text as it is; None writes nothing."""
    if content is None:
        return
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
        return
    from ruamel.yaml import YAML

    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(_plain(content), file)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.fixture(scope="session")
def write_bundle() -> WriteBundle:
    """Function that writes a tiny bundle: ``write_bundle(folder, cases, task, eval_spec, predictions)``."""
    return _write_bundle
