"""The facts of DICOM: a series slice by slice, the structures of an RTSTRUCT, the segments of a segmentation."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.volume import Volume
from medotter_viewer.formats.dicom import rtstruct, seg, series
from medotter_viewer.formats.dicom.choice import ANY, HOW, SeriesChoice, quoted, word_for
from medotter_viewer.formats.dicom.files import find_series, sop_kind
from medotter_viewer.formats.dicom.roi_areas import roi_items
from medotter_viewer.sources.info.facts import Facts, facts, grid_facts, grid_notes, value_range
from medotter_viewer.sources.info.volumes import segment_facts


def dicom_facts(path: Path) -> Facts:
    """Return the facts of one DICOM file, whatever it holds."""
    kind = sop_kind(path)
    if kind == "rtstruct":
        items, notes = roi_items(path)
        frames = rtstruct.read_structures(path)[0].frame_of_reference_uids
        return {**facts(path, rtstruct.NAME, items=items, notes=notes), "frame_of_reference": ", ".join(frames) or None}
    if kind == "seg":
        return segment_facts(path, seg.NAME, *seg.read_segments(path))
    return series_facts(path)


def images_facts(path: Path) -> Facts:
    """Return the facts of the series in a folder; where it holds several, which ones, and how to choose."""
    found, notes = find_series(path)
    if len(found) < 2:
        return series_facts(path)
    items = [
        {
            "kind": "series",
            "number": one.number,
            "modality": one.modality or None,
            "description": one.description or None,
            "slices": one.n_images,
            "uid": one.uid or None,
        }
        for one in found
    ]
    words = [word for one in found if (word := word_for(one, found)) is not None]
    message = f"{len(found)} image series; {HOW}: {', '.join(f'--series {quoted(word)}' for word in words)}"
    return facts(path, "dicom_folder", items=items, notes=[*notes, Finding("info", "several-series", message)])


def series_facts(path: Path, choice: SeriesChoice = ANY) -> Facts:
    """Return the facts of a series in a folder, or of one image file: what each slice holds, along the normal."""
    volume, notes = series.read_volume(path, choice)
    items = [] if volume.rgb else series.slice_items(path, volume, choice)
    stack, _ = series.read_stack(path, choice)
    told = {"frame_of_reference": stack.frame_of_reference_uid}
    return {**_image_facts(path, volume, notes), **told, "items": items}


def _image_facts(path: Path, volume: Volume, notes: list[Finding]) -> Facts:
    return {
        **facts(path, series.NAME if path.is_dir() else "dicom", notes=notes + grid_notes(volume.grid, path)),
        **grid_facts(volume.grid),
        "dtype": str(volume.data.dtype),
        "unit": volume.unit or None,
        "channels": ["red", "green", "blue"] if volume.rgb else [],
        "range": value_range(volume),
    }
