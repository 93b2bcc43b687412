"""Cost against voxels, labels, instances and distances, by both engines: numbers into RESULTS.md, a plot beside it.

Equality of the engines first (exit status 1 otherwise), then CPU seconds of the call that viewer and command line use.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from instance_sides import our_steps as instance_steps
from measuring import Step, run, timed
from results import machine, seconds, write_block
from score_sides import our_steps as score_steps
from work import Work, cube, w5

from medotter_viewer.engine import choice

PLOT = Path(__file__).with_name("cost_against_size.png")
SIDES = (128, 192, 256, 384, 512, 768)
LABELS = (1, 3, 10, 30, 100)
OBJECTS = (10, 100, 1_000, 10_000, 100_000)
MOVES = (1, 2, 4, 8, 16, 32)
Engine = Literal["compiled", "plain"]
ENGINES: tuple[Engine, Engine] = ("compiled", "plain")


@dataclass(frozen=True)
class Series:
    """One panel of the plot.

    Parameters
    ----------
    title : str
        What grows.
    axis : str
        Label of the axis.
    works : callable
        Yields size and arrays.
    steps : callable
        What is timed.
    """

    title: str
    axis: str
    works: Callable[[], Iterator[tuple[int, Work]]]
    steps: Callable[[Work], list[Step]]


def cubes() -> Iterator[tuple[int, Work]]:
    """Fifteen labels in cubes: one of 64**3 with every voxel repeated, the prediction moved by 2, 1 and 1 voxels."""
    for side in SIDES:
        yield side**3, _moved(side, (2, 1, 1))


def distances() -> Iterator[tuple[int, Work]]:
    """The prediction moved farther and farther, in a cube of 256**3 voxels."""
    for move in MOVES:
        yield move, _moved(256, (move, 0, 0))


def _moved(side: int, move: tuple[int, int, int]) -> Work:
    """First axis closest in memory, as the readers give it."""
    base = cube(64, 15)
    gt: Any = base.gt
    for axis in range(3):
        gt = np.repeat(gt.T, side // 64, axis=axis).T
    pred = np.roll(gt.T, move[::-1], axis=(0, 1, 2)).T
    return Work(f"{side}", gt, pred, base.spacing, base.regions)


def labels() -> Iterator[tuple[int, Work]]:
    """More and smaller labels in one cube of 256**3 voxels."""
    for n in LABELS:
        yield n, cube(256, n)


def objects() -> Iterator[tuple[int, Work]]:
    """More and smaller objects in one image of 2048 x 2048 pixels."""
    for n in OBJECTS:
        yield n, w5((2048, 2048), n)


SERIES = (
    Series("15 labels: dice, iou, counts, hd95", "voxels", cubes, score_steps),
    Series("256 x 256 x 256 voxels: dice, iou, counts, hd95", "labels", labels, score_steps),
    Series("2048 x 2048 pixels: F1, PQ, SQ, AJI, AJI+", "objects in ground truth", objects, instance_steps),
    Series("15 labels in 256 x 256 x 256 voxels", "voxels by which the prediction is off", distances, score_steps),
)
Points = list[tuple[int, float]]


def main() -> int:
    """Measure, write the block and the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    try:
        choice.load()
        engines = ENGINES
    except ImportError as error:
        print(error, file=sys.stderr)
        engines = ENGINES[1:]
    lines = [f"{machine()}. CPU seconds, warm; a plot of the same: [cost_against_size.png](cost_against_size.png).", ""]
    measured: list[dict[Engine, Points]] = []
    all_equal = True
    for series in SERIES:
        points, is_equal = measure(series, engines)
        measured.append(points)
        all_equal &= is_equal
        lines += block(series, points)
    plot(measured)
    write_block("size", "Cost against size", lines[:-1])
    return 0 if all_equal else 1


def measure(series: Series, engines: tuple[Engine, ...]) -> tuple[dict[Engine, Points], bool]:
    """Return size and CPU seconds by engine, and whether the engines agree everywhere."""
    points: dict[Engine, Points] = {engine: [] for engine in engines}
    is_equal = True
    for size, work in series.works():
        results = []
        for engine in engines:
            with choice.using(engine):
                steps = partial(series.steps, work)
                first, cpu_s, wall_s = run(steps)
                timing = timed(steps, first=(cpu_s, wall_s), at_least=3, at_most=21)
            results.append(first[0])
            points[engine].append((size, timing.cpu_s))
        if any(result != results[0] for result in results):
            is_equal = False
            print(f"{series.axis} {size}: DIFFERS between the engines", file=sys.stderr)
        said = ", ".join(f"{engine} {seconds(points[engine][-1][1])}" for engine in engines)
        print(f"{size:>12,} {series.axis}: {said}", flush=True)
    return points, is_equal


def block(series: Series, points: dict[Engine, Points]) -> list[str]:
    """Return the lines of one series."""
    head = [f"### {series.title}", "", f"| {series.axis} | {' | '.join(points)} |", "|" + "---|" * (1 + len(points))]
    columns = list(points.values())
    rows = [
        f"| {size:,} | {' | '.join(seconds(column[place][1]) for column in columns)} |"
        for place, (size, _) in enumerate(columns[0])
    ]
    return [*head, *rows, ""]


def plot(measured: list[dict[Engine, Points]], path: Path = PLOT) -> None:
    """Draw all series beside each other, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"compiled": "#0a6e9e", "plain": "#c4622d"}
    figure, grid = plt.subplots(2, 2, figsize=(11, 8.4), sharey=True, constrained_layout=True)
    panels = grid.ravel()
    for panel, series, points in zip(panels, SERIES, measured, strict=True):
        for engine, found in points.items():
            sizes, times = zip(*found, strict=True)
            panel.plot(sizes, times, "o-", color=colours[engine], linewidth=2, label=f"{engine} engine")
            panel.annotate(
                f"{engine}: {seconds(times[-1])}",
                (sizes[-1], times[-1]),
                xytext=(-6, 7),
                textcoords="offset points",
                ha="right",
                color=colours[engine],
            )
        panel.set(xscale="log", yscale="log", xlabel=series.axis, title=series.title)
        panel.grid(visible=True, which="major", alpha=0.35)
        panel.grid(visible=True, which="minor", alpha=0.12)
        panel.margins(y=0.14)
    for panel in grid[:, 0]:
        panel.set_ylabel("CPU seconds")
    panels[0].legend(loc="upper left")
    sides = [f"{side}³" for side in SIDES]
    panels[0].set_xticks([side**3 for side in SIDES], sides)
    panels[0].minorticks_off()
    panels[3].set_xticks(MOVES, [str(move) for move in MOVES])
    panels[3].minorticks_off()
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
