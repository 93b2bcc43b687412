"""Time what a person waits for in the window: the next case, a stroke, a list, a side plane; and memory over cases.

A real window on a screen (Xvfb will do, with its software renderer), phantoms of 512 x 512 x 300 voxels in a temporary
folder. Equality first: what the window shows in the end is compared with scoring anew (exit status 1 otherwise); a time
is a fact to be told, never a failure. The table is printed and written into RESULTS.md.

Needs the `gui` extra: run it by ``make bench-viewer``.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from organs import ellipsoids
from results import machine, write_block

SHAPE, N_LABELS, STROKE = (512, 512, 300), 15, 10_000
N_LISTED, N_SWITCHES = 1000, 100

Row = tuple[str, str, str]
"""What, how long, and the target with its verdict."""


def organs(seed: int, shape: tuple[int, int, int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return an image, fifteen ellipsoids, and a prediction that is moved by two voxels."""
    dice = np.random.default_rng(seed)
    gt = ellipsoids(dice, shape, N_LABELS)
    pred = np.asfortranarray(np.roll(gt, 2, axis=0))
    image = np.empty(shape, np.int16, order="F")
    for k in range(shape[2]):
        image[:, :, k] = dice.normal(0, 20, shape[:2]) + np.where(gt[:, :, k] > 0, 60, -900)
    return image, gt, pred


def write_bundle(folder: Path, shape: tuple[int, int, int], n_cases: int) -> None:
    """Write a bundle of cases with images; two pairs of phantoms in turn."""
    import nibabel

    for part in ("bundle", "data", "model/D"):
        (folder / part).mkdir(parents=True)
    per_case: dict[str, Any] = {}
    for n in range(n_cases):
        names = {"image": f"data/{n}_img.nii.gz", "gt": f"data/{n}_seg.nii.gz", "pred": f"model/D/{n}.nii.gz"}
        if n < 2:
            for name, data in zip(names.values(), organs(n, shape), strict=True):
                affine = np.diag([-0.8, -0.8, 3.0, 1.0])
                affine[:3, 3] = 210.0 + 7 * n, 180.0 - 5 * n, -900.0 + 11 * n  # no two patients lie alike
                image = nibabel.Nifti1Image(data, affine)
                (folder / name).write_bytes(gzip.compress(image.to_bytes(), 1, mtime=0))
        else:
            for name in names.values():
                shutil.copy(folder / name.replace(f"{n}", f"{n % 2}", 1), folder / name)
        per_case[f"D/{n}"] = {"dataset": "D", "split": "test", "img": f"{n}_img.nii.gz", "seg": f"{n}_seg.nii.gz"}
    regions = {f"organ{k}": [k] for k in range(1, N_LABELS + 1)}
    manifest = {"task": "t", "version": "1", "hash": "h", "train": [], "test": list(per_case), "per_case": per_case}
    (folder / "bundle/manifest_test.json").write_text(json.dumps(manifest), encoding="utf-8")
    task = {"task": {"id": "t"}, "canonical_labels": {name: ids[0] for name, ids in regions.items()}}
    (folder / "bundle/task.yaml").write_text(json.dumps(task), encoding="utf-8")
    spec = {"task_type": "seg", "eval_regions": regions, "metrics": ["dice", "hd95"]}
    (folder / "bundle/eval_spec.yaml").write_text(json.dumps(spec), encoding="utf-8")


def until(condition: Callable[[], bool], seconds: float = 60.0) -> float:
    """Process events until something holds; return the seconds it took.

    Between them it sleeps for a millisecond, as Qt's own loop sleeps: one that spins takes the interpreter from the
    threads it waits for.
    """
    from qtpy.QtWidgets import QApplication

    started = time.perf_counter()
    while not condition():
        QApplication.processEvents()
        time.sleep(0.001)
        if time.perf_counter() - started > seconds:
            raise TimeoutError("it did not come")
    return time.perf_counter() - started


def rest(seconds: float) -> None:
    """Let the window do what it does by itself."""
    end = time.perf_counter() + seconds
    until(lambda: time.perf_counter() > end)


def is_scored(window: Any) -> bool:
    """Whether the open case has all its numbers."""
    score = window.session.score
    return (
        score is not None
        and score.case_id == window.session.current_id
        and all("hd95" in region.metrics for region in score.regions.values())
    )


