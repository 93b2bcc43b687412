"""Time what-ifs without a voxel: a changed remap over 500 cases, a stroke and a remap edit on one open case.

Equality first: scores and means against scoring anew. The 500 cases are five pairs of phantoms of 512 x 512 x 300
voxels with 15 labels; each case has files of its own (the same volume, other bytes), so that 1,000 files are hashed.
What `score` would remember of a case is put into the cache for each of them. The table is printed and written into
RESULTS.md beside this file. Exit status 1 when numbers differ; a time is a fact to be told, never a failure.
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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from organs import ellipsoids
from results import machine, write_block
from ruamel.yaml import YAML

SHAPE = (512, 512, 300)
N_LABELS, N_PAIRS, N_CASES, STROKE = 15, 5, 500, 10_000
CHANGE = {1: 2, 3: None}


def organs(seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return 15 ellipsoids with ids 21 to 35, and a prediction of ids 1 to 15 that is shifted and has a false spot."""
    dice = np.random.default_rng(seed)
    ids = ellipsoids(dice, SHAPE, N_LABELS)
    gt = ids + np.uint8(20) * (ids > 0)
    pred = np.zeros(SHAPE, np.uint8, order="F")
    pred[2:, 1:, 1:] = ids[:-2, :-1, :-1]
    pred[3:8, 3:8, 3:6] = 1
    return gt, pred


def write_manifest(folder: Path) -> None:
    """Write the bundle, its files, and the cache that knows them."""
    import nibabel

    from medotter_viewer import open_source
    from medotter_viewer.cache.facts import facts_key
    from medotter_viewer.cache.scores import score_through_cache
    from medotter_viewer.cache.store import FactCache
    from medotter_viewer.scoring.options import ScoreOptions

    for part in ("bundle", "data", "model/D", "model/E"):
        (folder / part).mkdir(parents=True)
    for pair in range(N_PAIRS):
        for name, data in zip(("gt", "pred"), organs(pair), strict=True):
            image = nibabel.Nifti1Image(data, np.diag([-0.8, -0.8, 3.0, 1.0]))
            (folder / f"{name}{pair}.nii.gz").write_bytes(gzip.compress(image.to_bytes(), 6, mtime=0))
    per_case: dict[str, Any] = {}
    for n in range(N_CASES):
        case_id = f"{'D' if n % 2 else 'E'}/{n:03}"
        for source, target in (("gt", f"data/{n:03}.nii.gz"), ("pred", f"model/{case_id}.nii.gz")):
            shutil.copy(folder / f"{source}{n % N_PAIRS}.nii.gz", folder / target)
            with (folder / target).open("ab") as file:
                file.write(gzip.compress(b"", mtime=n + 1))  # an empty member: the same volume, other bytes
        per_case[case_id] = {"dataset": case_id[0], "split": "test", "seg": f"{n:03}.nii.gz"}
    regions = {f"organ{k}": [k] for k in range(1, N_LABELS + 1)}
    remap = {k + 20: k for k in range(1, N_LABELS + 1)}
    manifest = {"task": "t", "version": "1", "hash": "h", "train": [], "test": list(per_case), "per_case": per_case}
    (folder / "bundle/manifest_test.json").write_text(json.dumps(manifest))
    task = {"task": {"id": "t"}, "canonical_labels": regions, "label_remap": {"D": remap, "E": remap}}
    YAML(typ="safe").dump(task, folder / "bundle/task.yaml")
    YAML(typ="safe").dump({"metrics": ["dice", "iou", "hd95"]}, folder / "bundle/eval_spec.yaml")
    source, cache = open_source(folder / "bundle", predictions=folder / "model"), FactCache(folder / "cache.sqlite")
    facts: dict[int, dict[str, Any]] = {}
    for n, entry in enumerate(source.entries("test")):
        key = facts_key(entry, source.spec, resample=False)
        if n < N_PAIRS:
            score_through_cache(entry, source.spec, ScoreOptions(), cache=cache)
            facts[n] = cache.get(key)
        else:
            cache.put(key, facts[n % N_PAIRS])


