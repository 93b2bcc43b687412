"""A folder of DICOM images, or one of them, as a volume of parallel slices.

Arrays are (columns, rows, slices), slices along the normal of the image plane, so that their affine is right-handed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.dicom.choice import ANY, SeriesChoice, fits
from medotter_viewer.formats.dicom.files import SeriesFiles, find_series, has_images, kind_of, read_header, series_of
from medotter_viewer.formats.dicom.multiframe import planes_of
from medotter_viewer.formats.dicom.pixels import intensities, unit_of
from medotter_viewer.formats.dicom.planes import Plane
from medotter_viewer.formats.dicom.stack import PlaneStack, stacked
from medotter_viewer.formats.whole import whole_labels

NAME = "dicom_series"


def matches_folder(path: Path) -> bool:
    """Tell whether a folder itself (not its subfolders) holds a DICOM image."""
    return has_images(path)


def read_stack(path: Path, choice: SeriesChoice = ANY) -> tuple[SliceStack, list[Finding]]:
    """Return where the slices of a series lie, from their headers alone, and what was left out or noticed.

    Parameters
    ----------
    path : Path
        A folder that holds an image series, or one DICOM image.
    choice : SeriesChoice, optional
        Which series, where the folder holds several.

    Raises
    ------
    ReadError
        If there is no series, or several and none of them is chosen, or its slices make no volume.
    """
    kept, findings = _placed(path, choice)
    return kept.stack, findings


def read_grid(path: Path, choice: SeriesChoice = ANY) -> tuple[Grid, list[Finding]]:
    """Return where the voxels of a series lie, without reading them; parameters as of `read_stack`.

    Raises
    ------
    ReadError
        As `read_stack` does.
    """
    stack, findings = read_stack(path, choice)
    return stack.grid, findings


def read_volume(path: Path, choice: SeriesChoice = ANY) -> tuple[Volume, list[Finding]]:
    """Return the image of a series, each slice scaled as it says, and what was noticed; parameters as of `read_stack`.

    Raises
    ------
    ReadError
        As `read_stack` does, or if pixels are missing or damaged.
    MissingDependencyError
        If the package that decodes them is not installed.
    """
    kept, findings = _placed(path, choice)
    data, noticed = intensities(kept, path)
    return Volume(data, kept.stack.grid, unit_of(kept.planes[0]), rgb=data.ndim == 4), findings + noticed


def read_labels(path: Path, choice: SeriesChoice = ANY) -> tuple[LabelMap, list[Finding]]:
    """Return the values of a series as label ids, and what was noticed; parameters as of `read_stack`.

    Raises
    ------
    ReadError, MissingDependencyError
        As `read_volume` does.
    LabelError
        If values are no whole numbers, or are colours.
    """
    kept, findings = _placed(path, choice)
    if kept.planes[0].size[2] != 1:
        raise LabelError(f"{path}: colours, expected label ids (one value a pixel)")
    data, noticed = intensities(kept, path, as_labels=True)
    whole, remarks = whole_labels(data, path)
    return LabelMap(whole, kept.stack.grid), findings + noticed + remarks


def slice_items(path: Path, volume: Volume | None = None, choice: SeriesChoice = ANY) -> list[dict[str, Any]]:
    """Return what ``info`` lists for each slice of a series.

    Parameters
    ----------
    path, choice
        As for `read_stack`.
    volume : Volume, optional
        What `read_volume` gave for `path`; read here otherwise.

    Returns
    -------
    list of dict
        In the order of the volume: ``slice`` (1-based), ``file`` (its name), ``world`` (RAS+ mm of its first pixel;
        None if the file has no position) and ``range`` ([min, max] in the image's unit; None for colours).

    Raises
    ------
    ReadError, MissingDependencyError
        As `read_volume` does.
    """
    kept, _ = _placed(path, choice)
    if volume is None:
        volume = read_volume(path, choice)[0]
    items: list[dict[str, Any]] = []
    for place, plane in enumerate(kept.planes):
        x, y, z = (float(v) for v in kept.stack.origins_lps[place])
        world = [-x + 0.0, -y + 0.0, z] if kept.stack.grid.has_world else None
        values = volume.data[:, :, place]
        limits = None if volume.rgb else [float(values.min()), float(values.max())]
        items.append({"slice": place + 1, "file": plane.header.path.name, "world": world, "range": limits})
    return items


def _placed(path: Path, choice: SeriesChoice) -> tuple[PlaneStack, list[Finding]]:
    """Planes of a folder's series or of a file, in order."""
    findings: list[Finding] = []
    if path.is_dir():
        series, findings = _chosen(path, choice)
        headers = list(series.headers)
    else:
        headers = [read_header(path)]
        if (kind := kind_of(headers[0])) != "image":
            raise ReadError(f"{path}: a DICOM object of kind {kind}, expected an image")
        if choice.named is not None and not fits(one := series_of(headers), choice.named):
            raise ReadError(f"{path}: --series {choice.named!r}, but it is of {one.describe()}")
    planes: list[Plane] = []
    for header in headers:
        found, noticed = planes_of(header)
        planes += found
        findings = findings + noticed
    kept, noticed = stacked(planes, path)
    return kept, findings + noticed


def _chosen(folder: Path, choice: SeriesChoice) -> tuple[SeriesFiles, list[Finding]]:
    series, findings = find_series(folder)
    if not series:
        damaged = f"; {findings[0].message}" if findings else ""
        raise ReadError(f"{folder}: no DICOM images{damaged}")
    picked, noticed = choice.pick(series, folder)
    return picked, [*findings, *noticed]
