"""Cases made of files that no manifest lists: plain folders, and the layouts of others that are found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.segments import Names
from medotter_viewer.core.spec import EvalSpec, TaskSpec
from medotter_viewer.errors import BundleError, CaseNotFoundError
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.source import Split
from medotter_viewer.sources.user_remap import UserRemap


@dataclass(frozen=True, eq=False)
class FolderSource:
    """Cases whose files were found by their names.

    Parameters
    ----------
    target, name : str
        Where they are, as given, and what to call them.
    cases : mapping of str to CaseEntry
        In order.
    rules : callable
        Gives the specification when it is first asked for: it may have to read files.
    segment_ids : callable, optional
        Where files name their structures: gives the ids of all combinations of names, which the cases then have.
    model : str, optional
        Name of the model whose predictions the cases have.
    modality : str, optional
        Of the images.
    resample_prediction : bool
        As for `load_case`.
    chosen : mapping
        What was chosen about the source, for a report.
    noticed : tuple of Finding
        About the source as a whole.
    look : callable, optional
        Gives what `check` finds beyond that by reading files.
    other : callable, optional
        Takes a path and a name or None, and gives the same cases with the predictions of another model.
    """

    target: str
    name: str
    cases: Mapping[str, CaseEntry]
    rules: Callable[[], EvalSpec]
    segment_ids: Callable[[], Mapping[Names, int]] | None = None
    model: str | None = None
    modality: str | None = None
    resample_prediction: bool = False
    chosen: Mapping[str, Any] = field(default_factory=dict)
    noticed: tuple[Finding, ...] = ()
    look: Callable[[], Iterable[Finding]] | None = None
    other: Callable[[Path, str | None], FolderSource] | None = None

    @property
    def version(self) -> None:
        """Such cases have no version."""
        return None

    @property
    def hash(self) -> None:
        """Nor a hash."""
        return None

    @property
    def task(self) -> TaskSpec | None:
        """Nor a task.yaml: `spec` says all that is known."""
        return None

    @cached_property
    def spec(self) -> EvalSpec:
        """How cases are scored.

        Raises
        ------
        BundleError
            If the files' ids cannot be regions.
        """
        return self.rules()

    def record(self) -> dict[str, Any]:
        """Return what was chosen about the source, for the definitions of a report."""
        return {**self.chosen, "resample_prediction": self.resample_prediction}

    def case_ids(self, split: Split = "all") -> list[str]:
        """Return the ids of a split, in order."""
        return [i for i, entry in self.cases.items() if split in ("all", entry.split)]

    def entries(self, split: Split = "all") -> Iterator[CaseEntry]:
        """Yield every case of a split; only files that name their structures are opened."""
        return (self.entry(case_id) for case_id in self.case_ids(split))

    def entry(self, case_id: str) -> CaseEntry:
        """Return one case; only files that name their structures are opened.

        Raises
        ------
        CaseNotFoundError
            If there is none of that id.
        """
        if case_id not in self.cases:
            raise CaseNotFoundError(f"{self.target}: no case {case_id!r}; 'medotter-viewer cases' lists them")
        entry = self.cases[case_id]
        return entry if self.segment_ids is None else replace(entry, segment_ids=self.segment_ids())

    def load(self, case_id: str, *, images: bool = True) -> Case:
        """Return a case with its files read; what is wrong with them is a finding of the case."""
        return load_case(self.entry(case_id), images=images, resample_prediction=self.resample_prediction)

    def check(self) -> Iterator[Finding]:
        """Yield what was noticed about the folders: files that belong to no case, or that were left out."""
        yield from self.noticed
        if self.look is not None:
            yield from self.look()


def remap_for(dataset: str | None, user_remap: UserRemap | None, otherwise: Remap) -> Remap:
    """Return the user's remap for a dataset, or what holds without one."""
    return (None if user_remap is None else user_remap.of(dataset)) or otherwise


def check_datasets(user_remap: UserRemap | None, cases: Mapping[str, CaseEntry]) -> None:
    """Raise BundleError where a user's remap names datasets that no case has."""
    known = {entry.dataset for entry in cases.values() if entry.dataset is not None}
    if user_remap is None or user_remap.for_all is not None:
        return
    if unknown := sorted(set(user_remap.by_dataset) - known):
        raise BundleError(f"{user_remap.source}: names datasets {unknown} that no case has; there are {sorted(known)}")
