"""Ground truth and prediction, of which at least one names its structures: ids that mean the same in both."""

from __future__ import annotations

from dataclasses import replace

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.reprs import NO_OUTLINE, NO_PIXEL, NOT_PLACED
from medotter_viewer.core.segments import Segments, shared_ids
from medotter_viewer.errors import LabelError
from medotter_viewer.geometry.lattice import common_grid, embedded
from medotter_viewer.sources.segment_files import OTHER_FRAME, named_labels

Part = LabelMap | Segments
Regions = dict[str, tuple[int, ...]]

_GT, _PRED = "ground truth", "prediction"
_WITHOUT_VOXEL = {
    NOT_PLACED: "none of its contours lies on the image",
    NO_PIXEL: "its contours hold no pixel centre",
    NO_OUTLINE: "it is points or open lines alone",
}


def named_pair(
    gt: Part | None, pred: Part | None, entry: CaseEntry, findings: list[Finding]
) -> tuple[LabelMap | None, LabelMap | None, Regions | None, dict[str, str]]:
    """Return both as label maps, the ids of each name, and the names that have no score with the rule why.

    Plain label maps come back as they are, without names.

    Structures are matched by name. Each combination of structures that share a voxel has an id, so that overlapping
    ones are scored right; a structure of one file alone is empty in the other.

    Parameters
    ----------
    gt, pred : LabelMap, Segments or None
        As read.
    entry : CaseEntry
        Its `segment_ids` and `label_regions` are used.
    findings : list of Finding
        Extended by what is noticed; an error where names and ids cannot be matched.
    """
    named = {part: found for part, found in ((_GT, gt), (_PRED, pred)) if isinstance(found, Segments)}
    if not named:
        return _plain(gt), _plain(pred), None, {}
    if entry.label_regions is not None and not any(isinstance(part, LabelMap) for part in (gt, pred)):
        message = "names of ids were given, but the files name their structures: theirs are used"
        findings.append(Finding("warning", "labels-not-used", message, where=entry.case_id))
    for part, found in ((_GT, gt), (_PRED, pred)):
        if isinstance(found, LabelMap):
            made = _by_names(part, found, named, entry, findings)
            if made is None:
                return None, None, None, {}
            named[part] = made
    if not _is_one_frame(named, entry, findings):
        return None, None, None, {}
    _note_lonely(named, entry, findings)
    ids, regions = shared_ids(named[part] for part in (_GT, _PRED) if part in named)
    if entry.segment_ids is not None:
        ids = dict(entry.segment_ids)
        names = dict.fromkeys(name for combination in ids for name in combination)
        regions = {name: tuple(i for c, i in ids.items() if name in c) for name in names}
    try:
        maps = {part: found.label_map(ids) for part, found in named.items()}
    except LabelError as error:
        findings.append(Finding("error", "segment-without-id", str(error), where=entry.case_id))
        return None, None, None, {}
    unscorable = _unscorable(named, entry, findings)
    return (*_on_common_grid(maps.get(_GT), maps.get(_PRED), entry, findings), regions, unscorable)


def _plain(part: Part | None) -> LabelMap | None:
    return part if isinstance(part, LabelMap) else None


def _by_names(
    part: str, found: LabelMap, named: dict[str, Segments], entry: CaseEntry, findings: list[Finding]
) -> Segments | None:
    """A plain label map by the names of its ids; None, with an error, where nothing says them."""
    if entry.label_regions is None:
        names = ", ".join(dict.fromkeys(name for other in named.values() for name in other.names.values()))
        message = (
            f"the {part} has plain ids, the other file names its structures ({names[:200]}): nothing says which id is "
            "which; give --labels NAMES.yaml with {id: name}"
        )
        findings.append(Finding("error", "ids-without-names", message, where=entry.case_id))
        return None
    if found.data.size and int(found.data.min()) < 0:
        message = f"the {part} holds negative ids, expected ids of 0 or more"
        findings.append(Finding("error", "ids-outside-label-space", message, where=entry.case_id))
        return None
    segments, noticed = named_labels(found, entry.label_regions, part)
    findings += [replace(f, where=entry.case_id) for f in noticed]
    return segments


def _is_one_frame(named: dict[str, Segments], entry: CaseEntry, findings: list[Finding]) -> bool:
    """Whether both lie in one coordinate system; voxels that coincide count more than a name that differs."""
    frames = {part: found.frame_of_reference_uid for part, found in named.items()}
    if len(named) < 2 or None in frames.values() or frames[_GT] == frames[_PRED]:
        return True
    message = f"the {_GT} is in frame of reference {frames[_GT]}, the {_PRED} in {frames[_PRED]}"
    if common_grid(named[_GT].grid, named[_PRED].grid) is not None:
        message += "; their voxels coincide, so that they are taken for one"
        findings.append(Finding("warning", OTHER_FRAME, message, where=entry.case_id))
        return True
    message += ": their coordinates have nothing to do with each other; register them first"
    findings.append(Finding("error", OTHER_FRAME, message, where=entry.case_id))
    return False


def _unscorable(named: dict[str, Segments], entry: CaseEntry, findings: list[Finding]) -> dict[str, str]:
    """Names of what is drawn and yet has no voxel, each with the rule of its missing score."""
    rules: dict[str, str] = {}
    outlined = {name for found in named.values() for names in found.combinations().values() for name in names}
    for part, found in named.items():
        for number, rule in found.unscorable.items():
            name = found.names[number]
            if rule == NO_OUTLINE and name in outlined:
                continue  # beside a drawn structure a stray point is a miss
            rules.setdefault(name, rule)
            message = f"{name}: drawn in the {part}, but {_WITHOUT_VOXEL[rule]}: it is not empty, and has no score"
            findings.append(Finding("warning", "structure-not-scored", message, where=entry.case_id))
    return rules


def _note_lonely(named: dict[str, Segments], entry: CaseEntry, findings: list[Finding]) -> None:
    """Say which structures only one file has: a name spelt otherwise would score 0."""
    if len(named) < 2:
        return
    for part, other in ((_GT, _PRED), (_PRED, _GT)):
        theirs = set(named[other].names.values())
        lonely = [name for name in named[part].names.values() if name not in theirs]
        if lonely:
            shown = ", ".join(lonely[:10]) + (", ..." if len(lonely) > 10 else "")
            message = f"only the {part} has {shown}: taken as empty in the {other}; names are matched as written"
            findings.append(Finding("warning", "structure-in-one-file", message, where=entry.case_id))


def _on_common_grid(
    gt: LabelMap | None, pred: LabelMap | None, entry: CaseEntry, findings: list[Finding]
) -> tuple[LabelMap | None, LabelMap | None]:
    """Both on one grid where their voxels coincide: files of segments leave empty slices out."""
    if gt is None or pred is None or gt.grid.shape == pred.grid.shape:
        return gt, pred
    grid = common_grid(gt.grid, pred.grid)
    if grid is None:
        return gt, pred  # said where grids are compared
    for part, found in ((_GT, gt), (_PRED, pred)):
        if found.grid.shape != grid.shape:
            message = (
                f"the {part} covers {' x '.join(map(str, found.grid.shape))} of {' x '.join(map(str, grid.shape))} "
                "voxels of one lattice: the rest of it is empty"
            )
            findings.append(Finding("info", "segments-cropped", message, where=entry.case_id))
    return embedded(gt, grid), embedded(pred, grid)
