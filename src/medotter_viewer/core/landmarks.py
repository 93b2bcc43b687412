"""Labelled points, such as the centres of vertebrae."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from medotter_viewer.core.key_reader import KeyReader
from medotter_viewer.errors import LabelError

Point = tuple[float, float, float]
Candidates = Literal["all_gt", "common"]
"""Ground-truth points that compete for being the nearest: all of them, or those of labels on both sides."""
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)
MAX_DISTANCE_MM = 20.0
"""Largest distance of an identified vertebra from its point."""

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "candidates": CANDIDATES,
    "format": ("verse_ctd_json",),
    "unit": ("mm",),
    "denominator": ("gt",),
}
_FAR_MM = 1e9


@dataclass(frozen=True, slots=True)
class Landmarks:
    """One point for each label.

    Parameters
    ----------
    points_world : mapping of int to tuple of float
        Label to position, mm RAS+.
    source : str
        File, or how the points were derived (``"centre of mass of the mask"``).
    derived : bool
        Whether they were computed from a mask: then they are not the centres of vertebral bodies.
    edited : frozenset of int
        Labels whose points a person moved, added or gave another label.
    """

    points_world: Mapping[int, Point]
    source: str = ""
    derived: bool = False
    edited: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for label, point in self.points_world.items():
            if len(point) != 3 or not all(abs(v) < float("inf") for v in point):
                raise LabelError(f"landmark {label}: got {point}, expected three finite numbers of mm")
        points = {int(label): tuple(float(v) for v in point) for label, point in self.points_world.items()}
        object.__setattr__(self, "points_world", MappingProxyType(points))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the points as a dict, so that landmarks can travel to a worker process."""
        return Landmarks, (dict(self.points_world), self.source, self.derived, self.edited)

    def with_point(self, label: int, point_world: Point | None) -> Landmarks:
        """Return the landmarks with a label's point elsewhere, mm RAS+; None takes it away.

        Examples
        --------
        >>> Landmarks({20: (0, 0, 0)}).with_point(20, (0, 5, 0)).edited
        frozenset({20})
        """
        points = {one: p for one, p in self.points_world.items() if one != label}
        if point_world is not None:
            points[label] = point_world
        return Landmarks(points, self.source, self.derived, self.edited | {label})


@dataclass(frozen=True, slots=True)
class LandmarkRules:
    """The block ``landmarks`` of eval_spec.yaml: where a case's points are, and when one is identified.

    Parameters
    ----------
    manifest_key : str
        Key of a manifest entry that names the file of its ground-truth points.
    prediction_suffix : str
        A case's predicted points are ``<folder>/<case_id><suffix>``.
    max_distance_mm : float
        Largest distance of a hit.
    candidates : {"all_gt", "common"}
        Ground-truth points that compete: all (and the distance is less), or those predicted too (at most).
    """

    manifest_key: str = "landmarks"
    prediction_suffix: str = "_ctd.json"
    max_distance_mm: float = MAX_DISTANCE_MM
    candidates: Candidates = "all_gt"

    @classmethod
    def from_mapping(cls, raw: Mapping[str, Any], *, where: str) -> LandmarkRules:
        """Return the typed view of the block; keys that are absent or null take their defaults.

        Raises
        ------
        BundleError
            If a key holds something unusable; `where` and the key are named.
        """
        read = KeyReader(raw, where)
        read.check_choices(_CHOICES)
        return cls(
            **read.names("manifest_key", "prediction_suffix", "candidates"),  # type: ignore[arg-type]
            max_distance_mm=read.length_mm("max_distance_mm", MAX_DISTANCE_MM, longest=_FAR_MM),
        )