def steps(folder: Path) -> tuple[dict[str, tuple[float, float]], Any, Any]:
    """Return wall and CPU seconds of each step from the folder to both headlines, and what was found."""
    from medotter_viewer import open_source
    from medotter_viewer.cache.store import FactCache
    from medotter_viewer.live.changes import Changes
    from medotter_viewer.live.known_tables import known_tables
    from medotter_viewer.live.what_if import WhatIfs
    from medotter_viewer.scoring.options import ScoreOptions

    marks = [(time.perf_counter(), time.process_time())]

    def mark() -> None:
        marks.append((time.perf_counter(), time.process_time()))

    source = open_source(folder / "bundle", predictions=folder / "model")
    entries = list(source.entries("test"))
    mark()
    known = known_tables(entries, source.spec, FactCache(folder / "cache.sqlite"))
    mark()
    trials = WhatIfs(known, source.spec, ScoreOptions())
    mark()
    found = trials(Changes({"D": {k + 20: to for k, to in CHANGE.items()}}))
    mark()
    names = ("find the files", "hash them, get tables", "scores before", "scores after, both means")
    took = {n: (b[0] - a[0], b[1] - a[1]) for n, a, b in zip(names, marks, marks[1:], strict=False)}
    return {**took, "all": (marks[-1][0] - marks[0][0], marks[-1][1] - marks[0][1])}, trials, found


def evict(folder: Path) -> None:
    """Let the system forget what it holds of the files in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


def median_ms(work: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the median wall time and CPU time in ms."""
    times = []
    for _ in range(runs):
        started = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - started[0], time.process_time() - started[1]))
    wall, cpu = (statistics.median(one) * 1e3 for one in zip(*times, strict=True))
    return wall, cpu


def manifest_lines(folder: Path, runs: int) -> tuple[list[str], bool]:
    """Return the table of the 500 cases, and whether the numbers are those of scoring anew."""
    evict(folder)
    child = subprocess.run(  # noqa: S603
        [sys.executable, __file__, "--steps", str(folder)], check=True, capture_output=True, text=True
    )
    cold = json.loads(child.stdout)
    took, trials, found = steps(folder)
    again = [steps(folder)[0] for _ in range(runs)]
    warm = {name: [statistics.median(one[name][i] for one in again) for i in (0, 1)] for name in took}
    edit, edit_cpu = median_ms(lambda: trials(found.changes), runs)
    size = sum(p.stat().st_size for part in ("data", "model") for p in (folder / part).rglob("*.gz")) / 1e6
    lines = [f"### A remap changed over {N_CASES} cases: {2 * N_CASES:,} files of {size:,.0f} MB in all", ""]
    lines += ["| step | cold, wall s | CPU s | warm, wall s | CPU s |", "|---|---|---|---|---|"]
    lines += [f"| {n} | {cold[n][0]:.2f} | {cold[n][1]:.2f} | {warm[n][0]:.2f} | {warm[n][1]:.2f} |" for n in took]
    lines += ["", f"Each further edit, tables in memory: {edit:.0f} ms ({edit_cpu:.0f} ms CPU)."]
    worst = max(cold["all"][0], warm["all"][0])
    verdict = "reached" if worst < 2 else f"missed; {max(cold['all'][1], warm['all'][1]):.2f} s of it are CPU time"
    lines += [f"Target: headline before and after in under 2 s: {worst:.2f} s, {verdict}."]
    return lines, len(found.cases) == N_CASES and same_as_anew(trials, found)


def same_as_anew(trials: Any, found: Any) -> bool:
    """Whether one case of each pair is scored alike from its files."""
    from medotter_viewer.scoring.registry import score_case
    from medotter_viewer.sources.loading import load_case

    options = replace(trials.options, metrics=("dice", "iou"))
    for case_id in list(found.cases)[:N_PAIRS]:
        entry = found.changes.entry(trials.known.entries[case_id], ())
        anew = score_case(load_case(entry, images=False), trials.spec, options)
        for name, region in anew.regions.items():
            after = found.cases[case_id][1].regions[name]
            if any(after.metrics[m] != value for m, value in region.metrics.items()):
                return False
    return True


