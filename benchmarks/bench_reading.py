"""Read the same .nii.gz files with this package and with others: equality first, then CPU seconds and memory.

Two phantoms of 512 x 512 x 300 voxels are written to a temporary folder: 15 organs as uint8, and a noisy int16 CT of
about 70 MB. The table is printed and written into RESULTS.md beside this file. Exit status 1 when arrays or positions
differ; a time is a fact to be told, never a failure.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results import OUTCOMES

SHAPE = (512, 512, 300)
AFFINE = np.array([[-0.8, 0, 0, 200], [0, -0.8, 0, 180], [0, 0, 3, -450], [0, 0, 0, 1]])
ORGANS = 15
RESULTS = Path(__file__).with_name("RESULTS.md")
START, END = "<!-- reading: written by bench_reading.py -->", "<!-- end of reading -->"
OURS = "medotter-viewer"

Read = tuple[NDArray[Any], NDArray[np.float64], Any]
"""Voxels, position in RAS+ mm, and what must live as long as the voxels."""
Judged = tuple[str, float, str, str, str]
"""What was read, seconds of ours, target, what was measured, verdict."""


def ours(path: Path) -> Read:
    """Labels as labels, images as images."""
    from medotter_viewer.formats import nifti

    value = (nifti.read_labels if path.name.startswith("labels") else nifti.read_volume)(path)[0]
    return value.data, value.grid.affine, None


def nibabel_plain(path: Path) -> Read:
    """Python's gzip, as without indexed_gzip."""
    import nibabel

    with gzip.open(path) as stream:
        image = nibabel.Nifti1Image.from_stream(stream)
        return np.asanyarray(image.dataobj), image.affine, None


def nibabel_indexed(path: Path) -> Read:
    """What nibabel does by itself where indexed_gzip is installed."""
    import indexed_gzip  # noqa: F401 - so that its absence is noticed
    import nibabel

    image = nibabel.load(path)
    return np.asanyarray(image.dataobj), image.affine, None


def simpleitk(path: Path) -> Read:
    """A view of ITK's own array, not a copy; positions from LPS to RAS."""
    import SimpleITK

    image = SimpleITK.ReadImage(str(path))
    affine = np.eye(4)
    affine[:3, :3] = np.reshape(image.GetDirection(), (3, 3)) * image.GetSpacing()
    affine[:3, 3] = image.GetOrigin()
    return SimpleITK.GetArrayViewFromImage(image).T, np.diag([-1.0, -1, 1, 1]) @ affine, image


@dataclass(frozen=True)
class Reader:
    """One way to read a file.

    Parameters
    ----------
    name : str
        As printed.
    packages : tuple of str
        Distributions whose versions are printed.
    read : callable
        Path to array and affine.
    """

    name: str
    packages: tuple[str, ...]
    read: Callable[[Path], Read]


READERS = (
    Reader(OURS, ("medotter-viewer", "isal"), ours),
    Reader("nibabel", ("nibabel",), nibabel_plain),
    Reader("nibabel + indexed_gzip", ("nibabel", "indexed_gzip"), nibabel_indexed),
    Reader("SimpleITK", ("SimpleITK",), simpleitk),
)
TARGETS = {"labels.nii.gz": ("nibabel + indexed_gzip", 4.0), "ct.nii.gz": ("nibabel", 1.8)}


