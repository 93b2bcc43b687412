"""Both engines on the same cases, and the compiled one against MedPy and MONAI: equality only, no times.

Exit status 1 on any difference above the allowed one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from cases import mask_cases
from engine_pairs import compare_random, compare_work
from numpy.typing import NDArray
from results import machine, released, write_block
from score_sides import masks
from work import TINY, WORKS

from medotter_viewer.engine import choice
from medotter_viewer.metrics.hausdorff import hausdorff
from medotter_viewer.metrics.surface_distances import surface_distances

Pair = tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[float, ...]]


def main() -> int:
    """Compare and write the block."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1200, help="random label maps (default 1200)")
    parser.add_argument("--peer-cases", type=int, default=400, help="random masks for MedPy and MONAI (default 400)")
    parser.add_argument("--tiny", action="store_true", help="small work items; nothing is written")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the peers, about their own dependencies
    lines = [
        f"{machine()}. Both engines by the public functions; means may differ by 1e-12, nothing else at all.",
        "",
        "| cases | numbers | equal bit for bit | largest difference of the others |",
        "|---|---|---|---|",
    ]
    wrong: list[str] = []
    for name, found in compare_random(options.cases).items():
        lines.append(found.line(f"{found.cases:,} random {name}"))
        wrong += found.wrong
    makers = TINY if options.tiny else WORKS
    for name, make in makers.items():
        found = compare_work(make())
        lines.append(found.line(name))
        wrong += found.wrong
    lines.append("")
    peer_lines, peer_wrong = against_peers(options.peer_cases, makers)
    lines += peer_lines
    wrong += peer_wrong
    print("\n".join(lines))
    for text in wrong[:20]:
        print(f"DIFFERS: {text}", file=sys.stderr)
    lines += [f"DIFFERS: {text}" for text in wrong[:5]]
    if not options.tiny:
        write_block("engines", "The compiled engine against the plain one", lines)
    return 1 if wrong else 0


def against_peers(n: int, makers: Any) -> tuple[list[str], list[str]]:
    """Compare the compiled engine with MedPy and MONAI on random masks and on every region of W1 to W4."""
    lines = ["The compiled engine against MedPy and MONAI:", ""]
    wrong: list[str] = []
    regions = [("random masks", n, mask_cases(n, 31))]
    for name in ("W1", "W2", "W3", "W4"):
        work = makers[name]()
        regions.append((f"regions of {name}, cut to their boxes", len(work.regions), cut_masks(work)))
    lines += ["| cases | hd95 pooled, MedPy | hd, MONAI in float32 | hd95 directed_max, MONAI |", "|---|---|---|---|"]
    with choice.using("compiled"):
        for title, count, pairs in regions:
            medpy, monai_hd, monai_hd95 = distances_of(pairs, title, wrong)
            lines.append(f"| {count} {title} | {medpy} | {monai_hd} | {monai_hd95} |")
    versions = f"MedPy {released(('MedPy',))}, MONAI {released(('monai',))}"
    lines += ["", f"{versions}. MONAI takes the percentile in float32, its rank too; what is told is relative."]
    return lines, wrong


def cut_masks(work: Any) -> Iterator[Pair]:
    """Yield each region's masks cut to the box of both, one voxel wider: the peers' distances do not depend on more."""
    for _, gt, pred in masks(work, None):
        box = []
        for axis in range(3):
            others = tuple(a for a in range(3) if a != axis)
            there = np.flatnonzero((gt.any(axis=others)) | (pred.any(axis=others)))
            box.append(slice(max(0, int(there[0]) - 1), int(there[-1]) + 2))
        yield np.ascontiguousarray(gt[tuple(box)]), np.ascontiguousarray(pred[tuple(box)]), work.spacing


def distances_of(pairs: Iterator[Pair], title: str, wrong: list[str]) -> tuple[str, str, str]:
    """Return what was found against each peer; differences above the allowed ones go into `wrong`."""
    try:
        from medpy.metric import binary
    except ImportError:
        binary = None
    try:
        import torch
        from monai import metrics
    except ImportError:
        torch = metrics = None
    unequal, compared, float32, furthest = 0, 0, 0, 0.0
    for number, (gt, pred, spacing) in enumerate(pairs):
        found = surface_distances(gt, pred, spacing=spacing)
        compared += 1
        if binary is not None:
            theirs = float(binary.hd95(pred, gt, voxelspacing=spacing))
            ours = hausdorff(found, variant="pooled")
            if ours != theirs:
                unequal += 1
                wrong.append(f"{title} {number}: hd95 pooled {ours!r}, MedPy {theirs!r}")
        if metrics is not None:
            y, y_pred = (torch.from_numpy(mask[None, None].view(np.uint8)) for mask in (gt, pred))
            options = {"include_background": True, "spacing": list(spacing)}
            farthest = metrics.compute_hausdorff_distance(y_pred, y, **options).item()
            if np.float32(hausdorff(found, percentile=100)) != np.float32(farthest):
                float32 += 1
                wrong.append(f"{title} {number}: hd {hausdorff(found, percentile=100)!r}, MONAI {farthest!r}")
            theirs = metrics.compute_hausdorff_distance(y_pred, y, percentile=95, **options).item()
            ours = hausdorff(found)
            off = abs(ours - theirs) / max(1.0, ours)
            furthest = max(furthest, off)
            if not off <= 1e-4:
                wrong.append(f"{title} {number}: hd95 directed_max {ours!r}, MONAI {theirs!r}")
    medpy_text = "not installed" if binary is None else said(unequal, compared, "equal bit for bit")
    hd_text = "not installed" if metrics is None else said(float32, compared, "equal")
    return medpy_text, hd_text, "not installed" if metrics is None else f"{furthest:.0e}"


def said(unequal: int, compared: int, word: str) -> str:
    return f"{compared} {word}" if not unequal else f"{unequal} of {compared} DIFFER"


if __name__ == "__main__":
    sys.exit(main())
