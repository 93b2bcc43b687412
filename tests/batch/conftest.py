"""A bundle of phantoms that take a while to score, and a way to make one of them end whoever reads it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source

KILLER = "ends-its-reader"
_HOOK = f"""
import os, signal, sys

def ends(event, arguments):
    if event == "open" and {KILLER!r} in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(ends)
"""
"""What a library does that is broken by a file: the process is gone, no exception."""


@pytest.fixture(autouse=True)
def plain_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither here nor in a worker anything is compiled or loaded that takes seconds."""
    monkeypatch.setenv("MEDOTTER_VIEWER_ENGINE", "plain")


@pytest.fixture
def new_bundle(tmp_path: Path, write_bundle: Any) -> Callable[..., Any]:
    """Function that writes a bundle of some cases of noise, and predictions; larger ones take longer."""

    def new(count: int, size: int = 12, name: str = "b", killers: tuple[int, ...] = ()) -> Any:
        dice = np.random.default_rng(7)
        cases, predictions = {}, {}
        for number in range(count):
            case_id = f"S/{number}{KILLER if number in killers else ''}"
            gt = dice.integers(0, 3, (size, size, size)).astype(np.uint8)
            cases[case_id] = {"dataset": "S", "gt": gt}
            predictions[case_id] = np.where(dice.random(gt.shape) < 0.1, 0, gt).astype(np.uint8)
        return write_bundle(tmp_path / name, cases, predictions=predictions)

    return new


@pytest.fixture
def open_bundle() -> Callable[[Any], BundleSource]:
    """Function that opens a bundle with its predictions."""
    return lambda tiny: open_source(tiny.bundle, predictions=tiny.predictions)


@pytest.fixture
def breaking_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder that makes every Python process started from now on end when it opens a killer's file."""
    folder = tmp_path / "broken library"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_HOOK)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


@pytest.fixture
def command() -> Callable[..., list[str]]:
    """Function that gives the command line that scores a bundle."""

    def line(tiny: Any, *more: object) -> list[str]:
        start = ["score", str(tiny.bundle), "--predictions", str(tiny.predictions)]
        return [*start, *(str(one) for one in more)]

    return line


@pytest.fixture
def wait_until() -> Callable[[Callable[[], object]], None]:
    """Function that waits until something is so."""

    def wait(is_so: Callable[[], object], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < until, "it never came to be"
            time.sleep(0.02)

    return wait


@pytest.fixture
def children() -> Callable[..., list[psutil.Process]]:
    """Function that gives the processes that a process has started, its worker processes by default."""

    def of(process: int | None = None, word: str = "batch.worker") -> list[psutil.Process]:
        found = []
        for child in psutil.Process(process).children(recursive=True):
            try:
                if any(word in part for part in child.cmdline()) and child.status() != psutil.STATUS_ZOMBIE:
                    found.append(child)
            except psutil.NoSuchProcess:
                continue
        return found

    return of


@pytest.fixture
def python() -> str:
    return sys.executable