def is_drawn(window: Any, case_id: str) -> bool:
    """Whether a case is open with all its numbers."""
    return window.session.case is not None and window.session.case.case_id == case_id and is_scored(window)


def switch(window: Any, by: int, case_id: str) -> float:
    """Return the seconds from a key to another case with all its numbers, drawn."""
    until(lambda: window.session.is_idle)  # read ahead
    rest(0.2)
    started = time.perf_counter()
    window.session.step(by)
    until(lambda: is_drawn(window, case_id))
    window.viewer.window._qt_viewer.canvas.native.repaint()
    return time.perf_counter() - started


def switch_rows(window: Any, n_cases: int) -> list[Row]:
    """Time the next case, read ahead, until layers and all scores are on the screen."""
    took = [switch(window, 1, f"D/{n}") for n in range(1, n_cases)]
    median = statistics.median(took)
    text = f"{median * 1e3:.0f} ms ({min(took) * 1e3:.0f} to {max(took) * 1e3:.0f})"
    return [("next case, read ahead: both contours and all scores", text, verdict(median, 0.4, "400 ms"))]


def stroke_rows(window: Any) -> tuple[list[Row], bool]:
    """Time a stroke to dice and to the hd95 of its label; tell whether both are those of scoring anew."""
    from medotter_viewer.scoring.registry import score_case
    from medotter_viewer.scoring.segmentation import score_segmentation

    session, layer = window.session, window.display.layer("pred")
    index, rows = window.viewer.dims.current_step[0], np.arange(STROKE) // 100
    place = (np.full(STROKE, index), rows + 20, np.arange(STROKE) % 100 + 20)
    arrived: list[tuple[float, bool]] = []
    session.events.scores_changed.connect(
        lambda score: arrived.append((time.perf_counter(), "hd95" in next(iter(score.regions.values())).metrics))
    )
    layer.mode = "paint"  # as a person takes it up
    told: list[float] = []
    note = session.note_stroke

    def noted(voxels: Any) -> None:
        told.append(time.perf_counter())
        note(voxels)

    session.note_stroke = noted
    started = time.perf_counter()
    layer.data_setitem(place, 1)
    dice = (arrived[0][0] if arrived else started + until(lambda: bool(arrived))) - started
    painted = time.perf_counter() - started
    ours = arrived[0][0] - told[0]  # the rest is napari's: what it keeps for undo, and its events
    until(lambda: arrived[-1][1] and session.is_idle)
    waited = arrived[-1][0] - started
    case = session.working.frozen()
    score_case(case, session.spec, session.options)
    started = time.perf_counter()
    anew = score_segmentation(case, session.spec, session.options)
    whole = time.perf_counter() - started
    same = all(
        session.score.regions[name].metrics[m] == value
        for name, region in anew.regions.items()
        for m, value in region.metrics.items()
    )
    found: list[Row] = [
        ("a stroke of 10,000 voxels: until dice is known", f"{dice * 1e3:.0f} ms", ""),
        ("of it: from its voxels to dice, in every panel", f"{ours * 1e3:.1f} ms", verdict(ours, 0.01, "10 ms")),
        ("the same: until napari has drawn it", f"{painted * 1e3:.0f} ms", ""),
        ("the same: until all numbers are there, a pause of 150 ms included", f"{waited * 1e3:.0f} ms", ""),
        ("all numbers of that case anew", f"{whole * 1e3:.0f} ms", verdict(whole, 0.1, "100 ms")),
    ]
    return found, same


def pane_rows(window: Any) -> list[Row]:
    """Time both side planes while slices are scrolled."""
    window.tools.toggle_planes()
    rest(1.0)
    planes, crosshair = window.tools.planes, window.tools.crosshair
    start, steps = crosshair.point_mm, []
    for step in range(20):
        rest(0.1)
        times = [time.perf_counter()]
        crosshair.move_to((start[0], start[1] + 3 * step, start[2] + 3 * step))  # it paints when it has come to rest
        times.append(time.perf_counter())
        planes.paint()  # finds what each shows; its picture is made when it is drawn
        planes.panes.first.grab()
        planes.panes.second.grab()
        times.append(time.perf_counter())
        planes.panes.first.repaint()  # both, and the window around them
        times.append(time.perf_counter())
        steps.append(np.diff(times))
    window.tools.toggle_planes()
    moved, painted, shown = np.median(steps, axis=0)
    return [
        ("the crosshair moved: napari's own slices", f"{moved * 1e3:.0f} ms", ""),
        ("both side planes painted", f"{painted * 1e3:.0f} ms", verdict(painted, 0.02, "20 ms")),
        ("the window put together anew by Qt, canvas and all", f"{shown * 1e3:.0f} ms", ""),
    ]