def phantoms(shape: tuple[int, int, int] = SHAPE) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """Return ellipsoidal organs 1 to 15 and a CT of them with noise everywhere, the same in every run."""
    dice = np.random.default_rng(20_260_101)
    size = np.array(shape)
    centres, radii = dice.uniform(0.25, 0.75, (ORGANS, 3)) * size, dice.uniform(0.06, 0.15, (ORGANS, 3)) * size
    x, y = np.ogrid[: shape[0], : shape[1]]
    body = ((x / shape[0] - 0.5) / 0.43) ** 2 + ((y / shape[1] - 0.5) / 0.33) ** 2 < 1
    labels, ct = np.zeros(shape, np.uint8, order="F"), np.zeros(shape, np.int16, order="F")
    for z in range(shape[2]):
        for organ, ((cx, cy, cz), (rx, ry, rz)) in enumerate(zip(centres, radii, strict=True), 1):
            labels[((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1 - ((z - cz) / rz) ** 2, z] = organ
        tissue = np.where(body, 20 + 8 * labels[..., z].astype(float), -1000)
        ct[..., z] = tissue + dice.normal(0, np.where(body, 15, 4))
    return labels, ct


def write_phantoms(folder: Path, shape: tuple[int, int, int] = SHAPE) -> list[Path]:
    """Write both and return their paths."""
    import nibabel

    paths = [folder / "labels.nii.gz", folder / "ct.nii.gz"]
    for path, array in zip(paths, phantoms(shape), strict=True):
        nibabel.save(nibabel.Nifti1Image(array, AFFINE), path)
    return paths


def differences(path: Path, readers: tuple[Reader, ...] = READERS) -> dict[str, str]:
    """Return for every reader but plain nibabel, which is the reference, what differs from it ("equal", "absent")."""
    expected, affine, _ = nibabel_plain(path)
    found = {}
    for reader in readers:
        try:
            array, its_affine, _owner = reader.read(path)
        except ImportError:
            found[reader.name] = "absent"
            continue
        same = array.dtype == expected.dtype and np.array_equal(array, expected)
        placed = np.allclose(its_affine, affine, rtol=0, atol=1e-4)  # ITK keeps spacing and direction apart
        found[reader.name] = "equal" if same and placed else "DIFFERS"
    return found


def cpu_seconds(reader: Reader, path: Path, runs: int) -> float:
    """Return the median CPU time of this process, all threads, after one run to warm up."""
    reader.read(path)
    times = []
    for _ in range(runs):
        started = time.process_time()
        reader.read(path)
        times.append(time.process_time() - started)
    return statistics.median(times)


def peak_mb(reader: Reader, path: Path) -> float:
    """Return by how many MB reading raises the memory of a process of its own, over that of a tiny file."""
    command = [sys.executable, __file__, "--peak", reader.name, str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603


def print_peak(reader: Reader, path: Path) -> None:
    """Child process: read a tiny file for the imports, then the file."""
    with tempfile.TemporaryDirectory() as folder:
        for tiny in write_phantoms(Path(folder), (8, 8, 8)):
            reader.read(tiny)
    before = high_water_kb()
    _voxels = reader.read(path)
    print((high_water_kb() - before) / 1024)


def high_water_kb() -> int:
    """Return the most memory this process has had resident (Linux; getrusage would count the parent's)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1])


def released(reader: Reader) -> str:
    """Return the versions of a reader's packages."""
    found = []
    for package in reader.packages:
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("?")
    return " + ".join(found)


def table(path: Path, runs: int, judged: list[Judged]) -> tuple[list[str], bool]:
    """Return the lines of one file's table, and whether all readers agree; what became of its target is added."""
    equal = differences(path)
    present = [reader for reader in READERS if equal[reader.name] != "absent"]
    seconds = {reader.name: cpu_seconds(reader, path, runs) for reader in present}
    lines = [
        f"### {path.name}: {' x '.join(map(str, SHAPE))}, {path.stat().st_size / 1e6:.1f} MB packed",
        "",
        f"| reader | version | CPU s (median of {runs}) | times {OURS} | peak MB | array and position |",
        "|---|---|---|---|---|---|",
    ]
    for reader in READERS:
        if reader not in present:
            lines.append(f"| {reader.name} | not installed | | | | |")
            continue
        took, ratio = seconds[reader.name], seconds[reader.name] / seconds[OURS]
        memory = peak_mb(reader, path)
        lines.append(
            f"| {reader.name} | {released(reader)} | {took:.3f} | {ratio:.1f} | {memory:.0f} | {equal[reader.name]} |"
        )
    peer, target = TARGETS[path.name]
    if peer in seconds:
        reached = seconds[peer] / seconds[OURS]
        verdict = "reached" if reached >= target else "missed"
        target_text = f"at least {target:g} times as fast as {peer}"
        lines += ["", f"Target: {target_text}: {reached:.1f}, {verdict}."]
        judged.append((f"reading {path.name}", seconds[OURS], target_text, f"{reached:.1f}", verdict))
    return lines, "DIFFERS" not in equal.values()


def write_results(lines: list[str]) -> None:
    """Put the lines between this script's marks; what others wrote into the file, and causes, stay."""
    block = "\n".join([START, *lines, END])
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    if START in text:
        text = re.sub(re.escape(START) + ".*?" + re.escape(END), lambda _: block, text, flags=re.DOTALL)
    else:
        text = f"{text.rstrip()}\n\n## Reading NIfTI\n\n{block}\n"
    RESULTS.write_text(text, encoding="utf-8")


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each reader (default 7)")
    parser.add_argument("--peak", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        name, path = options.peak
        print_peak(next(reader for reader in READERS if reader.name == name), Path(path))
        return 0
    lines = [
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {version('numpy')}. CPU seconds of the whole process, warm; peak MB is what reading adds in a process "
        "of its own.",
        "",
    ]
    agree, judged = True, list[Judged]()
    with tempfile.TemporaryDirectory() as folder:
        for path in write_phantoms(Path(folder)):
            found, equal = table(path, options.runs, judged)
            lines += [*found, ""]
            agree &= equal
    print("\n".join(lines))
    write_results(lines)
    OUTCOMES.mkdir(parents=True, exist_ok=True)
    (OUTCOMES / "reading.json").write_text(json.dumps(judged), encoding="utf-8")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
