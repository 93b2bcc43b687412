"""From a scan folder and its prediction to a case: the target's contours merged, everything else kept to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scans import Scan, ScanInputs, ScanStructure
from medotter_viewer.core.segments import unique_names
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.geometry.polygons import drawable, even_odd_area, overlap_areas
from medotter_viewer.sources.scan_fields import box_of, outside_image
from medotter_viewer.sources.scan_predictions import read_scan_prediction
from medotter_viewer.sources.scans import read_scan, read_scan_volume

_LISTED = 8
_OVERLAP = 1e-9  # of an area: what rounding makes of rings that only touch


def load_scan_case(entry: CaseEntry, inputs: ScanInputs, *, images: bool = True) -> Case:
    """Return the case of a scan folder with its files read; what is wrong with them is a finding.

    Parameters
    ----------
    entry : CaseEntry
        The case.
    inputs : ScanInputs
        Its folder, rules and predicted rings.
    images : bool
        Whether to read the image too; scoring does not need it.
    """
    try:
        scan, found = read_scan(inputs.folder)
    except MedotterViewerError as error:
        broken = _finding("error", "unreadable-scan", str(error), entry)
        return Case(entry, findings=(*entry.findings, broken), pred_contours=inputs.submitted, seeds=inputs.seeds)
    findings = [*entry.findings, *(replace(f, where=_place(f.where, entry)) for f in found)]
    gt = _target(scan, inputs, entry, findings)
    channels: dict[str, Volume] = {}
    if images:
        try:
            channels["image"], noticed = read_scan_volume(scan)
            known = {(f.code, f.message) for f in found}
            findings += [replace(f, where=_place(f.where, entry)) for f in noticed if (f.code, f.message) not in known]
        except MedotterViewerError as error:
            if not any(f.code in ("scan-without-image", "scan-without-position") for f in found):
                findings.append(_finding("warning", "unreadable-file", f"image: {error}", entry))
    pred, contours = None, inputs.submitted
    if inputs.prediction is not None and contours is None:
        pred, contours, noticed = read_scan_prediction(inputs.prediction, scan, inputs, entry)
        findings += noticed
    if inputs.submitted is not None:
        outside = outside_image(entry.case_id, box_of(inputs.submitted), scan.stack)
        findings += [] if outside is None else [outside]
    structures = scan.structures or ()
    named = unique_names((one.number, one.name) for one in structures)
    return Case(
        entry,
        channels,
        pred=pred,
        findings=tuple(findings),
        gt_contours=gt,
        pred_contours=contours,
        slice_thickness_mm={n: mm for n, mm in scan.thickness_mm.items() if mm is not None},
        stack=scan.stack,
        structures={named[one.number]: one.contours for one in structures},
        structure_numbers={named[one.number]: one.number for one in structures},
        seeds=inputs.seeds,
    )


def _target(scan: Scan, inputs: ScanInputs, entry: CaseEntry, findings: list[Finding]) -> ScanContours | None:
    """The rings of every structure that is a name of the target; None where nothing was drawn in the scan."""
    target = inputs.rules.target
    if scan.structures is None:
        message = (
            f"case {entry.case_id}: {scan.folder} has no contours: there is no ground truth, the case is not scored"
        )
        findings.append(_finding("error", "no-ground-truth", message, entry))
        return None
    names = inputs.names.names_of(target)
    stripped = {name.strip() for name in names}  # DICOM does not keep blanks at the end
    exact = scan.stack is None or not any(scan.stack.sop_uids)
    found = [one for one in scan.structures if one.name in (names if exact else stripped)]
    for one in scan.structures:
        if one.damage is not None:
            severity, effect = ("error", "not scored") if one in found else ("warning", "not all of it is shown")
            findings.append(_finding(severity, "unreadable-contours", f"{one.name}: {one.damage}: {effect}", entry))
    rings = _merged(found)
    if not found or not any(map(len, rings.values())):
        there = ", ".join(one.name for one in scan.structures[:_LISTED]) or "none"
        lacking = f"its {found[0].name} has no contour on any slice" if found else f"no structure is named so ({there})"
        message = f"case {entry.case_id}: no target {target}: {lacking}; the scan scores 0 and counts"
        findings.append(_finding("warning", "scan-without-target", message, entry))
    findings += _remarks(rings, scan, entry)
    return ScanContours(rings)


def _merged(structures: list[ScanStructure]) -> dict[int, list[Ring]]:
    rings: dict[int, list[Ring]] = {}
    for one in structures:
        for number, added in one.contours.rings.items():
            rings.setdefault(number, []).extend(added)
    return dict(sorted(rings.items()))


def _remarks(rings: Mapping[int, list[Ring]], scan: Scan, entry: CaseEntry) -> list[Finding]:
    """Rings of the target without area, smaller than a pixel, or that even-odd would cut out of each other."""
    empty: list[int] = []
    tiny: list[int] = []
    nested: list[str] = []
    pixel = 0.0 if scan.stack is None else scan.stack.grid.spacing[0] * scan.stack.grid.spacing[1]
    for number, here in rings.items():
        kept, n_skipped = drawable(here)
        empty += [number] * n_skipped
        areas = [even_odd_area(ring) for ring in kept]
        tiny += [number] * sum(area < pixel for area in areas)
        if len(kept) > 1 and (total := sum(areas)) > 0:
            united = overlap_areas(kept, [])[1]
            if total - united > _OVERLAP * total:
                nested.append(f"{number} ({united:.6g} mm2)")
    found = []
    if empty:
        message = f"{len(empty)} rings of the target have no area (slice {_list(empty)}): they count for nothing"
        found.append(_finding("info", "contour-without-area", message, entry))
    if tiny:
        message = f"{len(tiny)} rings of the target are smaller than a pixel (slice {_list(tiny)}): drawn by mistake?"
        found.append(_finding("info", "contour-tiny", message, entry))
    if nested:
        message = (
            f"rings of the target overlap on slice {_list(nested)}: they are united; combined by even-odd, as "
            "RTSTRUCT viewers do, they would cut each other out"
        )
        found.append(_finding("info", "contour-united", message, entry))
    return found


def _finding(severity: str, code: str, message: str, entry: CaseEntry) -> Finding:
    return Finding(severity, code, message, where=entry.case_id)  # type: ignore[arg-type]


def _place(where: str | None, entry: CaseEntry) -> str:
    return entry.case_id if where is None or where == entry.case_id else f"{entry.case_id}: {where}"


def _list(things: list[int] | list[str]) -> str:
    words = [str(thing) for thing in dict.fromkeys(things)]
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
