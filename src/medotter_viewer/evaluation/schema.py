"""Which ids are classes, which are background, and which are not looked at."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from medotter_viewer.errors import LabelError, UsageError
from medotter_viewer.metrics.overlap import OverlapTable

Labels = Mapping[int, str] | Sequence[str]


@dataclass(frozen=True, slots=True)
class LabelSchema:
    """All ids that may occur: any other, in ground truth or prediction, is an error.

    Parameters
    ----------
    classes : mapping of int to str, or sequence
        Scored ids and their names. A sequence holds names, each at the place of its id, of which that of the
        background is not scored; or ids, which are then their own names. A mapping that names the background makes it
        a scored class.
    background_id : int
        What is no class.
    ignore_ids : collection of int
        Voxels whose ground truth has one of these ids are left out of both sides.

    Attributes
    ----------
    classes : dict of int to str
        The scored classes, whatever was given.

    Raises
    ------
    UsageError
        If there is no class, an id is negative or no whole number, a name is no word or is given twice, or an ignored
        id is a class or the background.

    Examples
    --------
    >>> LabelSchema(["background", "liver", "spleen"], ignore_ids={255}).classes
    {1: 'liver', 2: 'spleen'}
    """

    classes: Mapping[int, str] | Sequence[str] | Sequence[int]
    background_id: int = 0
    ignore_ids: Collection[int] = frozenset()

    def __post_init__(self) -> None:
        background = _id(self.background_id, "schema: background_id")
        ignored = frozenset(_id(i, "schema: ignore_ids") for i in _listed(self.ignore_ids, "schema: ignore_ids"))
        given: Any = self.classes
        if isinstance(given, Sequence) and given and not any(isinstance(one, str) for one in given):
            ids = [_id(i, "schema: classes") for i in given]
            given = {i: str(i) for i in ids if i != background}
        classes = class_names(given, "schema: classes", background)
        if both := sorted(ignored & {*classes, background}):
            raise UsageError(f"schema: ids {both} are ignored, but are also classes or the background; choose one")
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "background_id", background)
        object.__setattr__(self, "ignore_ids", ignored)


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The classes of one run.

    Parameters
    ----------
    names : mapping of int to str
        Scored ids and their names.
    source : str
        Where they come from, for messages.
    background_id : int
        What every ground-truth id without a meaning counts as.
    ignore_ids : frozenset of int
        Ground-truth ids whose voxels are left out.
    known_ids : frozenset of int
        More ids that a prediction may hold; they are no class.
    exhaustive : bool
        Whether ground truth may hold no other id either.
    """

    names: Mapping[int, str]
    source: str
    background_id: int = 0
    ignore_ids: frozenset[int] = frozenset()
    known_ids: frozenset[int] = frozenset()
    exhaustive: bool = False

    @classmethod
    def of(cls, labels: Labels | None, schema: LabelSchema | None) -> ClassTable | None:
        """Return the classes that a caller names, or None when it names none.

        Raises
        ------
        UsageError
            If both are given, or one cannot be used.
        """
        if labels is not None and schema is not None:
            raise UsageError("got labels and schema, expected at most one of them")
        if schema is not None:
            if not isinstance(schema, LabelSchema):
                raise UsageError(f"schema: got {type(schema).__name__}, expected a LabelSchema")
            classes, ignored = cast("Mapping[int, str]", schema.classes), frozenset(schema.ignore_ids)
            return cls(classes, "the schema", schema.background_id, ignored, exhaustive=True)
        return None if labels is None else cls(class_names(labels, "labels"), "labels")

    @classmethod
    def of_dataset(cls, dataset: Any) -> ClassTable | None:
        """Return the classes that a dataset names: its attribute ``schema``, else ``labels``; None without either.

        Its attribute ``known_ids`` may list ids that predictions can hold and nobody scores.
        """
        labels, schema = getattr(dataset, "labels", None), getattr(dataset, "schema", None)
        if isinstance(schema, LabelSchema):
            return cls.of(None, schema)
        if not labels or callable(labels):
            return None
        known = frozenset(getattr(dataset, "known_ids", None) or ())
        return cls(class_names(labels, "labels of the dataset"), "the dataset's labels", known_ids=known)

    @classmethod
    def found_in(cls, tables: Iterable[OverlapTable]) -> ClassTable:
        """Return the ids but 0 that occur in any ground truth, ascending; their numbers are their names."""
        ids = sorted({i for table in tables for i in table.gt_ids.tolist()} - {0})
        return cls({i: str(i) for i in ids}, "the ids of the ground truth")

    def check(self, table: OverlapTable, key: str) -> None:
        """Raise LabelError for ids outside these classes: predicted ones, and with a schema also true ones."""
        allowed = {*self.names, self.background_id, *self.ignore_ids, *self.known_ids}
        sides = {"prediction for": table.pred_voxels()}
        if self.exhaustive:
            sides = {"label of": table.gt_voxels(), **sides}
        for side, voxels in sides.items():
            if outside := {i: n for i, n in voxels.items() if i not in allowed}:
                got = ", ".join(f"{i} ({n} voxels)" for i, n in list(outside.items())[:10])
                raise LabelError(
                    f"{side} {key!r}: got ids {got}{', ...' if len(outside) > 10 else ''}, expected only "
                    f"{_short(sorted(allowed))} of {self.source}"
                )

    def counted(self, table: OverlapTable) -> OverlapTable:
        """Return the voxels that count: without ignored ones, ground-truth ids without a meaning as background."""
        keep = ~np.isin(table.gt_ids, list(self.ignore_ids))
        kept = OverlapTable(table.gt_ids[keep], table.pred_ids, table.counts[keep])
        return kept.remap_gt(self.meaning)

    def meaning(self, gt_id: int) -> int:
        """Return what a ground-truth id counts as: its class, else the background."""
        return gt_id if gt_id in self.names else self.background_id


def class_names(labels: Any, where: str, background_id: int = 0) -> dict[int, str]:
    """Return id to name of what was given: ``{id: name}``, or names at the places of their ids.

    The background's place in a sequence holds its name but no class; a mapping that names it makes it a class.

    Raises
    ------
    UsageError
        If there is no class, an id is negative or no whole number, or a name is no word or is given twice.
    """
    if isinstance(labels, Mapping):
        pairs = [(_id(i, where), name) for i, name in labels.items()]
    elif isinstance(labels, Sequence) and not isinstance(labels, str):
        pairs = [(i, name) for i, name in enumerate(labels) if i != background_id]
    else:
        raise UsageError(f"{where}: got {type(labels).__name__}, expected {{id: name}} or a list of names")
    if not pairs:
        raise UsageError(f"{where}: got no class, expected at least one besides the background")
    names = [name for _, name in pairs]
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise UsageError(f"{where}: got {wrong[0]!r}, expected a name; write {{id: name}}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{where}: got {twice[0]!r} for more than one id, expected names that differ")
    return dict(pairs)


def _id(value: Any, where: str) -> int:
    """A whole number of 0 or more; booleans are none."""
    try:
        found = -1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        found = -1
    if found < 0:
        raise UsageError(f"{where}: got {value!r}, expected whole ids of 0 or more")
    return found


def _listed(values: Any, where: str) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"{where}: got {values!r}, expected a collection of ids")
    return list(values)


def _short(ids: list[int]) -> str:
    return ", ".join(map(str, ids[:20])) + (f", ... ({len(ids)} ids)" if len(ids) > 20 else "")
