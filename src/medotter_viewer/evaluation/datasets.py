"""Datasets by name: a bundle as samples whose ground truth is remapped, and what other packages register."""

from __future__ import annotations

import importlib.metadata
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from medotter_viewer.core.case import Case
from medotter_viewer.core.labels import IntArray
from medotter_viewer.errors import (
    BundleError,
    BundleNotFoundError,
    GridMismatchError,
    MedotterViewerError,
    ReadError,
    UnsupportedTaskError,
    UsageError,
)
from medotter_viewer.evaluation.predicted import image_of
from medotter_viewer.evaluation.sample import Sample
from medotter_viewer.sources.bundle import Bundle, find_bundle
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.source import CaseSource, Split

GROUP = "medotter_viewer.datasets"
"""Entry points under which datasets register: a function of split, type and options that returns samples."""
_SPLITS = ("test", "train", "all")
_LABEL_MAPS = ("seg", "vertebra")  # task types whose files hold one id per class
_BUNDLE_OPTIONS = ("data_root", "predictions")
_ERRORS: Mapping[str, type[MedotterViewerError]] = {
    "grid-mismatch": GridMismatchError,
    "missing-file": ReadError,
    "unreadable-file": ReadError,
}


@dataclass(frozen=True, slots=True, eq=False)
class BundleSample(Sample):
    """A sample of a bundle; `pred` is the prediction on file, on the label's grid, where there is one."""

    pred: IntArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BundleSamples:
    """One split of a bundle as samples, read one after the other: ids are canonical, in ground truth too.

    The image of a sample is its only channel, or all channels in the manifest's order stacked along a first axis;
    None where the manifest names none.

    Parameters
    ----------
    source : CaseSource
        The cases.
    split : {"test", "train", "all"}
        Which of them.
    images : bool
        Whether to read the images.
    """

    source: CaseSource
    split: Split = "test"
    images: bool = True

    @property
    def labels(self) -> dict[int, str]:
        """The classes: ids of the regions, called by the region that is this id alone, else by number."""
        spec, task = self.source.spec, self.source.task
        regions = [*(task.canonical_labels.items() if task is not None else ()), *spec.regions.items()]
        names = {i: str(i) for _, ids in regions for i in ids if i}
        for name, ids in reversed(regions):
            if len(set(ids)) == 1 and ids[0]:
                names[ids[0]] = name
        return dict(sorted(names.items()))

    @property
    def known_ids(self) -> frozenset[int]:
        """All ids that a prediction may hold, those that no region names included."""
        return self.source.spec.label_space or frozenset()

    def __len__(self) -> int:
        return len(self.source.case_ids(self.split))

    def __iter__(self) -> Iterator[BundleSample]:
        for case_id in self.source.case_ids(self.split):
            yield self._sample(self.source.load(case_id, images=self.images))

    def _sample(self, case: Case) -> BundleSample:
        if case.errors:
            message = "; ".join(dict.fromkeys(f.message for f in case.errors))
            named = message if f"case {case.case_id}" in message else f"case {case.case_id}: {message}"
            raise _ERRORS.get(case.errors[0].code, BundleError)(named)
        if case.gt is None:
            raise BundleError(f"case {case.case_id}: no ground truth")
        entry = case.entry
        meta: dict[str, Any] = {
            name: value
            for name, value in (
                ("case_id", case.case_id),
                ("dataset", entry.dataset),
                ("split", entry.split),
                ("tier", entry.tier),
                ("patient_uid", entry.patient_uid),
            )
            if value is not None
        }
        if self.source.spec.partial_label and entry.remap is not None and entry.remap.table is not None:
            meta["labelled_ids"] = frozenset(entry.remap.table.values())
        return BundleSample(
            image_of(case) if self.images and case.entry.channels else None,
            case.gt.data,
            case.gt.grid.spacing,
            meta,
            None if case.pred is None else case.pred.data,
        )


def load_dataset(
    name: str | os.PathLike[str] | Bundle,
    *,
    split: str = "test",
    type: str = "image",  # noqa: A002 (part of the interface)
    images: bool = True,
    **load_kwargs: Any,
) -> Iterable[Sample]:
    """Return the samples of a dataset.

    Parameters
    ----------
    name : str, path or Bundle
        A bundle folder (tried first), or the name of a registered dataset.
    split : str
        Of a bundle ``test``, ``train`` or ``all``.
    type : str
        What a sample is: of a bundle ``image``, one whole volume.
    images : bool
        Whether a bundle's images are read.
    **load_kwargs
        Of a bundle ``data_root`` and ``predictions`` (folders); else those of the registered function, which is
        called as ``function(split=split, type=type, **load_kwargs)``.

    Raises
    ------
    UsageError
        If nothing has this name (the message lists the registered ones), or an option is not known.
    BundleNotFoundError
        If the name is a folder without a bundle.
    UnsupportedTaskError
        If the bundle's files are no label maps of classes.
    """
    if isinstance(name, Bundle) or find_bundle(Path(name)) is not None:
        return _bundle_samples(name, split, type, images, load_kwargs)
    registered = {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}
    point = registered.get(os.fspath(name))
    if point is None:
        known = ", ".join(sorted(registered)) or "none"
        message = f"dataset {os.fspath(name)!r}: no bundle folder and no registered dataset (registered: {known})"
        raise BundleNotFoundError(message) if Path(name).is_dir() else UsageError(message)
    try:
        load = point.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"dataset {point.name!r}: {point.value} cannot be loaded: {error}") from error
    if not callable(load):
        raise UsageError(f"dataset {point.name!r}: {point.value} is no function of split and type")
    options = {"split": split, "type": type, **load_kwargs}
    try:
        inspect.signature(load).bind(**options)
    except TypeError as error:
        raise UsageError(f"dataset {point.name!r}: {error}; it was given {', '.join(options)}") from error
    except ValueError:
        pass  # no signature to be had
    return cast("Iterable[Sample]", load(**options))


def _bundle_samples(
    name: str | os.PathLike[str] | Bundle, split: str, kind: str, images: bool, options: Mapping[str, Any]
) -> BundleSamples:
    if split not in _SPLITS:
        raise UsageError(f"split: got {split!r}, expected {', '.join(_SPLITS)}")
    if kind != "image":
        raise UsageError(f"type: got {kind!r}, expected 'image': a bundle's samples are whole volumes")
    if unknown := sorted(options.keys() - set(_BUNDLE_OPTIONS)):
        raise UsageError(f"{', '.join(unknown)}: no such option of a bundle, expected {', '.join(_BUNDLE_OPTIONS)}")
    source = open_source(name, **options)
    if source.spec.task_type not in _LABEL_MAPS:
        raise UnsupportedTaskError(
            f"{source.name}: task_type {source.spec.task_type!r}: its files are no label maps of classes"
        )
    return BundleSamples(source, cast("Split", split), images)
