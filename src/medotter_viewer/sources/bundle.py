"""A frozen benchmark task on disk.

`Bundle` has the interface of the benchmark SDK's own loader, so that code written for one runs with the other.
Code inside a bundle (``remap.py``, ``scoring.py``) is never executed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medotter_viewer.core.spec import EvalSpec, TaskSpec
from medotter_viewer.errors import BundleError, BundleNotFoundError, CaseNotFoundError, UnsafePathError, UsageError
from medotter_viewer.formats.config_files import read_json, read_yaml

MANIFEST, TASK, EVAL_SPEC = "manifest_test.json", "task.yaml", "eval_spec.yaml"
DATA_ROOT_VARIABLE = "MEDOTTER_VIEWER_DATA_ROOT"
_REQUIRED = ("task", "version", "hash", "train", "test", "per_case")


class Bundle:
    """A benchmark task directory.

    Parameters
    ----------
    directory : str or Path
        Folder that holds ``manifest_test.json``; it is read at once.

    Attributes
    ----------
    directory : Path
        The folder.
    task, version, hash : str
        Identity of the task; the hash is shown, not verified.
    train, test : list of str
        Case ids in the manifest's order.
    manifest : dict
        The manifest as read.

    Raises
    ------
    FileNotFoundError
        If there is no manifest.
    BundleError
        If the manifest is not JSON, has a key twice, or lacks a required one.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        path = self.directory / MANIFEST
        if not path.is_file():
            raise BundleNotFoundError(f"{self.directory}: no {MANIFEST}; expected a bundle folder")
        manifest = read_json(path)
        if not isinstance(manifest, dict):
            raise BundleError(f"{path}: got {type(manifest).__name__}, expected an object")
        if absent := [key for key in _REQUIRED if key not in manifest]:
            raise BundleError(f"{path}: missing {', '.join(absent)}; required are {', '.join(_REQUIRED)}")
        for key in ("train", "test"):
            if not isinstance(manifest[key], list) or not all(isinstance(c, str) for c in manifest[key]):
                raise BundleError(f"{path}: {key}: expected a list of case ids")
        if not isinstance(manifest["per_case"], dict):
            raise BundleError(f"{path}: per_case: expected an object of case id to entry")
        self.manifest: dict[str, Any] = manifest
        self.task: str = str(manifest["task"])
        self.version: str | None = _text(manifest["version"])
        self.hash: str | None = _text(manifest["hash"])
        self.train: list[str] = list(manifest["train"])
        self.test: list[str] = list(manifest["test"])

    def __repr__(self) -> str:
        return (
            f"Bundle({self.task!r}, version {self.version}, hash {self.hash}, "
            f"{len(self.train)} train, {len(self.test)} test)"
        )

    def case_meta(self, case_id: str) -> dict[str, Any]:
        """Return the manifest's entry of a case.

        Raises
        ------
        KeyError
            If there is none.
        """
        meta = self.manifest["per_case"].get(case_id)
        if not isinstance(meta, dict):
            raise CaseNotFoundError(f"{self.directory / MANIFEST}: no entry in per_case for case {case_id!r}")
        return meta

    def cases(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield id and entry of every case, train then test."""
        for case_id in [*self.train, *self.test]:
            yield case_id, self.case_meta(case_id)

    def task_spec(self) -> dict[str, Any]:
        """Return task.yaml, parsed at this call."""
        return self._yaml(TASK)

    def eval_spec(self) -> dict[str, Any]:
        """Return eval_spec.yaml, parsed at this call."""
        return self._yaml(EVAL_SPEC)

    @property
    def has_task(self) -> bool:
        """Whether there is a task.yaml; older bundles have none."""
        return os.path.lexists(self.directory / TASK)

    def typed_task(self) -> TaskSpec | None:
        """Return the typed view of task.yaml, or None when there is none."""
        if not self.has_task:
            return None
        return TaskSpec.from_mapping(self.task_spec(), where=str(self.directory / TASK))

    def typed_spec(self) -> EvalSpec:
        """Return the typed view of eval_spec.yaml; regions it lacks come from task.yaml.

        A bundle without eval_spec.yaml is scored by the defaults.
        """
        raw = self.eval_spec() if os.path.lexists(self.directory / EVAL_SPEC) else {}
        return EvalSpec.from_mapping(raw, self.typed_task(), where=str(self.directory / EVAL_SPEC))

    def _yaml(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        if not os.path.lexists(path):
            raise BundleNotFoundError(f"{path}: no such file")
        content = read_yaml(path)
        if not isinstance(content, dict):
            raise BundleError(f"{path}: got {type(content).__name__}, expected keys and values")
        return content

    def _repr_html_(self) -> str:
        from html import escape

        task = self.task_spec().get("task") if self.has_task else None
        identity: Mapping[str, Any] = task if isinstance(task, Mapping) else {}
        rows = {"version": self.version, "hash": self.hash, "test": len(self.test), "train": len(self.train)}
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(str(k))}</th><td>{escape(str(v))}</td></tr>"
            for k, v in {**identity, **rows}.items()
        )
        return f"<table><caption>{escape(self.task)}</caption>{cells}</table>"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def find_bundle(target: Path) -> Path | None:
    """Return the bundle folder of a target: itself, or its sub-folder ``bundle``; None when it is neither."""
    return next((p for p in (target, target / "bundle") if (p / MANIFEST).is_file()), None)


def find_data_root(bundle_dir: Path, data_root: Path | None = None) -> Path:
    """Return the folder that a manifest's paths are relative to.

    The given one, else that of the environment variable ``MEDOTTER_VIEWER_DATA_ROOT``, else ``data/`` beside the
    bundle folder, else the bundle folder; and its sub-folder ``_prepared`` where there is one.

    Raises
    ------
    UsageError
        If the folder that was asked for is not there.
    """
    asked = data_root or (Path(v) if (v := os.environ.get(DATA_ROOT_VARIABLE)) else None)
    if asked is not None and not asked.is_dir():
        raise UsageError(f"data root: no such folder: {asked}")
    beside = bundle_dir.resolve().parent / "data"
    root = asked or (beside if beside.is_dir() else bundle_dir)
    prepared = root / "_prepared"
    if not prepared.is_dir():
        return root
    if not prepared.resolve().is_relative_to(root.resolve()):
        raise UnsafePathError(f"{prepared}: a link that leaves the data root; expected a folder inside {root}")
    return prepared
