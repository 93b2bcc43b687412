"""What a label remap does to the ids that really occur: mapped, dropped, listed but never seen, never labelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.metrics.overlap import label_voxels

NativeStatus = Literal["mapped", "dropped", "not_listed", "not_seen"]


@dataclass(frozen=True, slots=True)
class NativeRow:
    """What happens to one native id.

    Parameters
    ----------
    native : int
        Id in the dataset's own file.
    voxels : int
        How many carry it.
    canonical : int
        What it becomes; 0 is background.
    status : {"mapped", "dropped", "not_listed", "not_seen"}
        ``dropped`` is listed as 0; ``not_listed`` is dropped because the remap does not name it; ``not_seen`` is
        listed but does not occur.
    regions : tuple of str
        Regions that contain the canonical id.
    shared_with : tuple of int
        Other native ids that become the same canonical id.
    """

    native: int
    voxels: int
    canonical: int
    status: NativeStatus
    regions: tuple[str, ...] = ()
    shared_with: tuple[int, ...] = ()


def native_rows(voxels: Mapping[int, int], remap: Remap | None, spec: EvalSpec) -> list[NativeRow]:
    """Return one row for each native id that occurs or is listed, ascending; 0 only if it is mapped.

    Parameters
    ----------
    voxels : mapping of int to int
        Native id to voxels.
    remap : Remap or None
        None (unknown) is shown as the identity.
    spec : EvalSpec
        Names the regions.
    """
    remap = remap or Remap(None, "none")
    table = remap.table or {}
    rows = []
    background_stays = table.get(0, 0) == 0
    for native in sorted({*voxels, *table} - ({0} if background_stays else set())):
        canonical, count = remap.target(native), voxels.get(native, 0)
        status: NativeStatus = "mapped" if canonical else "dropped" if remap.is_listed(native) else "not_listed"
        rows.append(
            NativeRow(
                native,
                count,
                canonical,
                status if count else "not_seen",
                tuple(name for name, ids in spec.regions.items() if canonical and canonical in ids),
                tuple(n for n, c in table.items() if c == canonical and n != native and canonical),
            )
        )
    return rows


@dataclass(slots=True)
class DatasetAudit:
    """The remap of one dataset against all of its cases that were read."""

    form: str
    remap: Remap | None
    voxels: dict[int, int] = field(default_factory=dict)
    cases: dict[int, int] = field(default_factory=dict)
    regions_not_labelled: list[str] = field(default_factory=list)

    def to_dict(self, spec: EvalSpec) -> dict[str, Any]:
        """Return the JSON form."""
        rows = native_rows(self.voxels, self.remap, spec)
        seen = [r for r in rows if r.voxels]
        return {
            "form": self.form,
            "map": {str(k): v for k, v in sorted(((self.remap and self.remap.table) or {}).items())},
            "native": {
                str(r.native): {
                    "cases": self.cases.get(r.native, 0),
                    "voxels": r.voxels,
                    "canonical": r.canonical,
                    "status": "mapped" if r.status == "mapped" else "dropped",
                }
                for r in seen
            },
            "listed_never_seen": [r.native for r in rows if not r.voxels],
            "regions_not_labelled": self.regions_not_labelled,
        }


@dataclass(frozen=True, slots=True)
class RemapAudit:
    """The remaps of a bundle against its cases.

    Parameters
    ----------
    datasets : mapping of str to DatasetAudit
        By dataset; a case's own remap is reported under ``"<dataset> (<case_id>)"``.
    findings : tuple of Finding
        Unreadable cases, unlisted ids, ids listed but never seen.
    spec : EvalSpec
        Names the regions.
    """

    target: str
    datasets: Mapping[str, DatasetAudit]
    findings: tuple[Finding, ...]
    spec: EvalSpec

    @property
    def undecided(self) -> list[Finding]:
        """Findings about ids that are neither mapped nor listed as dropped."""
        return [f for f in self.findings if f.code == "native-id-not-listed"]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "target": self.target,
            "datasets": {name: audit.to_dict(self.spec) for name, audit in self.datasets.items()},
            "findings": [f.to_dict() for f in self.findings],
        }


def audit_remaps(cases: Iterable[Case], spec: EvalSpec, *, target: str) -> RemapAudit:
    """Return what the remaps do to the ids of some cases; each case is read once and let go.

    Parameters
    ----------
    cases : iterable of Case
        Loaded one after the other; their images are not needed.
    spec : EvalSpec
        Names the regions.
    target : str
        What was audited, for the report.
    """
    counted = (
        (case.entry, case.errors, None if case.gt_native is None else label_voxels(case.gt_native.data))
        for case in cases
    )
    return audit_counts(counted, spec, target=target)


def audit_counts(
    counted: Iterable[tuple[CaseEntry, Sequence[Finding], Mapping[int, int] | None]], spec: EvalSpec, *, target: str
) -> RemapAudit:
    """Return what the remaps do to ids that were counted already: no voxel is read.

    Parameters
    ----------
    counted : iterable of (CaseEntry, sequence of Finding, mapping of int to int or None)
        Of each case its entry with the remap, its errors, and native id to voxels (None without ground truth).
    spec, target
        As for `audit_remaps`.
    """
    datasets: dict[str, DatasetAudit] = {}
    findings: list[Finding] = []
    for entry, errors, voxels_of in counted:
        relevant = ("no-remap", "bad-remap", "no-ground-truth", "missing-file", "unreadable-file", "unsafe-path")
        findings += [f for f in errors if f.code in relevant]
        remap, name = entry.remap, entry.dataset or "(no dataset)"
        bad = any(f.code == "bad-remap" for f in errors)
        if bad or (remap is not None and remap.form == "per_case"):  # its own, not the dataset's
            name = f"{name} ({entry.case_id})"
        audit = datasets.setdefault(name, DatasetAudit(remap.form if remap else "none", remap))
        for native, voxels in (voxels_of or {}).items():
            audit.voxels[native] = audit.voxels.get(native, 0) + voxels
            audit.cases[native] = audit.cases.get(native, 0) + 1
    for name, audit in datasets.items():
        if spec.partial_label and audit.remap is not None:
            audit.regions_not_labelled = [r for r, ids in spec.regions.items() if not audit.remap.reaches(ids)]
        findings += _dataset_findings(name, audit, spec)
    return RemapAudit(target, datasets, tuple(findings), spec)


def _dataset_findings(name: str, audit: DatasetAudit, spec: EvalSpec) -> list[Finding]:
    findings = []
    for row in native_rows(audit.voxels, audit.remap, spec):
        if row.native < 0:
            message = f"{name}: native id {row.native} ({row.voxels} voxels) is negative; ids start at 0"
            findings.append(Finding("error", "negative-id", message, where=name))
        elif row.status == "not_listed":
            message = f"{name}: native id {row.native} ({row.voxels} voxels) is not listed and becomes background"
            findings.append(Finding("warning", "native-id-not-listed", message, where=name))
        elif row.status == "not_seen":
            message = f"{name}: native id {row.native} is listed (as {row.canonical}) but occurs in no case read"
            findings.append(Finding("info", "native-id-not-seen", message, where=name))
        elif row.status == "mapped" and not row.regions and not spec.is_instances:
            message = f"{name}: native id {row.native} becomes {row.canonical}, which no region contains"
            findings.append(Finding("warning", "canonical-id-unused", message, where=name))
    return findings
