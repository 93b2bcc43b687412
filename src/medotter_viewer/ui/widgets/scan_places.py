"""Seeds and structures of a scan: which side covers a seed, what a structure is, and where each is looked at. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.scans import Seed
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import as_ring
from medotter_viewer.geometry.polygons.inside import covers


@dataclass(frozen=True, slots=True)
class SeedPlace:
    """A known point inside a tumour, and which side covers it.

    Parameters
    ----------
    seed : (int, float, float)
        Slice number and x, y in mm LPS.
    in_gt, in_pred : bool or None
        Whether a ring of its slice encloses it; None without that side.
    on_slice : bool
        Whether the scan has its slice.
    """

    seed: Seed
    in_gt: bool | None
    in_pred: bool | None
    on_slice: bool = True


@dataclass(frozen=True, slots=True)
class StructureFacts:
    """One structure of a scan.

    Parameters
    ----------
    number : int or None
        In the scan's files.
    name : str
        As in the files, with its number where another has the same.
    kind, reliability : str or None
        Type of the dictionary, and how its contours were made.
    n_contours : int
        On all slices.
    is_target : bool
        Whether it is scored.
    middle : (int, float, float) or None
        The slice in the middle of those it is drawn on, and x, y in mm LPS of the middle of its contours there.
    """

    number: int | None
    name: str
    kind: str | None
    reliability: str | None
    n_contours: int
    is_target: bool
    middle: Seed | None


def seed_place(
    seed: Seed, gt: ScanContours | None, pred: ScanContours | None, numbers: Collection[int] | None
) -> SeedPlace:
    """Return which side covers a seed; `numbers` are the slices that the scan has, None where that is not known."""
    number, x, y = seed
    gt_here, pred_here = (
        None if side is None else covers(_readable(side.rings.get(number, ())), x, y) for side in (gt, pred)
    )
    return SeedPlace(seed, gt_here, pred_here, numbers is None or number in numbers)


def _readable(rings: Sequence[Any]) -> list[Any]:
    """Rings whose points are numbers: the others are listed as odd."""
    found = []
    for ring in rings:
        try:
            found.append(as_ring(ring))
        except MetricInputError:
            continue
    return found


def _seen_at(contours: ScanContours) -> Seed | None:
    """Where a structure is looked at."""
    drawn = sorted(number for number, rings in contours.rings.items() if middle_of_rings(rings) is not None)
    if not drawn:
        return None
    number = drawn[len(drawn) // 2]
    x, y = middle_of_rings(contours.rings[number]) or (0.0, 0.0)
    return number, x, y


def middle_of_rings(rings: Sequence[Any]) -> tuple[float, float] | None:
    """Return x, y of the middle of the box around rings; None without a point."""
    points = [ring for ring in _readable(rings) if len(ring)]
    if not points:
        return None
    x, y = (np.min([p.min(axis=0) for p in points], axis=0) + np.max([p.max(axis=0) for p in points], axis=0)) / 2
    return float(x), float(y)


def structure_facts(case: Case) -> tuple[StructureFacts, ...]:
    """Return what each structure of a scan is, in the order of its files."""
    inputs = case.entry.scan
    scored = set() if case.gt_contours is None else {id(r) for rings in case.gt_contours.rings.values() for r in rings}
    found = []
    for name, contours in case.structures.items():
        number = case.structure_numbers.get(name)
        written = name.removesuffix(f" ({number})")
        wanted = inputs is not None and written in inputs.names.names_of(inputs.rules.target)
        found.append(
            StructureFacts(
                number,
                name,
                None if inputs is None else inputs.names.type_of(written),
                None if inputs is None else inputs.names.reliability_of(written),
                contours.n_rings,
                wanted or any(id(r) in scored for rings in contours.rings.values() for r in rings),
                _seen_at(contours),
            )
        )
    return tuple(found)
