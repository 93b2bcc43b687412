"""What the dataset.json of nnU-Net says, in both of its versions and in that of the Medical Segmentation Decathlon.

References
----------
MIC-DKFZ/nnUNet, documentation/dataset_format.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medotter_viewer.core.key_reader import to_id
from medotter_viewer.errors import BundleError
from medotter_viewer.formats.config_files import read_json

_IGNORE = "ignore"
_ENDING = re.compile(r"(\.[A-Za-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """What dataset.json says.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Of the dataset; empty where it has none.
    regions : mapping of str to tuple of int
        Name to ids, without the background.
    ignored : tuple of int
        Ids of voxels that count neither for nor against a prediction.
    channels : mapping of int to str
        Number of an image to its name.
    ending : str
        Suffix of label maps and predictions.
    lists_files : bool
        Whether it names the files of its cases, which then may lie anywhere.
    """

    path: Path
    name: str
    regions: Mapping[str, tuple[int, ...]]
    ignored: tuple[int, ...] = ()
    channels: Mapping[int, str] = field(default_factory=dict)
    ending: str = ".nii.gz"
    lists_files: bool = False


def read_dataset_file(path: Path) -> DatasetFile:
    """Return what a dataset.json says.

    Raises
    ------
    BundleError
        If it is not JSON, has a key twice, or a key holds something unusable.
    ReadError
        If it cannot be read.
    """
    content = read_json(path)
    if not isinstance(content, Mapping):
        raise BundleError(f"{path}: got {type(content).__name__}, expected an object")
    regions, ignored = _regions(content.get("labels"), path)
    ending = content.get("file_ending", ".nii.gz")
    if not isinstance(ending, str) or not _ENDING.fullmatch(ending):
        raise BundleError(f"{path}: file_ending: got {ending!r}, expected a suffix such as '.nii.gz'")
    channels = content.get("channel_names", content.get("modality", {}))
    if not isinstance(channels, Mapping):
        raise BundleError(f"{path}: channel_names: got {channels!r}, expected an object of number to name")
    return DatasetFile(
        path,
        name=str(content.get("name") or ""),
        regions=regions,
        ignored=ignored,
        channels={to_id(number, f"{path}: channel_names"): str(name) for number, name in sorted(channels.items())},
        ending=ending,
        lists_files=isinstance(content.get("dataset"), Mapping),
    )


def _regions(labels: Any, path: Path) -> tuple[dict[str, tuple[int, ...]], tuple[int, ...]]:
    """Regions and ignored ids of ``{"0": "background", "1": "liver"}`` or ``{"background": 0, "tumour": [1, 2]}``."""
    if not isinstance(labels, Mapping) or not labels:
        raise BundleError(f"{path}: labels: got {labels!r}, expected an object of name to id")
    is_first = all(isinstance(value, str) for value in labels.values())  # version 1: id to name
    pairs = [(value, key) if is_first else (key, value) for key, value in labels.items()]
    regions: dict[str, tuple[int, ...]] = {}
    ignored: tuple[int, ...] = ()
    for name, ids in pairs:
        listed = ids if isinstance(ids, list) else [ids]
        found = tuple(to_id(one, f"{path}: labels: {name}") for one in listed)
        if name == _IGNORE:
            ignored = found
        elif found != (0,):
            regions[str(name)] = (*regions.get(str(name), ()), *(i for i in found if i))
    if empty := [name for name, ids in regions.items() if not ids]:
        raise BundleError(f"{path}: labels: {', '.join(empty)}: got no ids, expected at least one")
    if not regions:
        raise BundleError(f"{path}: labels: names nothing but the background")
    return regions, ignored
