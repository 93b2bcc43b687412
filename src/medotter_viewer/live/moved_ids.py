"""Which native ids become something else by a changed remap, and how much they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medotter_viewer.core.labels import Remap
from medotter_viewer.live.known_tables import KnownTables


@dataclass(frozen=True, slots=True)
class MovedId:
    """One native id that becomes something else.

    Parameters
    ----------
    dataset : str
        Dataset, with the case in brackets where it has a remap of its own.
    native : int
        Id in the dataset's own files.
    before, after : int or None
        What it became and becomes; 0 is background, None not listed (background too).
    cases, voxels : int
        In how many of the cases with a table it occurs, and how many voxels it has there.
    volume_mm3 : float
        Their volume.
    """

    dataset: str
    native: int
    before: int | None
    after: int | None
    cases: int
    voxels: int
    volume_mm3: float


def moved_ids(
    known: KnownTables,
    remaps: Mapping[str, tuple[Remap | None, Remap | None]],
    voxels: Mapping[str, Mapping[int, int]],
) -> tuple[MovedId, ...]:
    """Return the native ids that become something else, by dataset and ascending.

    Parameters
    ----------
    known : KnownTables
        The cases.
    remaps : mapping of str to (Remap or None, Remap or None)
        Case id to its remap before and after.
    voxels : mapping of str to mapping of int to int
        Case id to native id to voxels.
    """
    found: dict[tuple[str, int], MovedId] = {}
    for case_id, (before, after) in remaps.items():
        if before is after:
            continue
        entry = known.entries[case_id]
        own = before is not None and before.form == "per_case"
        name = f"{entry.dataset or '(no dataset)'} ({case_id})" if own else entry.dataset or "(no dataset)"
        size = known.facts[case_id].grid.voxel_volume_mm3
        listed = {*((before and before.table) or {}), *((after and after.table) or {})}
        for native in sorted({*voxels[case_id], *listed}):
            old, new = _fate(before, native), _fate(after, native)
            if old == new:
                continue
            count = voxels[case_id].get(native, 0)
            so_far = found.get((name, native)) or MovedId(name, native, old, new, 0, 0, 0.0)
            found[name, native] = MovedId(
                name,
                native,
                old,
                new,
                so_far.cases + bool(count),
                so_far.voxels + count,
                so_far.volume_mm3 + count * size,
            )
    return tuple(found[key] for key in sorted(found))


def _fate(remap: Remap | None, native: int) -> int | None:
    """What an id becomes; None where it is not listed."""
    return None if remap is None or not remap.is_listed(native) else remap.target(native)
