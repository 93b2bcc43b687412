"""One export as it is ordered in the window: what is written, from which cases, and how it went. Without Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MedotterViewerError, WriteError
from medotter_viewer.export.polygon_files import Exported, export_cases, submission_paths
from medotter_viewer.export.sources_kept import check_not_a_source
from medotter_viewer.export.structure_file import export_structures
from medotter_viewer.session.working_cases import WorkingCases
from medotter_viewer.sources.source import CaseSource

Format = Literal["CSV", "CSV + zip", "RTSTRUCT"]
FORMATS: tuple[Format, ...] = get_args(Format)

_LEFT_OUT = "edited-left-out"
_LISTED = 8  # findings


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """What is to be written.

    Parameters
    ----------
    case_ids : tuple of str
        Which cases; of an RTSTRUCT one.
    region : str
        Which region.
    format : {"CSV", "CSV + zip", "RTSTRUCT"}
        How.
    generated_only : bool
        Whether polygons that a person edited are left out.
    file : Path or None
        Where; None where none is named yet.
    """

    case_ids: tuple[str, ...]
    region: str
    format: Format
    generated_only: bool
    file: Path | None

    @property
    def path(self) -> Path:
        """The file, with the suffix of its format where it has none.

        Raises
        ------
        WriteError
            If no file is named, or it has the suffix of something else.
        """
        suffix = ".dcm" if self.format == "RTSTRUCT" else ".csv"
        if self.file is None or not self.file.name:
            raise WriteError(f"name a file first: FILE{suffix}")
        path = self.file if self.file.suffix else self.file.with_suffix(suffix)
        if path.suffix.lower() != suffix:
            raise WriteError(f"{path}: {self.format} is written to a name that ends in {suffix}")
        if not path.parent.is_dir():
            raise WriteError(f"{path}: there is no folder {path.parent}")
        return path

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that will be written.

        Raises
        ------
        WriteError
            As `path`.
        """
        path = self.path
        if self.format == "RTSTRUCT":
            return (path,)
        return tuple(submission_paths(path, zipped=self.format == "CSV + zip").values())


class CancelledError(Exception):
    """Somebody does not want the export any more; nothing is written."""


def export_now(
    order: ExportOrder,
    cases: WorkingCases,
    source: CaseSource,
    spec: EvalSpec,
    *,
    on_progress: Callable[[int, int], object] = lambda *_: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Exported:
    """Write an export; callable from any thread.

    Parameters
    ----------
    order : ExportOrder
        What.
    cases : WorkingCases
        As they are edited.
    source : CaseSource
        Where they come from: none of its files is replaced.
    spec : EvalSpec
        Regions and rules.
    on_progress : callable
        Called with the cases done and all of them.
    is_cancelled : callable
        Asked before and after each case.

    Raises
    ------
    WriteError
        If it cannot be written; files of these names stay as they were.
    CancelledError
        If it is not wanted any more; the same holds.
    """
    check_not_a_source(order.paths, source.entries("all"))
    n = len(order.case_ids)

    def go_on(done: int) -> None:
        if is_cancelled():
            raise CancelledError
        on_progress(done, n)

    def loaded() -> Iterator[Case]:
        for place, case_id in enumerate(order.case_ids):
            go_on(place)
            yield cases.load(case_id, order.region)

    how = {"spec": spec, "generated_only": order.generated_only, "as_drawn": True}
    if order.format == "RTSTRUCT":
        if n != 1:
            raise WriteError(f"an RTSTRUCT holds one case, {n} are chosen: choose this case, or write CSV")
        (case,) = loaded()
        done = export_structures(case, order.path, regions=[order.region], **how)  # type: ignore[arg-type]
        return replace(done, findings=(*_what_ifs(order, cases), *done.findings))
    done = export_cases(
        loaded(),
        order.path,
        region=order.region,
        zipped=order.format == "CSV + zip",
        on_progress=lambda done, _: go_on(done),
        **how,  # type: ignore[arg-type]
    )
    return replace(done, findings=(*_what_ifs(order, cases), *done.findings))


def _what_ifs(order: ExportOrder, cases: WorkingCases) -> list[Finding]:
    """Say of whose labels the screen shows others than the file."""
    there = [case_id for case_id in order.case_ids if case_id in cases.what_ifs]
    text = "labels are moved on the screen as a what-if: written as they are without it"
    return [Finding("warning", "what-if-not-written", f"case {one}: {text}", where=one) for one in there]


def result_text(done: Exported, order: ExportOrder) -> str:
    """Return what was written and what was noticed, a line each."""
    if not done.files:
        return "\n".join(["nothing written: no case could be", *_listed(done.findings)])
    unit = "contour" if order.format == "RTSTRUCT" else "polygon"
    names = ", ".join(path.name for path in done.files)
    counts = f"{done.polygons} {unit}{'s' * (done.polygons != 1)} of {done.cases} case{'s' * (done.cases != 1)}"
    return "\n".join([f"wrote {names} in {done.files[0].parent}", f"{order.region}: {counts}", *_listed(done.findings)])


def error_text(error: Exception) -> str:
    """Return why an export was not written.

    Raises
    ------
    Exception
        The error itself, if it is none of ours.
    """
    if isinstance(error, CancelledError):
        return "cancelled: nothing written, files that were there are as they were"
    if isinstance(error, MedotterViewerError):
        return f"not written: {error}"
    raise error


def _listed(findings: Sequence[Finding]) -> list[str]:
    """Errors first; what was left out as asked always."""
    rank = {"error": 0, "warning": 1, "info": 2}
    ordered = sorted(findings, key=lambda f: (f.code != _LEFT_OUT, rank[f.severity]))
    lines = [f.message if f.code == _LEFT_OUT else f"{f.severity}: {f.message}" for f in ordered]
    return lines[:_LISTED] + ([f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else [])
