"""Score a bundle of phantoms by the command line: two worker processes against one, and again from the cache.

The cases are the same in every run: balls with wavy surfaces in a bundle, dice and hd95, about 150 ms of computing each
(--size says how large they are). Every run must write the same JSON, byte for byte (exit status 1 otherwise); a time
is a fact to be told, never a failure. The table is printed and written into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from results import machine, write_block

SIZE, BODIES = 160, 6
SPEED_UP, FROM_CACHE = 1.7, 0.02


def write_bundle(folder: Path, count: int, size: int) -> None:
    """Write a bundle and a model's predictions: six bodies, the predicted ones moved and of another shape."""
    import nibabel

    dice = np.random.default_rng(20_260_102)
    shape = (size, size, size // 2)
    axes = np.ogrid[tuple(slice(n) for n in shape)]
    names = [f"P/{number:04d}" for number in range(count)]
    for part in ("bundle", "data/P", "model/P"):
        (folder / part).mkdir(parents=True)
    for name in names:
        centres, radii = dice.uniform(0.25, 0.75, (BODIES, 3)) * shape, dice.uniform(0.10, 0.22, BODIES) * size
        for part, moved in (("data", 0.0), ("model", 2.5)):
            labels = np.zeros(shape, np.uint8, order="F")
            wave = 3 * np.sin(axes[0] / 5 + moved) * np.sin(axes[1] / 5) * np.sin(axes[2] / 3)
            for label, (centre, radius) in enumerate(zip(centres, radii, strict=True), 1):
                away = sum(((a - c - moved) * s) ** 2 for a, c, s in zip(axes, centre, (1, 1, 2), strict=True))
                labels[np.sqrt(away) + wave < radius] = label
            image = nibabel.Nifti1Image(labels, np.diag([1.0, 1.0, 2.0, 1.0]))
            nibabel.save(image, folder / part / f"{name}.nii.gz")
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
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603
    return time.perf_counter() - started


def verdict(is_reached: bool) -> str:
    """Return the word for it."""
    return "reached" if is_reached else "missed"


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200, help="how many (default 200)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind (default 3)")
    parser.add_argument(
        "--size", type=int, default=SIZE, help=f"voxels along two sides (default {SIZE}), half of it along the third"
    )
    parser.add_argument("--no-results", action="store_true", help="print only")
    options = parser.parse_args()
    seconds: dict[str, list[float]] = {}
    written: set[bytes] = set()
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "scores.json"
        write_bundle(folder, options.cases, options.size)
        for number in range(options.runs):
            cache = folder / f"{number}.sqlite"
            runs = (
                ("1 worker", folder / "none", ("--workers", "1", "--no-cache")),
                ("2 workers", folder / "none", ("--workers", "2", "--no-cache")),
                ("first", cache, ("--workers", "1")),
                ("again", cache, ("--workers", "1")),
            )
            for kind, kept, more in runs:
                seconds.setdefault(kind, []).append(run(folder, out, kept, *more))
                written.add(out.read_bytes())
    middle = {kind: statistics.median(values) for kind, values in seconds.items()}
    faster = middle["1 worker"] / middle["2 workers"]
    share = middle["again"] / middle["first"]
    size, engine = options.size, os.environ.get("MEDOTTER_VIEWER_ENGINE", "as installed")
    lines = [
        f"{machine()}, engine {engine}. Whole commands, from start to exit; {options.cases} cases of {size} x {size} x "
        f"{size // 2} voxels; median of {options.runs}.",
        "",
        "| run | s | ms for each case |",
        "|---|---|---|",
        *(f"| {kind} | {middle[kind]:.2f} | {middle[kind] / options.cases * 1000:.1f} |" for kind in middle),
        "",
        f"Two workers are {faster:.2f} times as fast as one (target at least {SPEED_UP}: "
        f"{verdict(faster >= SPEED_UP)}).",
        f"From the cache it takes {share:.1%} of the first run (target below {FROM_CACHE:.0%}: "
        f"{verdict(share < FROM_CACHE)}). JSON of all runs: "
        f"{'equal byte for byte' if len(written) == 1 else 'DIFFERS'}.",
    ]
    print("\n".join(lines))
    if not options.no_results:
        write_block("batch", "Many cases", lines)
    return 0 if len(written) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
