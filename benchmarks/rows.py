"""The rows of the table: what is done, on which arrays, by whom, and how fast it is meant to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instance_sides import INSTANCES
from other_sides import FILL, NUMBERS, POLYGONS, REMAP, STROKES, Contours
from score_sides import DICE, SCORES
from side import Side
from work import TINY, WORKS, contours


@dataclass(frozen=True, slots=True)
class Target:
    """How fast ours is meant to be.

    Parameters
    ----------
    ratio : float
        Against the peer: at least so many times its speed. With `at_most_times` instead: so many times its time, or
        less.
    peer : str
        Name of a side; ``best`` is the fastest peer.
    seconds : float
        Where it is a time: at most this, of wall clock.
    """

    peer: str = ""
    ratio: float = 0.0
    at_most_times: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work.

    Parameters
    ----------
    key : str
        Short name.
    title : str
        What is done.
    inputs : str
        Which arrays: W1 to W6, or ``contours``.
    sides : tuple of Side
        Ours first.
    targets : tuple of Target
        All must be reached.
    exact : tuple of (str, float)
        A quantity of ours and the value that it must have.
    """

    key: str
    title: str
    inputs: str
    sides: tuple[Side, ...]
    targets: tuple[Target, ...]
    exact: tuple[tuple[str, float], ...] = ()


SCORED = "dice, iou, tp, fp, fn, hd95 of all regions"
ROWS: tuple[Row, ...] = (
    Row(
        "scores-w2",
        f"{SCORED}, W2",
        "W2",
        SCORES,
        (Target("surface-distance", 100), Target("panoptica", 100), Target("MONAI", 500)),
    ),
    Row("scores-w1", f"{SCORED}, W1", "W1", SCORES, (Target("best", 80),)),
    Row("scores-w3", f"{SCORED}, W3", "W3", SCORES, (Target("best", 50),)),
    Row("scores-w4", f"{SCORED}, W4", "W4", SCORES, (Target("best", 25),)),
    Row("dice-w2", "dice of all labels, W2", "W2", DICE, (Target("floor: gt.max(), pred.max()", at_most_times=2),)),
    Row("instances-w5", "F1, PQ, SQ, AJI, W5", "W5", INSTANCES, (Target("StarDist matching", 12),)),
    Row("instances-w6", "F1, PQ, SQ, AJI, W6", "W6", INSTANCES, (Target("StarDist matching", 12),)),
    Row("remap", "remap of the label map, 20 entries, W2", "W2", REMAP, ()),
    Row("remap-numbers", "all dice after an edit of the remap, W2", "W2", NUMBERS, (Target(seconds=0.005),)),
    Row("stroke", "all dice after 10,000 painted voxels, W2", "W2", STROKES, (Target(seconds=0.010),)),
    Row(
        "fill",
        "100 contours of 200 points filled into slices of 512 x 512",
        "contours",
        FILL,
        (Target("rasterio", 10),),
        (("wrong pixels", 0.0),),
    ),
    Row("polygons", "polygons of all labels in all slices, W2", "W2", POLYGONS, (Target("rasterio", 20),)),
)


def full_inputs(name: str) -> Any:
    """Make the arrays of a row."""
    return Contours(name, contours()) if name == "contours" else WORKS[name]()


def tiny_inputs(name: str) -> Any:
    """Make small ones of the same kind."""
    return Contours(name, contours(3)) if name == "contours" else TINY[name]()
