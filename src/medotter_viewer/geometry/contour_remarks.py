"""What is said of contours while they are placed: counts and the largest distance, not one line for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.structures import without_area

OFF_PLANE_MM = 0.01
"""Farther from its slice a contour is said to be off its plane."""


@dataclass(slots=True)
class ContourTally:
    """What became of the contours of one structure.

    Parameters
    ----------
    without_area : list of str
        Why contours enclose nothing.
    spans_mm : list of float
        How far the points of contours that cross slices lie apart.
    beyond_mm, between_mm : list of float
        Distance to the nearest slice, of contours outside the series and where a slice is missing.
    astray_mm : list of float
        Distance to the image that a contour names, where that is another than its slice.
    n_crowded : int
        Contours whose slice has others in a nearer plane.
    offsets_mm : list of float
        Largest distance from its slice, of contours that are placed.
    """

    without_area: list[str] = field(default_factory=list)
    spans_mm: list[float] = field(default_factory=list)
    beyond_mm: list[float] = field(default_factory=list)
    between_mm: list[float] = field(default_factory=list)
    astray_mm: list[float] = field(default_factory=list)
    n_crowded: int = 0
    offsets_mm: list[float] = field(default_factory=list)

    def findings(self, name: str, n: int, file: str | None, far_mm: float) -> list[Finding]:
        """Return what is worth saying.

        Parameters
        ----------
        name : str
            Of the structure.
        n : int
            How many contours it has.
        file : str or None
            Where it is from.
        far_mm : float
            Beyond it, an offset from the plane is a warning.
        """
        remarks = [*self._not_placed(n), *self._moved(n, far_mm)]
        return [Finding(severity, code, f"{name}: {message}", file, name) for severity, code, message in remarks]

    def _not_placed(self, n: int) -> Iterator[tuple[Severity, str, str]]:
        if self.without_area:
            kinds = without_area(self.without_area)
            yield "info", "contour-without-area", f"{len(self.without_area)} of {n} contours have no area: {kinds}"
        reasons: list[tuple[str, int, str]] = []
        if self.spans_mm:
            why = f"not parallel to the slices, their points lie up to {max(self.spans_mm):.3g} mm apart across them"
            reasons.append(("contour-not-coplanar", len(self.spans_mm), why))
        if self.beyond_mm:
            why = f"outside the series, up to {max(self.beyond_mm):.4g} mm from its nearest slice"
            reasons.append(("contour-outside-stack", len(self.beyond_mm), why))
        if self.between_mm:
            why = f"where a slice is missing, up to {max(self.between_mm):.4g} mm from the nearest"
            reasons.append(("contour-between-slices", len(self.between_mm), why))
        if self.n_crowded:
            why = "between slices, and another plane of contours is nearer to their slice"
            reasons.append(("contour-plane-crowded", self.n_crowded, why))
        for code, count, why in reasons:
            nothing = "; nothing is left of it" if count == n else ""
            yield "warning", code, f"{count} of {n} contours not placed: {why}{nothing}"

    def _moved(self, n: int, far_mm: float) -> Iterator[tuple[Severity, str, str]]:
        if self.astray_mm:
            message = (
                f"{len(self.astray_mm)} of {n} contours up to {max(self.astray_mm):.4g} mm from the image they name: "
                "the position counts, not the reference"
            )
            yield "warning", "contour-slice-reference", message
        off = [distance for distance in self.offsets_mm if distance > OFF_PLANE_MM]
        if off:
            message = (
                f"{len(off)} of {n} contours up to {max(off):.3g} mm off the plane of the nearest slice, drawn there"
            )
            yield "warning" if max(off) > far_mm else "info", "contour-off-plane", message
