"""Of what surfaces are drawn, and what is said of them. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.geometry.orientation import DisplayOrder, display_order
from medotter_viewer.metrics.meshes import SurfacePair, surface_pair, together
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.scoring.slices import scored_ids

MOST_LABELS = 40
"""That are measured one by one; more are drawn as one mask, or it would take a minute."""
_FAR = 1e6  # mm, in place of an infinite distance: beyond the end of every scale


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceTarget:
    """What surfaces are drawn of.

    Parameters
    ----------
    name : str
        Region or objects, in words.
    order : DisplayOrder
        How arrays are shown.
    unit : str
        Of lengths: ``mm`` or ``px``.
    measure : callable
        Finds the surfaces in displayed order; takes a while.
    each_label : bool
        Whether distances are of each label by itself, as scores are, and not of all as one mask.
    """

    name: str
    order: DisplayOrder
    unit: str
    measure: Callable[[], SurfacePair]
    each_label: bool = False


def surface_target(
    case: Case,
    spec: EvalSpec,
    *,
    region: str | None = None,
    objects: tuple[int | None, int | None] | None = None,
    score: CaseScore | None = None,
) -> SurfaceTarget | str:
    """Return what surfaces are drawn of, or why there are none.

    Parameters
    ----------
    case : Case
        With label maps that nobody paints on meanwhile.
    spec : EvalSpec
        Its regions.
    region : str, optional
        The one that is looked at; None is the headline's, and of a mean all that is scored together.
    objects : (int or None, int or None), optional
        Of an instance task the ids of ground truth and prediction that are looked at.
    score : CaseScore, optional
        Gives the hd95 at which the scale ends; without it that is measured.
    """
    labels = case.gt or case.pred
    if labels is None:
        return "surfaces are drawn of label maps: this case has none"
    order, grid = display_order(labels.grid), labels.grid
    if 1 in grid.shape:
        return "a single slice has no surface"
    sides = case.gt, case.pred
    hd95, each_label = None, False
    ids: tuple[tuple[int, ...], ...]
    if spec.is_instances:
        if objects is None or objects == (None, None):
            return "choose an object first: a row under Instances, or J"
        name = " and ".join(f"{w} {i}" for w, i in zip(("gt", "pred"), objects, strict=True) if i is not None)
        ids = tuple(() if i is None else (i,) for i in objects)
    else:
        chosen = region or spec.headline.region
        is_one = chosen != MACRO and chosen in spec.regions
        one = tuple(scored_ids(case, spec, chosen if is_one else None))
        each_label = not is_one and len(one) <= MOST_LABELS
        name = chosen if is_one else "all labels" if each_label else "all regions as one mask"
        ids = one, one
        hd95 = _hd95(score, chosen) if is_one else None

    def pair_of(wanted: tuple[tuple[int, ...], ...]) -> SurfacePair:
        masks: list[NDArray[np.bool_]] = [
            np.zeros(grid.shape, dtype=np.bool_) if side is None else id_mask(side.data, of_side)
            for side, of_side in zip(sides, wanted, strict=True)
        ]
        gt, pred = (order.apply(mask) for mask in masks)
        return surface_pair(gt, pred, spacing=order.scale, hd95_mm=hd95)

    def measure() -> SurfacePair:
        return together(pair_of(((i,), (i,))) for i in ids[0]) if each_label else pair_of(ids)

    return SurfaceTarget(name, order, grid.unit, measure, each_label)


def surface_lines(target: SurfaceTarget, pair: SurfacePair) -> list[str]:
    """Return what is said in the corner of surfaces that are drawn."""
    lines = [f"surfaces of {target.name}"]
    if pair.gt is None or pair.pred is None:
        missing = "ground truth" if pair.gt is None else "prediction"
        lines.append(f"no {missing}: no distances")
    elif pair.distances_mm is not None and np.isinf(pair.distances_mm).any():
        lines.append("darkest also: labels that ground truth lacks")
    if pair.halvings:
        times = {1: "halved", 2: "halved twice"}.get(pair.halvings, f"halved {pair.halvings} times")
        steps = " x ".join(f"{s * 2**pair.halvings:.3g}" for s in target.order.scale)
        lines.append(f"large: {times}, voxels of {steps} {target.unit}")
    return lines


def scale_ends(pair: SurfacePair, target: SurfaceTarget) -> tuple[float, float]:
    """Return between which distances colours change: 0 to the hd95, but a voxel at least."""
    return 0.0, max(pair.top_mm, float(min(target.order.scale)))


def scale_words(pair: SurfacePair, target: SurfaceTarget, n: int) -> list[str]:
    """Return what `n` colours from 0 to the end of the scale stand for, the last with what the end is."""
    _, top = scale_ends(pair, target)
    known = np.zeros(0) if pair.distances_mm is None else pair.distances_mm[np.isfinite(pair.distances_mm)]
    farthest = float(np.max(known, initial=0.0))
    words = [f"{top * i / (n - 1):.2g} {target.unit}" for i in range(n - 1)]
    hd95 = "hd95 of the worst label" if target.each_label else "hd95"
    end = hd95 if pair.top_mm >= top else "a voxel"
    return [*words, f"{top:.3g} {target.unit} ({end}) and more, up to {farthest:.3g}"]


def mesh_data(pair: SurfacePair, side: str) -> tuple[Any, Any, Any] | None:
    """Return vertices (displayed index), faces and values of a side's surface for a layer; None without one."""
    mesh = pair.gt if side == "gt" else pair.pred
    if mesh is None:
        return None
    distances = pair.distances_mm if side == "pred" else None
    values = np.zeros(len(mesh.vertices)) if distances is None else np.nan_to_num(distances, posinf=_FAR)
    return mesh.vertices.astype(np.float32), mesh.faces, np.asarray(values, dtype=np.float32)


def _hd95(score: CaseScore | None, region: str) -> float | None:
    """The hd95 of a region, where it was computed."""
    if score is None or region not in score.regions:
        return None
    value = score.regions[region].metrics.get("hd95")
    return value.value if value is not None and value.status == "ok" else None
