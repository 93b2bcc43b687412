"""Write the prediction of one case as an RTSTRUCT: whole and read back voxel for voxel, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.structures import Contour, Roi
from medotter_viewer.errors import LabelError, MedotterViewerError, WriteError
from medotter_viewer.export.case_rings import why_no_prediction
from medotter_viewer.export.drawn_rings import with_drawn_rings
from medotter_viewer.export.polygon_files import Exported
from medotter_viewer.export.replacing import unfinished
from medotter_viewer.export.structure_rings import StructureRings, label_rings, numbered_on, on_stack, polygon_rings
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.formats.dicom.rtstruct_writer import Algorithm, WrittenRoi, write_structures
from medotter_viewer.formats.dicom.series import read_stack
from medotter_viewer.geometry.contour_masks import fill_structures
from medotter_viewer.geometry.numbered_slices import slice_indices
from medotter_viewer.scoring.lung import predicted_contours, target_ids
from medotter_viewer.sources.segment_files import is_image_series, series_choice

# Told apart with every common colour blindness (Okabe and Ito).
_COLORS = (
    *((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66)),
    *((0, 114, 178), (213, 94, 0), (204, 121, 167), (153, 153, 153)),
)


def export_structures(
    case: Case,
    out: Path,
    *,
    spec: EvalSpec,
    regions: Sequence[str],
    generated_only: bool = False,
    as_drawn: bool = False,
) -> Exported:
    """Write regions of a case's prediction as the structures of an RTSTRUCT.

    Parameters
    ----------
    case : Case
        Its image must be a series of DICOM files: that of a scan with `CT/`, or its first channel. Slices may be
        oblique.
    out : Path
        ``FILE.dcm``. A file that is there is replaced at the end.
    spec : EvalSpec
        Gives the ids of the regions.
    regions : sequence of str
        Names of the structures, numbered from 1.
    generated_only, as_drawn : bool
        As for `export_cases`.

    Returns
    -------
    Exported
        `polygons` counts the contours.

    Raises
    ------
    WriteError
        If there is no prediction or no series, the prediction does not lie on its images, the file cannot be written,
        or other voxels would be read back; nothing is changed then.
    RegionNotFoundError
        If there is no such region.

    Notes
    -----
    Label maps become rings along the edges of their pixels, a hole a keyhole; polygons stay as they are. All are
    ``CLOSED_PLANAR`` on the slice they lie on. (3006,0036) is AUTOMATIC for what a model made, MANUAL for what a person
    did, SEMIAUTOMATIC for both, and empty for what came out of a file of polygons.
    """
    for region in regions:
        spec.check_region(region)
    if out.suffix.lower() != ".dcm":
        raise WriteError(f"{out}: expected a name that ends in .dcm")
    try:
        stack = _series(case)
        parts, findings = _parts(case, spec, regions, stack, generated_only=generated_only, as_drawn=as_drawn)
        rois = [_roi(place, part, stack) for place, part in enumerate(parts)]
        with unfinished({"dcm": out}) as names:
            findings += write_structures(names["dcm"], rois, stack)
            _check(names["dcm"], out, parts, stack)
            names["dcm"].replace(out)
    except WriteError:
        raise
    except MedotterViewerError as error:
        raise WriteError(f"case {case.case_id}: not written: {error}") from error
    except OSError as error:
        raise WriteError(f"{out}: cannot be written: {error.strerror or error}") from error
    return Exported((out,), 1, sum(len(one.roi.contours) for one in rois), tuple(findings))


def _series(case: Case) -> SliceStack:
    """The images that contours name."""
    if case.stack is not None and all(case.stack.sop_uids):
        return case.stack
    image = next(iter(case.entry.channels.values()), None)
    if case.stack is not None or image is None or not is_image_series(image):
        what = "it has no image" if image is None else f"{image} is none"
        raise WriteError(
            f"case {case.case_id}: not written: an RTSTRUCT refers to the series of DICOM images that it was drawn on, "
            f"and {what}; give its folder by --image, or write FILE.csv"
        )
    return read_stack(image, series_choice(case.entry))[0]


def _parts(
    case: Case, spec: EvalSpec, regions: Sequence[str], stack: SliceStack, *, generated_only: bool, as_drawn: bool
) -> tuple[list[StructureRings], list[Finding]]:
    """The regions on the slices, and what was noticed."""
    if case.pred is None and case.pred_contours is None:
        raise WriteError(f"case {case.case_id}: not written: {why_no_prediction(case)}")
    if case.stack is not None and case.pred is not None:
        predicted_contours(case, spec)  # says what is wrong with its ids
    labels = None if case.pred is None else on_stack(case.pred, stack)
    parts, findings = [], []
    for region in regions:
        one, noticed = with_drawn_rings(case, region, spec.regions[region]) if as_drawn else (case, [])
        findings += noticed
        if one.pred_contours is not None:
            part = polygon_rings(
                one.pred_contours,
                region,
                stack,
                _index_of(case, stack, is_drawn=case.pred_contours is None),
                file=str(case.entry.pred_path or ""),
                generated_only=generated_only,
            )
        elif labels is not None:
            ids = target_ids(spec) if case.stack is not None else spec.regions[region]
            part = label_rings(labels, ids, region)
        else:
            raise LabelError(f"region {region}: neither polygons nor a label map")
        parts.append(part)
        findings += part.findings
    return parts, findings


def _index_of(case: Case, stack: SliceStack, *, is_drawn: bool) -> dict[int, int]:
    """Slice numbers of a case's polygons, with the index of their image."""
    if case.stack is not None:
        return slice_indices(stack)
    labels = case.pred or case.gt
    if is_drawn or labels is None:
        return {index + 1: index for index in range(len(stack))}
    return numbered_on(labels.grid, stack)


def _roi(place: int, part: StructureRings, stack: SliceStack) -> WrittenRoi:
    contours = tuple(
        Contour(stack.to_lps(ring, index), "CLOSED_PLANAR", stack.sop_uids[index])
        for index, rings in sorted(part.rings.items())
        for ring in rings
    )
    roi = Roi(place + 1, part.name, _COLORS[place % len(_COLORS)], contours, len(contours))
    return WrittenRoi(roi, _algorithm(part.origins))


def _algorithm(origins: Iterable[Origin]) -> Algorithm:
    found = set(origins)
    if "edited" in found:
        return "MANUAL" if found == {"edited"} else "SEMIAUTOMATIC"
    return "AUTOMATIC" if found == {"model"} else ""


def _check(part: Path, out: Path, written: Sequence[StructureRings], stack: SliceStack) -> None:
    """Raise WriteError unless the file is read back with the same voxels of every structure."""
    structures, _ = read_structures(part)
    segments, _ = fill_structures(structures, stack)
    for number, one in enumerate(written, 1):
        codes = [code for code, members in segments.members.items() if number in members]
        for index in range(len(stack)):
            found = np.isin(segments.codes[:, :, index], codes)
            if n_other := int(np.count_nonzero(found != one.mask(index))):
                raise WriteError(
                    f"{out}: not written: {one.name} is read back with {n_other} other pixels on slice {index + 1}; "
                    "this is a defect"
                )
