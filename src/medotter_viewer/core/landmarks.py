"""Labelled points, such as the centres of vertebrae."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from medotter_viewer.errors import LabelError

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Landmarks:
    """One point for each label.

    Parameters
    ----------
    points_world : mapping of int to tuple of float
        Label to position, mm RAS+.
    source : str
        File, or how the points were derived (``"centre of mass of the mask"``).
    """

    points_world: Mapping[int, Point]
    source: str = ""

    def __post_init__(self) -> None:
        for label, point in self.points_world.items():
            if len(point) != 3 or not all(abs(v) < float("inf") for v in point):
                raise LabelError(f"landmark {label}: got {point}, expected three finite numbers of mm")
        points = {int(label): tuple(float(v) for v in point) for label, point in self.points_world.items()}
        object.__setattr__(self, "points_world", MappingProxyType(points))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the points as a dict, so that landmarks can travel to a worker process."""
        return Landmarks, (dict(self.points_world), self.source)
