"""With the base dependencies alone everything but pictures and windows works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]

# Runs a command where nothing can be imported but what the given distributions bring along, then tells which
# distributions were.
PROGRAM = """
import importlib.metadata as metadata, json, re, sys

def plain(name):
    return re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", name)[0]).lower()

report, base, *words = sys.argv[1:]
allowed, waiting = {"medotter-viewer"}, json.loads(base)
while waiting:
    name = plain(waiting.pop())
    if name not in allowed:
        allowed.add(name)
        try:
            waiting += [r for r in metadata.requires(name) or () if "extra ==" not in r]
        except metadata.PackageNotFoundError:
            pass  # for another version of Python

owners = {top: {plain(o) for o in names} for top, names in metadata.packages_distributions().items()}
for top, names in owners.items():
    if not names & allowed and top not in sys.modules:
        sys.modules[top] = None  # as if not installed
before = set(sys.modules)
from medotter_viewer.cli import main

code = main(words)
used = {name.partition(".")[0] for name in set(sys.modules) - before}
with open(report, "w") as file:
    json.dump(sorted(set().union(*(owners.get(top, set()) for top in used))), file)
sys.exit(code)
"""


def _base_dependencies() -> set[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["project"]["dependencies"]
    return {re.split(r"[\s<>=!~;\[]", one, maxsplit=1)[0] for one in listed}


BASE = _base_dependencies()
# What a segmentation's score does not need, and what does.
INFO = "from pathlib import Path; from medotter_viewer.sources.info import path_info; path = Path(words[0]); "
DICOM = "import sys; sys.path.insert(0, words[1]); import dicom_files; "
ELSEWHERE = {
    "psygnal": "import medotter_viewer.session.review",
    "platformdirs": "import os; os.environ.pop('MEDOTTER_VIEWER_CACHE', None); "
    "from medotter_viewer.cache.store import default_cache_path; default_cache_path()",
    "pillow": INFO + "from PIL import Image; Image.new('L', (3, 2)).save(path / 'a.png'); path_info(path / 'a.png')",
    "tifffile": INFO + "import numpy, tifffile; tifffile.imwrite(path / 'a.tif', numpy.zeros((3, 2), 'uint8')); "
    "path_info(path / 'a.tif')",
    "nibabel": "from pathlib import Path; import numpy; from medotter_viewer import Grid, LabelMap; "
    "from medotter_viewer.formats.nifti import write_labels; data = numpy.zeros((3, 2, 1), 'uint8'); "
    "write_labels(Path(words[0]) / 'a.nii', LabelMap(data, Grid(data.shape, numpy.eye(4))))",
    "pynrrd": INFO + "(path / 'a.nrrd').write_bytes(b'NRRD0004\\ntype: uint8\\ndimension: 3\\nsizes: 1 1 1\\n"
    "encoding: raw\\n\\n0'); path_info(path / 'a.nrrd')",
    "pydicom": INFO + DICOM + "import numpy; dicom_files.write_slice(path / 'a.dcm', numpy.zeros((4, 4), 'uint8')); "
    "path_info(path / 'a.dcm')",
}
# Decoders: pydicom finds them by itself, tests/formats/dicom/test_compressed.py reads a file of each.
DECODERS = {"pylibjpeg", "pylibjpeg-openjpeg", "pylibjpeg-rle", "pyjpegls", "python-gdcm"}


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    gt = np.zeros((5, 5, 5), dtype=np.uint8)
    gt[1:4, 1:4, 1:4] = 1
    pred = gt.copy()
    pred[1] = 0  # 18 of 27 voxels are left
    cases = {"A/1": {"dataset": "A", "gt": gt, "image": gt}}
    spec = {"eval_regions": {"one": [1]}, "metrics": ["dice", "hd95"]}
    return write_bundle(tmp_path, cases, eval_spec=spec, predictions={"A/1": pred})


def run(folder: Path, *words: object, program: str = PROGRAM) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run a command with the base dependencies alone; return it and those of them that it imported."""
    report = folder / "distributions.json"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, report, json.dumps(sorted(BASE)), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert report.exists(), done.stderr
    return done, {one for one in BASE if one.replace(".", "-") in json.loads(report.read_text())}


@pytest.mark.parametrize("hd95", ["directed_max", "surfel"])
def test_score_needs_the_base_dependencies_and_each_of_them(tiny: Any, tmp_path: Path, hd95: str) -> None:
    done, used = run(tmp_path, "score", tiny.bundle, "--predictions", tiny.predictions, "--hd95", hd95, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    one = json.loads(done.stdout)["cases"]["A/1"]["regions"]["one"]
    assert one["dice"]["value"] == pytest.approx(2 * 18 / (18 + 27))
    assert one["hd95"]["value"] == pytest.approx(1.0)
    assert used == BASE - set(ELSEWHERE) - DECODERS


@pytest.mark.parametrize("command", ["cases", "remap-audit", "check", "info"])
def test_the_other_commands_need_no_more(tiny: Any, tmp_path: Path, command: str) -> None:
    done, used = run(tmp_path, command, tiny.bundle)
    assert (done.returncode, done.stderr) == (0, "")
    assert "one" in done.stdout or "A/1" in done.stdout or "other findings" in done.stdout
    assert {"numpy"} <= used


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_every_other_base_dependency_is_needed_somewhere_and_no_window(tmp_path: Path, name: str) -> None:
    program = PROGRAM.replace("code = main(words)", f"{ELSEWHERE[name]}; code = 0")
    done, used = run(tmp_path, tmp_path, ROOT / "tests" / "support", program=program)
    assert (done.returncode, done.stderr) == (0, "")
    assert name in used


def test_opening_a_window_names_the_extra(tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")  # a screen, as far as can be told without Qt
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    done, _ = run(tmp_path, "open", tiny.bundle)
    assert done.returncode == 1
    assert "medotter-viewer[gui]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