def memory_rows(window: Any, n_cases: int) -> list[Row]:
    """Tell the memory of the process after a few and after many changes of the case."""
    import psutil

    def resident() -> float:
        gc.collect()
        trim()
        return psutil.Process().memory_info().rss / 2**20

    sizes, at, by = [], n_cases - 1, -1
    for n in range(N_SWITCHES):
        by = -by if not 0 <= at + by < n_cases else by
        at += by
        switch_fast(window, by, f"D/{at}")
        if n + 1 in (10, N_SWITCHES):  # each time in the middle of the list, with the next case read
            assert 0 < at < n_cases - 1, "measured where no case is read ahead"
            until(lambda: window.session.is_idle)
            sizes.append(resident())
    return [(f"memory after 10 and after {N_SWITCHES} cases", f"{sizes[0]:.0f} MB, {sizes[1]:.0f} MB", "flat")]


def switch_fast(window: Any, by: int, case_id: str) -> None:
    """Go to another case without a pause."""
    window.session.step(by)
    until(lambda: is_drawn(window, case_id))


def trim() -> None:
    """Give memory that was freed back to the system, where the C library can."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def list_rows(folder: Path) -> list[Row]:
    """Time a list of many cases from what is remembered, until it is sorted worst first."""
    from qtpy.QtWidgets import QApplication

    from medotter_viewer import open_source
    from medotter_viewer.ui.window import open_window

    write_bundle(folder, (32, 32, 16), N_LISTED)
    took = []
    for _ in range(2):  # the first time they are scored
        window = open_window(open_source(folder / "bundle", predictions=folder / "model"))
        until(lambda window=window: window.session.opened is not None)
        rest(2.0)  # what the window loaded is set aside: a person takes longer to reach the button
        started = time.perf_counter()
        window.session.sort_worst_first("dice")
        window.session.score_all()
        until(lambda window=window: len(window.session.scores()) == N_LISTED and window.session.is_idle, 600)
        QApplication.processEvents()
        took.append(time.perf_counter() - started)
        window.close()
        window.viewer.close()
    return [
        (f"{N_LISTED:,} cases scored for the first time", f"{took[0]:.1f} s", ""),
        (f"{N_LISTED:,} remembered cases in a list, worst first", f"{took[1]:.2f} s", verdict(took[1], 1.0, "1 s")),
    ]


def verdict(value: float, most: float, words: str) -> str:
    """Return a target in words, and whether it is reached."""
    return f"under {words}: {'reached' if value < most else 'missed'}"


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-results", action="store_true", help="print only")
    options = parser.parse_args()
    os.environ["NAPARI_CONFIG"] = ""
    from medotter_viewer import open_source
    from medotter_viewer.engine import choice
    from medotter_viewer.ui.collecting import this_process_is_ours
    from medotter_viewer.ui.window import open_window

    this_process_is_ours()  # as under `medotter-viewer open`
    n_cases = 4
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["MEDOTTER_VIEWER_CACHE"] = str(folder / "cache.sqlite")
        write_bundle(folder / "large", SHAPE, n_cases)
        window = open_window(open_source(folder / "large" / "bundle", predictions=folder / "large" / "model"))
        until(lambda: is_drawn(window, "D/0"), 120)
        until(lambda: choice.status().startswith("compiled"), 240)
        rows = switch_rows(window, n_cases)
        rows += pane_rows(window)
        rows += memory_rows(window, n_cases)
        strokes, same = stroke_rows(window)
        rows += strokes
        window.close()
        window.viewer.close()
        gc.collect()
        rows += list_rows(folder / "many")
    lines = [f"{machine()}; {SHAPE[0]} x {SHAPE[1]} x {SHAPE[2]} voxels, {N_LABELS} labels.", ""]
    lines += ["| what | measured | target |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    lines += ["", f"Numbers after the stroke against scoring anew: {'equal' if same else 'DIFFER'}."]
    print("\n".join(lines))
    if not options.no_results:
        write_block("viewer", "The window", lines)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
