"""Whether the ids that a file ``{id: name}`` names are those of the label maps: a wrong file must not score well."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import BundleError
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.sources.inferred_spec import Progress, ids_that_occur

Names = Mapping[str, tuple[int, ...]]

_LISTED = 10
_BACKGROUND = frozenset({"background", "bg"})


def unnamed_ids(gt: LabelMap, entry: CaseEntry) -> list[Finding]:
    """Return a warning where a ground truth holds ids that `CaseEntry.label_regions` does not name.

    Parameters
    ----------
    gt : LabelMap
        After the remap. Its background 0 needs no name.
    entry : CaseEntry
        Without names there is nothing to say.
    """
    return [] if entry.label_regions is None else unnamed_of(label_voxels(gt.data), entry)


def unnamed_of(voxels: Mapping[int, int], entry: CaseEntry) -> list[Finding]:
    """Return the same from the voxels of every canonical id."""
    if entry.label_regions is None:
        return []
    named = _ids(entry.label_regions)
    unnamed = {i: n for i, n in voxels.items() if i > 0 and i not in named}
    if not unnamed:
        return []
    listed = _some([f"{i} ({n} voxels)" for i, n in unnamed.items()])
    message = f"ground truth: ids that the file of names does not list: {listed}: dropped, no region counts them"
    return [Finding("warning", "id-without-name", message, where=entry.case_id)]


def check_names(names: Names, held: Collection[int], file: object) -> None:
    """Raise BundleError where ground truths hold ids, but none that has a name.

    Parameters
    ----------
    names : mapping of str to tuple of int
        Name to its ids.
    held : collection of int
        Ids of all ground truths, after their remap. Nothing but background is no error: the masks are empty.
    file : Path or str
        Where the names come from, for the message.
    """
    others = sorted(i for i in held if i > 0)
    if not others or _ids(names) & set(others):
        return
    raise BundleError(
        f"{file}: names {_words(sorted(_ids(names)))}, of which no ground truth holds any; ground truths hold "
        f"{_words(others)}; name those, or bring them to these by --remap"
    )


def check_names_of(entries: Iterable[CaseEntry], names: Names, file: object, progress: Progress | None = None) -> None:
    """Do as `check_names` for the ground truths of some cases; they are read only until one has an id with a name."""
    listed = [replace(entry, pred_path=None) for entry in entries]
    named, held = _ids(names), set[int]()
    for done, entry in enumerate(listed, 1):
        found = ids_that_occur([entry])
        if named & set(found):
            if progress is not None and done > 1:
                progress(len(listed), len(listed))  # ends the line that counts
            return
        held.update(found)
        if progress is not None and len(listed) > 1:
            progress(done, len(listed))
    check_names(names, held, file)


def ids_never_seen(names: Names, occurring: Collection[int], what: str) -> Iterator[Finding]:
    """Yield a warning for every name with an id that does not occur in any ground truth or prediction.

    Parameters
    ----------
    names : mapping of str to tuple of int
        Name to its ids; those called background are passed over.
    occurring : collection of int
        Ids of all ground truths (after their remap) and predictions.
    what : str
        Where they were looked for: ``"any ground truth or prediction"``.
    """
    for name, ids in names.items():
        if name.strip().lower() not in _BACKGROUND and (unseen := [i for i in ids if i not in occurring]):
            message = f"{name}: {_words(unseen)} named, but not found in {what}"
            yield Finding("warning", "named-id-not-seen", message, where=name)


def regions_never_seen(names: Names, scores: Iterable[CaseScore]) -> Iterator[Finding]:
    """Yield a warning for every named region that is empty in ground truth and prediction of all scored cases."""
    tables = [score.regions for score in scores if score.status == "scored"]
    seen = {name for table in tables for name, region in table.items() if region.gt_voxels or region.pred_voxels}
    if tables:
        occurring = {i for name in seen for i in names.get(name, ())}
        yield from ids_never_seen(names, occurring, "any ground truth or prediction of the scored cases")


def _ids(names: Names) -> set[int]:
    return {i for ids in names.values() for i in ids}


def _words(ids: list[int]) -> str:
    return ("id " if len(ids) == 1 else "ids ") + _some(list(map(str, ids)))


def _some(words: list[str]) -> str:
    return ", ".join(words[:_LISTED]) + (f", ... ({len(words)} in all)" if len(words) > _LISTED else "")
