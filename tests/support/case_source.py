"""A source of cases that are there already: what windows are tested with where no file matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.spec import EvalSpec


class Cases:
    """A source of cases that are there already."""

    version = hash = modality = task = None
    target = name = "cases"
    model = "model"
    resample_prediction = False

    def __init__(self, cases: Sequence[Case], spec: EvalSpec) -> None:
        self._cases, self.spec = {case.case_id: case for case in cases}, spec

    def record(self) -> dict[str, Any]:
        return {}

    def case_ids(self, split: str = "all") -> list[str]:
        return list(self._cases)

    def entries(self, split: str = "all") -> Iterator[CaseEntry]:
        return (case.entry for case in self._cases.values())

    def entry(self, case_id: str) -> CaseEntry:
        return self._cases[case_id].entry

    def load(self, case_id: str, *, images: bool = True) -> Case:
        return self._cases[case_id]

    def check(self) -> Iterator[Any]:
        return iter(())
