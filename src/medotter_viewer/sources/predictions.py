"""Find the prediction of a case by its full id; never by a guess.

``<folder>/<case_id><suffix>`` with any known suffix, or what a template says. ``case_1`` is a prefix of ``case_10``
and two datasets may both have a ``0001``: anything looser than the full id pairs wrong files.
"""

from __future__ import annotations

import os
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.paths import Confined
from medotter_viewer.errors import UnsafePathError, UsageError
from medotter_viewer.formats.landmark_provenance import provenance_path
from medotter_viewer.formats.registry import SUFFIXES

FIELDS = ("case_id", "dataset", "split", "tier", "stem")
REVIEWS_SUFFIX = ".reviews.jsonl"
"""Of files of verdicts, which lie beside the predictions."""


@dataclass(frozen=True, slots=True)
class PredictionFolder:
    """Where the predictions of one model lie.

    Parameters
    ----------
    folder : Path
        Root of the model's files.
    name : str
        What the model is called.
    pattern : str, optional
        Template such as ``"{dataset}/{stem}_pred.nii.gz"``; fields are case_id, dataset, split, tier and stem (the
        last part of the id).

    Raises
    ------
    UsageError
        If the folder is not there or the template has an unknown field.
    """

    folder: Path
    name: str
    pattern: str | None = None
    _confined: Confined = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_confined", Confined(self.folder))
        if not self.folder.is_dir():
            raise UsageError(f"predictions: no such folder: {self.folder}")
        if self.pattern is not None:
            try:
                parts = list(string.Formatter().parse(self.pattern))
                if any(form or conversion for _, _, form, conversion in parts):
                    raise ValueError("formats and conversions are not used here")
                fields = {name for _, name, _, _ in parts if name is not None}
            except ValueError as error:
                raise UsageError(f"--pattern {self.pattern!r}: {error}") from error
            if unknown := fields - set(FIELDS):
                raise UsageError(
                    f"--pattern {self.pattern!r}: unknown field {sorted(unknown)}, expected {', '.join(FIELDS)}"
                )
            try:
                self.pattern.format(**dict.fromkeys(FIELDS, ""))
            except (ValueError, LookupError) as error:
                raise UsageError(f"--pattern {self.pattern!r}: {error}; write fields as {{name}}") from error

    def find(self, entry: CaseEntry, *, folders: bool = False) -> tuple[Path | None, list[Finding]]:
        """Return the prediction file of a case, or None, and what was noticed.

        Two files for one case are an error finding that names both: neither is taken.

        Parameters
        ----------
        entry : CaseEntry
            The case.
        folders : bool
            Whether a folder of that name counts too: of a file that names structures, or of a series.
        """
        where = f"prediction of case {entry.case_id}"
        names = self._names(entry)
        if folders and self.pattern is None:
            names = [*names, entry.case_id]
        # Names differ in their ends: if the first may be looked up, all may, and most of them are not there.
        names = [n for i, n in enumerate(names) if not i or os.path.lexists(os.path.join(self.folder, n))]  # noqa: PTH118
        try:
            paths = [self._confined.resolve(name, where=where) for name in names]
        except UnsafePathError as error:
            return None, [Finding("error", "unsafe-path", str(error), where=entry.case_id)]
        there = [path for path in paths if path.is_file() or (folders and path.is_dir())]
        if len(there) > 1:
            listed = " and ".join(str(path) for path in there)
            message = f"{len(there)} predictions for case {entry.case_id}: {listed}; keep one, or name it by --pattern"
            return None, [Finding("error", "ambiguous-prediction", message, where=entry.case_id)]
        return (there[0] if there else None), []

    def sought(self, entry: CaseEntry) -> str:
        """Return, in words, what `find` looks for; without a template one name of many suffixes."""
        if self.pattern is None:
            return f"{self.folder / entry.case_id} with a known suffix"
        return str(self.folder / self._names(entry)[0])

    def find_landmarks(self, entry: CaseEntry, suffix: str) -> tuple[Path | None, list[Finding]]:
        """Return the file of a case's predicted points, or None, and what was noticed.

        It is ``<case_id><suffix>``, or the template with its own suffix replaced by that one.
        """
        if self.pattern is None:
            name = entry.case_id + suffix
        else:
            (name,) = self._names(entry)
            name = next((name[: -len(s)] for s in SUFFIXES if name.lower().endswith(s)), name) + suffix
        try:
            path = self._confined.resolve(name, where=f"predicted points of case {entry.case_id}")
        except UnsafePathError as error:
            return None, [Finding("error", "unsafe-path", str(error), where=entry.case_id)]
        return (path if path.is_file() else None), []

    def unused(self, used: Iterable[Path]) -> list[Path]:
        """Return the files below the folder that no case uses, sorted; those of verdicts are not meant to be used."""
        taken = {os.path.realpath(one) for path in used for one in (path, provenance_path(path))}
        return sorted(
            path
            for path in self.folder.rglob("*")
            if path.is_file()
            and not path.name.endswith(REVIEWS_SUFFIX)
            and not any(os.path.realpath(one) in taken for one in (path, *path.parents))
        )

    def _names(self, entry: CaseEntry) -> list[str]:
        if self.pattern is None:
            return [entry.case_id + suffix for suffix in SUFFIXES]
        stem = entry.case_id.rsplit("/", 1)[-1]
        values = {"case_id": entry.case_id, "stem": stem, "dataset": entry.dataset or ""}
        return [self.pattern.format(**values, split=entry.split or "", tier=entry.tier or "")]
