"""Surfaces that are nowhere near each other: where no search can stop early, ours against a search tree.

About 100,000 surface voxels on each side, in several arrangements. The distances must be those of the plain engine
bit for bit, and the tree's to 1e-12; then both directions are timed, ours and scipy's cKDTree (built and asked). Exit
status 1 when a distance differs.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from measuring import run, timed
from numpy.typing import NDArray
from results import machine, released, seconds, write_block
from work import Point, far_masks

from medotter_viewer.engine import choice
from medotter_viewer.metrics.surface import surface_index
from medotter_viewer.metrics.surface_distances import surface_distances

MOST = 1.5
Index = NDArray[np.intp]


def tree_distances(gt: Index, pred: Index, spacing: Point) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Build and ask a tree for each direction, with the quicker of scipy's two ways to build one."""
    from scipy.spatial import cKDTree

    corner = np.minimum(gt.min(axis=0), pred.min(axis=0))
    gt_mm, pred_mm = (gt - corner) * spacing, (pred - corner) * spacing
    options = {"balanced_tree": False, "compact_nodes": False}
    to_pred = cKDTree(pred_mm, **options).query(gt_mm, workers=-1)[0]
    return to_pred, cKDTree(gt_mm, **options).query(pred_mm, workers=-1)[0]


def main() -> int:
    """Run all arrangements and write the block."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    lines = [
        f"{machine()}; scipy {released(('scipy',))}. CPU seconds of both directions. Ours starts from the masks and "
        "finds the surfaces too; the tree is given them.",
        "",
        f"| arrangement | surface voxels | ours | cKDTree | ours / cKDTree | at most {MOST:g} | distances |",
        "|---|---|---|---|---|---|---|",
    ]
    all_equal = True
    for name, (gt, pred, spacing) in far_masks().items():
        line, is_equal = measured(name, gt, pred, spacing)
        all_equal &= is_equal
        lines.append(line)
        print(line, flush=True)
    write_block("far", "Surfaces far apart", lines)
    return 0 if all_equal else 1


def measured(name: str, gt: Any, pred: Any, spacing: Point) -> tuple[str, bool]:
    """Return the line of one arrangement, and whether all distances are equal."""
    found = surface_distances(gt, pred, spacing=spacing)
    surfaces = surface_index(gt), surface_index(pred)
    with choice.using("plain"):
        plain = surface_distances(gt, pred, spacing=spacing)
    is_equal = all(
        np.array_equal(np.sort(a), np.sort(b))
        for a, b in ((found.gt_to_pred, plain.gt_to_pred), (found.pred_to_gt, plain.pred_to_gt))
    )
    near = [np.sort(distances) for distances in tree_distances(*surfaces, spacing)]
    is_equal &= np.allclose(near[0], np.sort(found.gt_to_pred), rtol=1e-12, atol=1e-12)
    is_equal &= np.allclose(near[1], np.sort(found.pred_to_gt), rtol=1e-12, atol=1e-12)
    ours, tree = (
        timed(steps, first=run(steps)[1:], at_least=3, at_most=9)
        for steps in (
            lambda: [lambda: surface_distances(gt, pred, spacing=spacing)],
            lambda: [lambda: tree_distances(*surfaces, spacing)],
        )
    )
    ratio = ours.cpu_s / tree.cpu_s
    sizes = " and ".join(f"{len(surface):,}" for surface in surfaces)
    verdict, equal = "reached" if ratio <= MOST else "missed", "equal" if is_equal else "DIFFER"
    times = f"{seconds(ours.cpu_s)} | {seconds(tree.cpu_s)} | {ratio:.2f} | {verdict}"
    return f"| {name} | {sizes} | {times} | {equal} |", is_equal


if __name__ == "__main__":
    try:
        choice.load()
    except ImportError as error:
        print(error, file=sys.stderr)
    sys.exit(main())