def open_case_lines(runs: int) -> tuple[list[str], bool]:
    """Return the table of one open case, and whether its numbers are those of counting anew."""
    from medotter_viewer.core.case import Case, CaseEntry
    from medotter_viewer.core.grid import Grid
    from medotter_viewer.core.labels import LabelMap, Remap
    from medotter_viewer.core.spec import EvalSpec
    from medotter_viewer.live.changes import Changes
    from medotter_viewer.live.table import LiveTable, count_slices
    from medotter_viewer.scoring.options import ScoreOptions
    from medotter_viewer.scoring.registry import score_case

    spec = EvalSpec.from_mapping({"eval_regions": {f"organ{k}": [k] for k in range(1, N_LABELS + 1)}})
    options, fast = ScoreOptions(("dice", "iou", "hd95")), ScoreOptions(("dice", "iou"))
    gt, pred = organs(0)
    grid, remap = Grid(SHAPE, np.diag([-0.8, -0.8, 3.0, 1.0])), Remap({k + 20: k for k in range(1, 16)}, "dict")
    entry = CaseEntry("D/1", dataset="D", remap=remap)
    case = Case(entry, gt_native=LabelMap(gt, grid), gt=LabelMap(remap.apply(gt), grid), pred=LabelMap(pred, grid))
    live, painted = LiveTable(case, spec, options), pred.copy(order="K")
    live.take_slices(0, count_slices(case, 0), 0)
    x, y = np.ogrid[:512, :512]
    near = (x - 200) ** 2 + (y - 260) ** 2
    disc = np.nonzero(near <= np.sort(near, axis=None)[STROKE - 1])
    disc = tuple(axis[:STROKE] for axis in disc)
    turn = [0]

    def stroke() -> None:
        turn[0] += 1
        voxels = (*disc, np.full(STROKE, 140))
        painted[voxels] = turn[0] % (N_LABELS + 1)
        live.follow(painted, voxels)
        live.score()
        live.profile(0)

    first, first_cpu = median_ms(stroke, 1)
    took, took_cpu = median_ms(stroke, runs)
    other = Changes({"D": {k + 20: to for k, to in CHANGE.items()}}).entry(entry, ())
    edit, edit_cpu = median_ms(lambda: live.score(other), runs)
    now = replace(case, pred=LabelMap(painted, grid))
    tried = replace(now, entry=other, gt=LabelMap(other.remap.apply(gt), grid))
    same = all(
        score_case(one, spec, fast).regions[name].metrics[metric]
        == live.score(one.entry)[0].regions[name].metrics[metric]
        for one in (now, tried)
        for name in spec.regions
        for metric in ("dice", "iou")
    )
    lines = [
        f"### One open case of {' x '.join(map(str, SHAPE))} voxels, {N_LABELS} labels",
        "",
        "| what | wall, ms | CPU, ms | target, ms |",
        "|---|---|---|---|",
        f"| stroke of {STROKE:,} voxels to dice and iou of all regions and slices | {took:.1f} | {took_cpu:.1f} | 10 |",
        f"| the first stroke, which copies the prediction once | {first:.1f} | {first_cpu:.1f} | |",
        f"| remap edit to dice and iou of all regions | {edit:.2f} | {edit_cpu:.2f} | 5 |",
    ]
    return lines, same


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="timed runs (default 7)")
    parser.add_argument("--steps", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.steps:
        print(json.dumps(steps(options.steps)[0]))
        return 0
    lines = [
        f"{machine()}, load {os.getloadavg()[0]:.1f} when it began. Cold is a fresh process after the system "
        "forgot the files.",
        "",
    ]
    found, same = open_case_lines(options.runs)
    lines += [*found, ""]
    with tempfile.TemporaryDirectory() as folder:
        write_manifest(Path(folder))
        found, equal = manifest_lines(Path(folder), options.runs)
    lines += [*found, "", f"Numbers against scoring anew: {'equal' if same and equal else 'DIFFERENT'}."]
    print("\n".join(lines))
    write_block("what-if", "What-ifs without a voxel", lines)
    return 0 if same and equal else 1


if __name__ == "__main__":
    sys.exit(main())
