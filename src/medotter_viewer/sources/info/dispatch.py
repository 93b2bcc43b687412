"""Which function tells the facts of a path."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.errors import ReadError
from medotter_viewer.formats import registry, seg_nrrd
from medotter_viewer.formats.dicom import file as dicom_file
from medotter_viewer.formats.dicom import series as dicom_series
from medotter_viewer.formats.dicom.choice import SeriesChoice
from medotter_viewer.sources import opening
from medotter_viewer.sources.bundle import Bundle, find_bundle
from medotter_viewer.sources.info import submissions
from medotter_viewer.sources.info.dicom import dicom_facts, images_facts, series_facts
from medotter_viewer.sources.info.facts import Facts
from medotter_viewer.sources.info.folders import bundle_facts, cases_facts
from medotter_viewer.sources.info.lists import json_facts
from medotter_viewer.sources.info.scans import scan_facts, scans_facts
from medotter_viewer.sources.info.volumes import segment_facts, volume_facts
from medotter_viewer.sources.scans import find_scans, is_scan
from medotter_viewer.sources.segment_files import structure_file


def path_info(path: Path, *, series: str | None = None) -> Facts:
    """Return what a file or folder is, in the JSON form of ``info``.

    Parameters
    ----------
    path : Path
        Which.
    series : str, optional
        Of a folder with several image series of DICOM the one that is wanted: its number, its description, its UID or
        the end of it. Without it they are listed.

    Raises
    ------
    ReadError
        If it is not there, no reader knows it, or it is damaged; also if a series is named that it does not have.
    BundleError
        If it is a bundle whose manifest cannot be used.
    """
    if series is None:
        return _folder_info(path) if path.is_dir() else _file_info(path)
    if not (path.is_dir() and dicom_series.matches_folder(path)):
        there = "a folder without images of DICOM" if path.is_dir() else "no folder"
        raise ReadError(f"{path}: {there}, but --series chooses one of the series in a folder; leave it out")
    return series_facts(path, SeriesChoice(series))


def _folder_info(path: Path) -> Facts:
    bundle_dir = find_bundle(path)
    if bundle_dir is not None:
        return bundle_facts(path, Bundle(bundle_dir))
    if is_scan(path):
        return scan_facts(path)
    if find_scans(path):
        return scans_facts(path)
    if opening.holds_cases(path):
        return cases_facts(path)
    if dicom_series.matches_folder(path):
        return images_facts(path)
    if (file := structure_file(path)) is not None:
        return dicom_facts(file)
    if not any(one.matches_folder(path) for one in registry.FOLDERS):
        raise ReadError(f"{opening.nothing_known(path)}, or a single file of it")
    return volume_facts(path)


def _file_info(path: Path) -> Facts:
    if path.suffix.lower() == ".json" and path.is_file():
        return json_facts(path)
    if path.suffix.lower() in submissions.SUFFIXES and path.is_file():
        return submissions.submission_facts(path)
    readers = registry.format_of(path)
    if readers is dicom_file:
        return dicom_facts(path)
    if readers is seg_nrrd:
        return segment_facts(path, seg_nrrd.NAME, *seg_nrrd.read_segments(path))
    return volume_facts(path)
