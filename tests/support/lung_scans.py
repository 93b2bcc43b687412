"""Scans T01 to T11 and single rings, with the values that the contest's own scorers give them."""

from __future__ import annotations

from math import cos, pi, sin

from medotter_viewer.metrics.lung import Overlap

Points = list[tuple[float, float]]
Slices = list[tuple[list[Points], list[Points], float]]
"""Ground-truth rings, predicted rings and thickness of each slice."""


def box(x0: float, y0: float, x1: float, y1: float) -> Points:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


GT = box(0, 0, 20, 10)
KEYHOLE = [*box(0, 0, 30, 30), (0, 0), (10, 10), (10, 20), (20, 20), (20, 10), (10, 10)]
BOW_TIE = [(0, 0), (20, 20), (20, 0), (0, 20)]
OVERLAPPING = [box(0, 0, 12, 10), box(8, 0, 20, 10)]
TEN = box(0, 0, 10, 10)

SCANS: dict[str, Slices] = {
    "T01": [([GT], [GT], 2.5)],
    "T02": [([GT], [box(0, 0, 10, 10)], 2.5)],
    "T03": [([GT], [GT], 2.5), ([], [TEN], 2.5)],
    "T04": [([KEYHOLE], [box(0, 0, 30, 30)], 2.5)],
    "T05": [([GT], OVERLAPPING, 2.5)],
    "T06": [([box(0, 0, 20, 20)], [BOW_TIE], 2.5)],
    "T07": [([GT], [], 2.5)],
    "T08": [([GT, box(10, 0, 30, 10)], [box(0, 0, 30, 10)], 2.5)],
    "T09": [([TEN], [TEN], 1.0), ([TEN], [], 2.0), ([TEN], [box(0, 0, 5, 10)], 5.0)],
    "T10": [([], [TEN], 2.5)],
    "T11": [([], OVERLAPPING, 2.5)],
}
SAME: dict[str, tuple[float, float, float, float]] = {
    "T01": (500, 0, 0, 1),
    "T02": (250, 0, 250, 0.558745),
    "T03": (500, 250, 0, 0.747492),
    "T04": (2000, 250, 0, 0.924240),
    "T07": (0, 0, 500, 0),
    "T09": (350, 0, 450, 0.464748),
    "T10": (0, 250, 0, 0),
}
EXPECTED: dict[Overlap, dict[str, tuple[float, float, float, float]]] = {
    "sum": {
        **SAME,
        "T05": (500, 100, 0, 0.890108),
        "T06": (0, 0, 1000, 0),
        "T08": (750, 0, 250, 0.817806),
        "T11": (0, 600, 0, 0),
    },
    "union_if_both": {
        **SAME,
        "T05": (500, 0, 0, 1),
        "T06": (0, 0, 1000, 0),
        "T08": (750, 0, 0, 1),
        "T11": (0, 600, 0, 0),
    },
    "union": {
        **SAME,
        "T05": (500, 0, 0, 1),
        "T06": (500, 0, 500, 0.546953),
        "T08": (750, 0, 0, 1),
        "T11": (0, 500, 0, 0),
    },
}
"""TP, FP, FN in mm3 and the score, by the first round's scorer (sum) and its author's later ones."""

RINGS: dict[str, tuple[Points, float, float]] = {
    "square": (GT, 200, 200),
    "keyhole": (KEYHOLE, 800, 800),
    "keyhole of one winding": (
        [*box(0, 0, 30, 30), (0, 0), (10, 10), (20, 10), (20, 20), (10, 20), (10, 10)],
        1000,
        800,
    ),
    "bow-tie": (BOW_TIE, 0, 200),
    "square traversed twice": (GT * 2, 400, 0),
    "pentagram": (
        [(10 * cos(pi / 2 + 4 * pi * k / 5), 10 * sin(pi / 2 + 4 * pi * k / 5)) for k in range(5)],
        146.946313,
        77.567675,
    ),
    "notched": ([(0, 0), (30, 0), (30, 30), (20, 30), (20, 20), (10, 20), (10, 30), (0, 30)], 800, 800),
}
"""Ring, area by its list of points, area by the even-odd rule; mm2."""
