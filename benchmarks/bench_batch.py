"""Score a bundle of phantoms by the command line: two worker processes against one, and again from the cache.

The cases are the same in every run: bodies with wavy surfaces in a bundle, dice and hd95 (--size says how large they
are), a few of them copied to files of other bytes. Some are scored by one and by two workers, all of them without and
with what is remembered. Runs of the same cases must write the same JSON, byte for byte (exit status 1 otherwise); a
time is a fact to be told, never a failure. The table is printed and written into RESULTS.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from results import machine, write_block

SIZE, BODIES, DISTINCT = 384, 6, 8
SPEED_UP, FROM_CACHE = 1.7, 0.02


def case_id(number: int) -> str:
    """Return the id of a case."""
    return f"P/{number:04d}"


def write_bundle(folder: Path, count: int, size: int) -> None:
    """Write a bundle and a model's predictions: six bodies, the predicted ones moved and of another shape."""
    import nibabel

    dice = np.random.default_rng(20_260_102)
    shape = (size, size, size // 2)
    axes = np.ogrid[tuple(slice(n) for n in shape)]
    names = [case_id(number) for number in range(count)]
    for part in ("bundle", "data/P", "model/P"):
        (folder / part).mkdir(parents=True)
    for number, name in enumerate(names):
        for part in ("data", "model"):
            path = folder / part / f"{name}.nii.gz"
            if number < DISTINCT:
                continue
            shutil.copy(folder / part / f"{names[number % DISTINCT]}.nii.gz", path)
            with path.open("ab") as file:
                file.write(gzip.compress(b"", mtime=number))  # an empty member: the same volume, other bytes
        if number >= DISTINCT:
            continue
        centres, radii = dice.uniform(0.25, 0.75, (BODIES, 3)) * shape, dice.uniform(0.10, 0.22, BODIES) * size
        for part, moved in (("data", 0.0), ("model", 2.5)):
            labels = np.zeros(shape, np.uint8, order="F")
            wave = 3 * np.sin(axes[0] / 5 + moved) * np.sin(axes[1] / 5) * np.sin(axes[2] / 3)
            for label, (centre, radius) in enumerate(zip(centres, radii, strict=True), 1):
                away = sum(((a - c - moved) * s) ** 2 for a, c, s in zip(axes, centre, (1, 1, 2), strict=True))
                labels[np.sqrt(away) + wave < radius] = label
            image = nibabel.Nifti1Image(labels, np.diag([1.0, 1.0, 2.0, 1.0]))
            (folder / part / f"{name}.nii.gz").write_bytes(gzip.compress(image.to_bytes(), 6, mtime=0))
    cases = {name: {"split": "test", "dataset": "P", "seg": f"{name}.nii.gz", "patient_uid": None} for name in names}
    manifest = {"task": "balls", "version": "1", "hash": "0", "train": [], "test": names, "per_case": cases}
    (folder / "bundle" / "manifest_test.json").write_text(json.dumps(manifest), encoding="utf-8")
    regions = ", ".join(f"body{number}: [{number}]" for number in range(1, BODIES + 1))
    (folder / "bundle" / "task.yaml").write_text(f"task: {{id: balls}}\ncanonical_labels: {{{regions}}}\n", "utf-8")
    spec = f"task_type: seg\neval_regions: {{{regions}}}\nmetrics: [dice, hd95]\n"
    (folder / "bundle" / "eval_spec.yaml").write_text(spec, "utf-8")


def run(folder: Path, out: Path, cache: Path, *more: str) -> float:
    """Return the seconds of one command, from start to exit."""
    command = [sys.executable, "-m", "medotter_viewer", "score", str(folder / "bundle")]
    command += ["--predictions", str(folder / "model"), "--data-root", str(folder / "data"), "--json", str(out), *more]
    environment = {**os.environ, "MEDOTTER_VIEWER_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as where it is installed: modules are compiled once
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603
    return time.perf_counter() - started


def verdict(is_reached: bool) -> str:
    """Return the word for it."""
    return "reached" if is_reached else "missed"


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=300, help="how many (default 300)")
    parser.add_argument("--by-workers", type=int, default=200, help="how many of them by 1 and 2 workers (default 200)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind (default 3)")
    parser.add_argument(
        "--size", type=int, default=SIZE, help=f"voxels along two sides (default {SIZE}), half of it along the third"
    )
    parser.add_argument("--no-results", action="store_true", help="print only")
    options = parser.parse_args()
    seconds: dict[str, list[float]] = {}
    written: dict[str, set[bytes]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "scores.json"
        write_bundle(folder, options.cases, options.size)
        some = [
            part for number in range(min(options.by_workers, options.cases)) for part in ("--case", case_id(number))
        ]
        none, cache = folder / "none", folder / "cache.sqlite"
        runs = [("1 worker", none, (*some, "--workers", "1", "--no-cache"))]
        runs += [("2 workers", none, (*some, "--workers", "2", "--no-cache"))]
        runs = [*(runs * options.runs), ("first", cache, ("--workers", "1"))]
        runs += [("again", cache, ("--workers", "1"))] * options.runs
        run(folder, out, none, *some[:2], "--workers", "1", "--no-cache")  # from now on modules are compiled
        for kind, kept, more in runs:
            seconds.setdefault(kind, []).append(run(folder, out, kept, *more))
            written.setdefault("some" if some[0] in more else "all", set()).add(out.read_bytes())
    is_equal = all(len(found) == 1 for found in written.values())
    middle = {kind: statistics.median(values) for kind, values in seconds.items()}
    counts = dict.fromkeys(middle, options.cases) | dict.fromkeys(("1 worker", "2 workers"), len(some) // 2)
    faster = middle["1 worker"] / middle["2 workers"]
    share = middle["again"] / middle["first"]
    size, engine = options.size, os.environ.get("MEDOTTER_VIEWER_ENGINE", "as installed")
    lines = [
        f"{machine()}, engine {engine}. Whole commands, from start to exit; cases of {size} x {size} x "
        f"{size // 2} voxels; median of {options.runs}, the first run once.",
        "",
        "| run | cases | s | ms for each case |",
        "|---|---|---|---|",
        *(
            f"| {kind} | {counts[kind]} | {middle[kind]:.2f} | {middle[kind] / counts[kind] * 1000:.1f} |"
            for kind in middle
        ),
        "",
        f"Two workers are {faster:.2f} times as fast as one (target at least {SPEED_UP}: "
        f"{verdict(faster >= SPEED_UP)}).",
        f"From the cache it takes {share:.1%} of the first run (target below {FROM_CACHE:.0%}: "
        f"{verdict(share < FROM_CACHE)}). JSON of all runs: "
        f"{'equal byte for byte' if is_equal else 'DIFFERS'}.",
    ]
    print("\n".join(lines))
    if not options.no_results:
        write_block("batch", "Many cases", lines)
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
