"""What the label remap did to each native id of a case, in words."""

from __future__ import annotations

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.evaluation.remap_audit import NativeRow
from medotter_viewer.ui.widgets.cells import Cell, Column, Tone
from medotter_viewer.ui.widgets.volumes import VolumeUnit

DROPPED = "✕ background"
TARGET_COLUMN = 3
"""Says what an id becomes."""
_STATUS = {
    "mapped": "mapped",
    "dropped": "dropped (listed as 0)",
    "not_listed": "not listed: dropped",
    "not_seen": "listed, not in this case",
}
_FORMS = {
    "dict": "dict in task.yaml",
    "list": "documentary list: identity",
    "none": "no label_remap: identity",
    "per_case": "this case's own",
}


def remap_columns(unit: VolumeUnit) -> list[Column]:
    """Return the columns."""
    return [
        Column("native\nid", "id in the dataset's own file; background 0 is left out", numeric=True),
        Column("voxels", "how many voxels of this case carry it", numeric=True),
        Column(f"volume\n[{unit.name}]", numeric=True),
        Column(
            "→ canonical",
            "what it becomes, and the regions that contain it; double-click to try another id",
            stretch=True,
            least=104,
        ),
        Column("status", "what the remap does to it", least=124),
    ]


def remap_cells(
    row: NativeRow,
    unit: VolumeUnit,
    voxel_mm3: float,
    *,
    unknown: bool = False,
    was: str = "",
    can_edit: bool = False,
) -> list[Cell]:
    """Return the line of a native id.

    Parameters
    ----------
    row : NativeRow
        The id and what it becomes.
    unit, voxel_mm3
        Of volumes.
    unknown : bool
        Whether the bundle does not say what the ids mean.
    was : str
        What it became before the change that is tried; empty where none is.
    can_edit : bool
        Whether another target may be tried.
    """
    gone = row.voxels > 0 and row.canonical == 0 and not unknown
    tone: Tone = "quiet" if not row.voxels or gone else "plain"
    status = status_text(row) if not unknown else "unknown"
    if was:
        status = f"what if, was {was}; {status}"
    return [
        Cell(str(row.native), tone=tone, italic=gone),
        Cell(f"{row.voxels:,}" if row.voxels else NOTHING, tone=tone, italic=gone),
        Cell(unit.text(row.voxels * voxel_mm3) if row.voxels else NOTHING, tone=tone, italic=gone),
        Cell(
            "?" if unknown else canonical_text(row),
            "double-click to try another id" * can_edit,
            tone=tone,
            bold=bool(was),
            italic=gone,
        ),
        Cell(status, status, "error" if row.native < 0 else tone, italic=gone),
    ]


def fate_text(remap: Remap | None, native: int) -> str:
    """Return what a remap makes of an id, in a word or two.

    Examples
    --------
    >>> fate_text(Remap({1: 4, 2: 0}, "dict"), 1), fate_text(Remap({1: 4, 2: 0}, "dict"), 2)
    ('4', 'dropped')
    >>> fate_text(None, 3)
    'not listed'
    """
    if remap is None or not remap.is_listed(native):
        return "not listed"
    return str(remap.target(native) or "dropped")


def canonical_text(row: NativeRow) -> str:
    """Return the canonical id with the regions that contain it."""
    if row.canonical == 0:
        return DROPPED
    return f"{row.canonical}  {', '.join(row.regions) or '(in no region)'}"


def status_text(row: NativeRow) -> str:
    """Return what the remap does to an id.

    Examples
    --------
    >>> status_text(NativeRow(7, 120, 2, "mapped", ("liver",), (8, 9)))
    'mapped, shares its target with ids 8, 9'
    >>> status_text(NativeRow(24, 120, 0, "not_listed"))
    'not listed: dropped'
    """
    text = "negative id: ids start at 0" if row.native < 0 else _STATUS[row.status]
    if row.shared_with:
        ids = "ids" if len(row.shared_with) > 1 else "id"
        text += f", shares its target with {ids} {', '.join(map(str, row.shared_with))}"
    return text


def remap_header(entry: CaseEntry | None) -> str:
    """Return dataset and form of the remap, or that it is unknown and what to do."""
    if entry is None:
        return "No case is open."
    dataset = entry.dataset or "(no dataset)"
    if entry.remap is None:
        return (
            f"{dataset} · the label remap is unknown: the bundle does not say what these native ids mean. They are "
            "shown as they are and not scored. Give --remap FILE, or --remap identity if they are canonical already."
        )
    form = _FORMS.get(entry.remap.form) or f"given by the user: {entry.remap.source}"
    return f"{dataset} · {form}"


def dropped_text(rows: list[NativeRow], unit: VolumeUnit, voxel_mm3: float) -> str:
    """Return how much of what is labelled becomes background."""
    seen = [row for row in rows if row.voxels]
    gone = [row for row in seen if row.canonical == 0]
    if not seen:
        return "no labelled voxels in this case"
    if not gone:
        return f"{len(seen)} ids in this case, none dropped"
    voxels, total = sum(r.voxels for r in gone), sum(r.voxels for r in seen)
    share = f"{100 * voxels / total:.3g} % of the labelled volume"
    return f"{len(gone)} of {len(seen)} ids dropped: {unit.text(voxels * voxel_mm3)} {unit.name}, {share}"
