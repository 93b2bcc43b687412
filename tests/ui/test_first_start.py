"""A first start: kernels are compiled and loaded while the window stays usable."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from medotter_viewer.engine.choice import VARIABLE
from medotter_viewer.engine.store import FOLDER_VARIABLE, folder

ROOT = Path(__file__).parents[2]
BOUND_MS = 1000  # generous: other tests run beside this one; see docs/engine.md for what was measured


@pytest.mark.window
def test_a_window_without_compiled_kernels_goes_on_while_they_are_made(tmp_path: Path) -> None:
    bundle = ROOT / "sample_bundles" / "torso_ct"
    if folder().is_dir():  # what is compiled already: the child then takes seconds, not a minute
        shutil.copytree(folder(), tmp_path / folder().name, ignore=shutil.ignore_patterns("ready"))
    kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
    program = [sys.executable, ROOT / "tests" / "support" / "first_start.py"]
    done = subprocess.run(
        [*map(str, program), str(bundle / "bundle"), str(bundle / "predictions" / "mixed"), "240"],
        env={**kept, FOLDER_VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["asked_by_window"]
    assert said["status"] == "compiled"
    assert len(said["paused_ms"]) == 10
    assert said["paused_ms"][0] < BOUND_MS
