"""The same numbers by the plain and by the compiled engine, on random label maps and on the work items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from cases import instance_cases, mask_cases
from numpy.typing import NDArray
from work import Work

from medotter_viewer.engine import choice
from medotter_viewer.geometry.polygons import fill, trace
from medotter_viewer.metrics.hausdorff import assd, hausdorff, nsd
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.region_surfaces import RegionSurfaces
from medotter_viewer.scoring.arrays import label_scores
from medotter_viewer.scoring.instances import instance_scores

Engine = Literal["plain", "compiled"]
Case = tuple[NDArray[Any], NDArray[Any], tuple[float, ...], Mapping[str, tuple[int, ...]]]
"""gt, pred, spacing and regions."""

KINDS: tuple[type, ...] = (np.uint8, np.uint16, np.int32)
IDS = {np.uint8: 255, np.uint16: 60_000, np.int32: 3_000_000}  # highest id of a map of that type
MEANS = 1e-12  # what means may differ by: they are sums in another order


@dataclass
class Comparison:
    """What was compared so far, and the largest difference of each quantity."""

    cases: int = 0
    largest: dict[str, float] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def add(self, name: str, plain: Mapping[str, float], compiled: Mapping[str, float]) -> None:
        """Compare the numbers of one case; keys are quantity, then " of " and what it is measured on."""
        self.cases += 1
        if plain.keys() != compiled.keys():
            self.wrong.append(f"{name}: other numbers by one engine: {sorted(plain.keys() ^ compiled.keys())[:3]}")
        for key in (key for key in plain if key in compiled):
            quantity = key.partition(" of ")[0]
            found = abs(plain[key] - compiled[key])
            found = found if found == found else float("inf")
            self.largest[quantity] = max(self.largest.get(quantity, 0.0), found)
            self.counted[quantity] = self.counted.get(quantity, 0) + 1
            allowed = MEANS * max(1.0, abs(plain[key])) if quantity.startswith(("assd", "nsd")) else 0.0
            if not found <= allowed:
                self.wrong.append(f"{name}: {key}: {plain[key]!r} plain, {compiled[key]!r} compiled")

    def line(self, title: str) -> str:
        """Return the line of a table: how many numbers, which of them were equal, and how far the others were."""
        equal = [quantity for quantity, most in self.largest.items() if not most]
        others = [f"{quantity} {most:.0e}" for quantity, most in self.largest.items() if most]
        return f"| {title} | {sum(self.counted.values()):,} | {', '.join(equal)} | {', '.join(others) or 'none'} |"


def label_cases(n: int, seed: int = 77) -> Iterator[Case]:
    """Yield pairs of label maps: random regions, types, memory orders, spacings; on borders, far apart, one voxel."""
    rng = np.random.default_rng(seed)
    masks = mask_cases(n, seed)
    for number, (gt_mask, pred_mask, spacing) in enumerate(masks):
        kind = KINDS[number % 3]
        n_ids = int(rng.integers(1, 9))
        ids = np.sort(rng.choice(np.arange(1, min(IDS[kind], 10 ** int(rng.integers(1, 7)) + 9)), n_ids, replace=False))
        gt, pred = (_labelled(rng, mask, ids, kind) for mask in (gt_mask, pred_mask))
        orders = "FC"[number // 3 % 2], "FC"[number // 6 % 2]  # sometimes the two lie differently
        gt, pred = (np.asarray(part, order=order) for part, order in zip((gt, pred), orders, strict=True))
        if number % 11 == 0:  # a cut-out, whose rows do not follow each other in memory
            gt, pred = (np.pad(part, 2)[(slice(2, -2),) * part.ndim] for part in (gt, pred))
        regions = {str(i): (int(i),) for i in ids} | {"all": tuple(ids.tolist()), "some": tuple(ids[::2].tolist())}
        yield gt, pred, spacing, regions


def _labelled(rng: np.random.Generator, mask: NDArray[np.bool_], ids: NDArray[Any], kind: type) -> NDArray[Any]:
    """Share a mask among ids by bands along a random axis, with some voxels of any id."""
    axis = int(rng.integers(mask.ndim))
    band = np.arange(mask.shape[axis]) * len(ids) // mask.shape[axis]
    place = np.moveaxis(np.broadcast_to(band, np.moveaxis(mask, axis, -1).shape), -1, axis)
    labels = np.where(mask, ids[place], 0)
    noisy = mask & (rng.random(mask.shape) < 0.02)
    labels[noisy] = rng.choice(ids, int(noisy.sum()))
    return labels.astype(kind)


def region_numbers(case: Case) -> dict[str, float]:
    """Return counts and distances of all regions by the engine in force."""
    gt, pred, spacing, regions = case
    numbers: dict[str, float] = {}
    table = overlap_table(gt, pred)
    surfaces = RegionSurfaces(gt, pred, regions.values())
    variants = [label_scores(gt, pred, spacing=spacing, regions=regions, metrics="hd95", hd95="surfel")]
    for name, ids in regions.items():
        overlap = table.region(ids)
        for quantity in ("tp", "fp", "fn"):
            numbers[f"{quantity} of {name}"] = getattr(overlap, quantity)
        if not overlap.gt or not overlap.pred:
            continue
        numbers[f"hd95 surfel of {name}"] = variants[0][name]["hd95"].value or 0.0
        found = surfaces.distances(ids, spacing=spacing)
        for variant in ("directed_max", "pooled", "mean"):
            numbers[f"hd95 {variant} of {name}"] = hausdorff(found, variant=variant)
        numbers[f"hd of {name}"] = hausdorff(found, percentile=100)
        for variant in ("pooled", "mean"):
            numbers[f"assd {variant} of {name}"] = assd(found, variant=variant)
        numbers[f"nsd of {name}"] = nsd(found, 1.5 * min(spacing))
        numbers[f"surface voxels of {name}"] = found.gt_to_pred.size + found.pred_to_gt.size
        # Weighted by place, so that two distances that changed places would show.
        for side, distances in (("gt", found.gt_to_pred), ("pred", found.pred_to_gt)):
            weights = np.arange(1, distances.size + 1) % 8191
            numbers[f"each distance of {name} {side}"] = float(np.dot(np.sort(distances), weights))
    return numbers


def instance_numbers(gt: NDArray[Any], pred: NDArray[Any]) -> dict[str, float]:
    """Return the instance metrics by the engine in force."""
    return {name: float(value.value or 0.0) for name, value in instance_scores(gt, pred).items()}


def polygon_numbers(mask: NDArray[np.bool_]) -> dict[str, float]:
    """Return facts of the outlines of a mask by the engine in force, and how many pixels they fill."""
    pieces = trace(mask)
    rings = [ring for piece in pieces for ring in piece.rings]
    weights = [float(np.dot(np.arange(1, ring.size + 1) % 127, ring.ravel())) for ring in rings]
    return {
        "polygons": len(pieces),
        "corners": sum(map(len, rings)),
        "points along rings": sum(weights),
        "pixels filled": int(np.count_nonzero(fill(rings, (mask.shape[0], mask.shape[1])) & mask)),
        "pixels lost": int(np.count_nonzero(fill(rings, (mask.shape[0], mask.shape[1])) ^ mask)),
    }


def compare_random(n: int) -> dict[str, Comparison]:
    """Compare both engines on random cases: n of label maps, and half as many of instances and of masks."""
    found = {"label maps": Comparison(), "instance masks": Comparison(), "outlines": Comparison()}
    for number, case in enumerate(label_cases(n)):
        found["label maps"].add(f"label maps {number}", *by_both(region_numbers, case))
    for number, (gt, pred) in enumerate(instance_cases(n // 2)):
        kind = (np.uint16, np.int32, np.int64)[number % 3]
        pair = gt.astype(kind), np.asarray(pred.astype(kind), order="CF"[number % 2])
        found["instance masks"].add(f"instances {number}", *by_both(instance_numbers, *pair))
    for number, (gt_mask, _, _) in enumerate(mask_cases(n // 2, 5)):
        mask = gt_mask if gt_mask.ndim == 2 else gt_mask[gt_mask.shape[0] // 2]
        found["outlines"].add(f"outlines {number}", *by_both(polygon_numbers, mask))
    return found


def compare_work(work: Work) -> Comparison:
    """Compare both engines on one work item."""
    found = Comparison()
    if work.regions:
        found.add(work.name, *by_both(region_numbers, (work.gt, work.pred, work.spacing, work.regions)))
    else:
        found.add(work.name, *by_both(instance_numbers, work.gt, work.pred))
    return found


def by_both(numbers: Any, *inputs: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Return the numbers by the plain and by the compiled engine."""
    found = []
    engines: tuple[Engine, Engine] = ("plain", "compiled")
    for engine in engines:
        with choice.using(engine):
            found.append(numbers(*inputs))
    return found[0], found[1]
