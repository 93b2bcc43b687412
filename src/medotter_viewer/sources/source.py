"""What holds cases: a bundle, a folder of scans, folders of files with equal names.

Everything above (scoring, the window, the command line) knows only this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Protocol, runtime_checkable

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec, TaskSpec

Split = Literal["test", "train", "all"]


@runtime_checkable
class CaseSource(Protocol):
    """Cases, and the rules by which they are scored.

    What is wrong with one case is a finding of that case; only what makes the whole source unusable raises.
    """

    @property
    def target(self) -> str:
        """Where it is, as given."""

    @property
    def name(self) -> str:
        """What to call it."""

    @property
    def version(self) -> str | None:
        """Version of the task; None where there is none."""

    @property
    def hash(self) -> str | None:
        """Hash of the task, shown and not verified."""

    @property
    def model(self) -> str | None:
        """Name of the model whose predictions are looked at; None without predictions."""

    @property
    def modality(self) -> str | None:
        """What the images are said to be, e.g. ``"CT"``."""

    @property
    def task(self) -> TaskSpec | None:
        """What ids mean, where the source says so."""

    @property
    def spec(self) -> EvalSpec:
        """How cases are scored."""

    @property
    def resample_prediction(self) -> bool:
        """Whether a prediction on another grid is brought onto the ground truth's."""

    def record(self) -> dict[str, Any]:
        """Return what was chosen about the source, for the definitions of a report."""

    def case_ids(self, split: Split = "all") -> list[str]:
        """Return the ids of a split, in order; a source without splits has all its cases in ``test``."""

    def entries(self, split: Split = "all") -> Iterator[CaseEntry]:
        """Yield every case of a split, without reading its voxels."""

    def entry(self, case_id: str) -> CaseEntry:
        """Return one case, without reading its voxels.

        Raises
        ------
        CaseNotFoundError
            If there is none of that id.
        """

    def load(self, case_id: str, *, images: bool = True) -> Case:
        """Return a case with its files read; what is wrong with them is a finding of the case."""

    def check(self) -> Iterator[Finding]:
        """Yield what was noticed about the source as a whole: files that belong to no case, unusable rules."""
