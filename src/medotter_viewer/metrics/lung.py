"""Polygon scores of lung tumour contours: areas per slice, volumes per scan, and the score of a scan.

Takes rings and millimetres; knows no case, file or structure name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, isfinite, pi

from numpy.typing import ArrayLike

from medotter_viewer.core.contours import ERROR_LENGTH_MM, OVERLAPS, Overlap
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.polygons import overlap_areas, shoelace

_ROUNDING = 1e-9  # of an area


@dataclass(frozen=True, slots=True)
class SliceAreas:
    """Areas of one slice, mm2: in both, predicted only, missed."""

    tp_mm2: float
    fp_mm2: float
    fn_mm2: float


@dataclass(frozen=True, slots=True)
class ScanVolumes:
    """Volumes of one scan, mm3: in both, predicted only, missed; and what follows from them."""

    tp_mm3: float
    fp_mm3: float
    fn_mm3: float

    @property
    def t_mm3(self) -> float:
        """Volume of the ground truth: TP + FN."""
        return self.tp_mm3 + self.fn_mm3

    @property
    def e_mm3(self) -> float | None:
        """Error volume FN T / TP + FP; None without any true positive."""
        return self.fn_mm3 * (self.t_mm3 / self.tp_mm3) + self.fp_mm3 if self.tp_mm3 > 0 else None

    @property
    def a_mm2(self) -> float:
        """Surface of a sphere as large as the ground truth: (36 pi T^2)^(1/3)."""
        return float((36 * pi) ** (1 / 3) * self.t_mm3 ** (2 / 3))  # a square might underflow

    def score(self, error_length_mm: float = ERROR_LENGTH_MM) -> float:
        """Return the score of the scan, 0 to 1.

        Parameters
        ----------
        error_length_mm : float
            L: how thick a layer on the surface weighs as much as the whole volume.

        Returns
        -------
        float
            ``exp(-(E / T + E / (L A)) / 2)``; 0 without any true positive, so also without ground truth; 1 where
            sums of areas leave a negative error.

        Raises
        ------
        MetricInputError
            If the length is not a positive number.

        Notes
        -----
        The score depends on scale: the same shapes ten times as large score differently, through A.

        References
        ----------
        TopCoder, LungTumorTracer 2, problem statement, section "Scoring".

        Examples
        --------
        >>> round(ScanVolumes(1000, 0, 1000).score(), 9), ScanVolumes(0, 10, 10).score()
        (0.532450448, 0.0)
        """
        if not (isfinite(error_length_mm) and error_length_mm > 0):
            raise MetricInputError(f"error_length_mm: got {error_length_mm}, expected a positive number of mm")
        error = self.e_mm3
        if error is None:
            return 0.0
        return exp(-max(0.0, error / self.t_mm3 + error / (error_length_mm * self.a_mm2)) / 2)


def slice_areas(
    gt_rings: Sequence[ArrayLike], pred_rings: Sequence[ArrayLike], *, overlap: Overlap = "union"
) -> SliceAreas:
    """Return the areas of one slice that are in both, predicted only, and missed.

    Parameters
    ----------
    gt_rings, pred_rings : sequence of (n, 2) array_like
        x, y in mm. Each ring by itself by the even-odd rule: a hole is a keyhole within one ring.
    overlap : {"union", "sum", "union_if_both"}
        What rings of one side that overlap are worth, see Notes.

    Returns
    -------
    SliceAreas
        mm2; all 0 without any ring. Negative only by ``sum``, where a ring winds both ways around what it covers.

    Raises
    ------
    MetricInputError
        For points that are no pairs of finite numbers, or an unknown `overlap`.

    Notes
    -----
    With T and S the areas of ground truth and prediction, ``tp = area(union(gt) & union(pred))``,
    ``fp = S - tp`` and ``fn = T - tp``.

    - ``union``: T and S are areas of the unions. Nothing counts twice.
    - ``sum``: T and S are sums of absolute `shoelace` areas, as in the contest's first round; a side whose sum is 0
      (a bow-tie!) counts as empty, and then the other side's sum is all wrong.
    - ``union_if_both``: unions where both sums are above 0, sums on one-sided slices, as in a later scorer by the
      same author.

    References
    ----------
    TopCoder, LungTumorTracer 2, problem statement ("first the union of the polygons is determined"), and the
    visualiser of the first round.

    Examples
    --------
    >>> square, twice = [(0, 0), (10, 0), (10, 10), (0, 10)], [(0, 0), (5, 0), (5, 10), (0, 10)]
    >>> slice_areas([square], [twice, twice])
    SliceAreas(tp_mm2=50.0, fp_mm2=0.0, fn_mm2=50.0)
    >>> slice_areas([square], [twice, twice], overlap="sum")
    SliceAreas(tp_mm2=50.0, fp_mm2=50.0, fn_mm2=50.0)
    """
    if overlap not in OVERLAPS:
        raise MetricInputError(f"overlap: got {overlap!r}, expected one of {', '.join(OVERLAPS)}")
    tp, fn, fp = overlap_areas(gt_rings, pred_rings)
    gt_sum, pred_sum = (fsum(abs(shoelace(ring)) for ring in rings) for rings in (gt_rings, pred_rings))
    if overlap != "union" and not (gt_sum > 0 and pred_sum > 0):
        return SliceAreas(0.0, pred_sum, gt_sum)
    if overlap == "sum":
        return SliceAreas(tp, _less(pred_sum, tp), _less(gt_sum, tp))
    return SliceAreas(tp, fp, fn)


def scan_volumes(slices: Iterable[tuple[SliceAreas, float]]) -> ScanVolumes:
    """Return the volumes of a scan: the sums of area times thickness.

    Parameters
    ----------
    slices : iterable of (SliceAreas, float)
        Areas and thickness in mm of each slice; none gives zeros.

    Raises
    ------
    MetricInputError
        If a thickness is not a positive number.

    Examples
    --------
    >>> scan_volumes([(SliceAreas(100, 0, 20), 2.5), (SliceAreas(0, 10, 0), 1.0)])
    ScanVolumes(tp_mm3=250.0, fp_mm3=10.0, fn_mm3=50.0)
    """
    pairs = list(slices)
    for _, thickness in pairs:
        if not (isfinite(thickness) and thickness > 0):
            raise MetricInputError(f"slice thickness: got {thickness}, expected a positive number of mm")
    return ScanVolumes(
        fsum(areas.tp_mm2 * thickness for areas, thickness in pairs),
        fsum(areas.fp_mm2 * thickness for areas, thickness in pairs),
        fsum(areas.fn_mm2 * thickness for areas, thickness in pairs),
    )


def _less(total: float, part: float) -> float:
    """Difference of two areas; 0 where rounding alone makes it negative."""
    rest = total - part
    return 0.0 if -_ROUNDING * part < rest < 0 else rest
