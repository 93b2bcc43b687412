"""What a what-if changes: what a dataset's native ids become, or which ids make up a region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import EvalSpec

Edits = Mapping[int, int | None]
"""Native id to its new canonical id; 0 drops it and says so, None takes it out of the list."""

NO_REMAP = "no-remap"
"""Code of the finding that a case's native ids are not explained; a what-if that explains them ends it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is tried.

    Parameters
    ----------
    remaps : mapping of str to Edits
        Dataset (empty where cases have none) to what is changed in its remap; ids that are not named stay as they are.
    own : mapping of str to Edits
        Case id to what is changed in the remap that this case has for itself.
    regions : mapping of str to tuple of int
        Region to its new canonical ids.
    """

    remaps: Mapping[str, Edits] = field(default_factory=dict)
    own: Mapping[str, Edits] = field(default_factory=dict)
    regions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((*self.remaps.values(), *self.own.values(), self.regions))

    def of(self, entry: CaseEntry) -> Edits:
        """Return what is changed for a case: one with a remap of its own does not follow its dataset's."""
        if entry.remap is not None and entry.remap.form == "per_case":
            return self.own.get(entry.case_id, {})
        return self.remaps.get(entry.dataset or "", {})

    def entry(self, entry: CaseEntry, ids: Iterable[int]) -> CaseEntry:
        """Return a case with its changed remap.

        Parameters
        ----------
        entry : CaseEntry
            As it is. Where its remap is unknown, ids that nobody names become background.
        ids : iterable of int
            Ids that an identity is written out for, so that the others stay: native ones, and those of the regions.
        """
        edits = self.of(entry)
        if not edits:
            return entry
        found = tuple(f for f in entry.findings if f.code != NO_REMAP)
        return replace(entry, remap=edited(entry.remap, edits, ids), findings=found)

    def spec(self, spec: EvalSpec) -> EvalSpec:
        """Return a specification with the changed regions.

        Raises
        ------
        RegionNotFoundError
            If it has no region of a name.
        """
        for name in self.regions:
            spec.check_region(name)
        return replace(spec, regions={**spec.regions, **self.regions}) if self.regions else spec


def edited(remap: Remap | None, edits: Edits, ids: Iterable[int] = ()) -> Remap:
    """Return a remap after some ids were changed.

    Parameters
    ----------
    remap : Remap or None
        As it is; None (unknown) lists nothing.
    edits : mapping of int to int or None
        See `Edits`.
    ids : iterable of int
        Ids that an identity is written out for.

    Examples
    --------
    >>> dict(edited(Remap({1: 1, 2: 2}, "dict"), {2: 1, 3: 0}).table)
    {1: 1, 2: 1, 3: 0}
    >>> dict(edited(Remap(None, "none"), {2: None}, ids=(1, 2)).table)
    {1: 1}
    """
    if not edits:
        return remap or Remap({}, "user")
    table = {} if remap is None else dict(remap.table) if remap.table is not None else {i: i for i in ids if i >= 0}
    table.update({native: to for native, to in edits.items() if to is not None})
    for native, to in edits.items():
        if to is None:
            table.pop(native, None)
    return Remap(dict(sorted(table.items())), "user" if remap is None else remap.form, "what-if: nothing is saved")
