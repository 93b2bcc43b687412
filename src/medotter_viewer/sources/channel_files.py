"""Which images belong to a case by their names: the one of its name, or ``<case>_0000``, ``<case>_0001``, ..."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.sources.folder_listing import Listing

_NUMBERED = re.compile(r"(?P<case>.+)_(?P<number>\d{4})", re.DOTALL)


class ChannelFiles:
    """The images of a folder, by case.

    Parameters
    ----------
    listing : Listing
        The images.
    case_ids : collection of str, optional
        The cases, where something else than the images says which there are: an image of a case's name is that
        case's alone. None makes cases of the images themselves.
    names : mapping of int to str
        Name of a channel by its number; the four digits where there is none.
    """

    def __init__(
        self, listing: Listing, case_ids: Collection[str] | None = None, names: Mapping[int, str] | None = None
    ) -> None:
        self._listing, self._names = listing, names or {}
        taken = listing.ids if case_ids is None else case_ids
        plain = frozenset(taken)
        self._numbered: dict[str, dict[int, str]] = {}
        for image_id in listing.ids:
            match = _NUMBERED.fullmatch(image_id)
            if match is not None and (case_ids is None or image_id not in plain):
                self._numbered.setdefault(match["case"], {})[int(match["number"])] = image_id
        if case_ids is None:  # a name with four digits alone is that of a case unless it is a first channel of several
            self._numbered = {i: found for i, found in self._numbered.items() if 0 in found and i not in plain}
        self.case_ids = self._cases()

    def _cases(self) -> list[str]:
        of_channels = {image_id for found in self._numbered.values() for image_id in found.values()}
        return sorted({*self._numbered, *(i for i in self._listing.ids if i not in of_channels)})

    def images_of(self, case_id: str) -> list[str]:
        """Return the ids of a case's images, in order."""
        if case_id in self._listing.paths or case_id in self._listing.refused:
            return [case_id]
        return [image_id for _, image_id in sorted(self._numbered.get(case_id, {}).items())]

    def of(self, case_id: str) -> tuple[dict[str, Path], list[Finding]]:
        """Return the channels of a case, in order, and what is to be said of them; an image keeps no case from scoring.

        One image of the case's name is the channel ``image``, or the one that is named.
        """
        refused, paths = self._listing.refused, self._listing.paths
        ids = self.images_of(case_id)
        findings = [replace(refused[i], severity="warning", where=case_id) for i in ids if i in refused]
        if ids == [case_id]:
            name = next(iter(self._names.values())) if len(self._names) == 1 else "image"
            return ({name: paths[case_id]} if case_id in paths else {}), findings
        numbers = self._numbered.get(case_id, {})
        expected = set(self._names or range(max(numbers, default=-1) + 1))
        if absent := sorted(expected - set(numbers)) if numbers else []:
            listed = ", ".join(f"{case_id}_{n:04d}" for n in absent)
            message = f"case {case_id}: no image {listed} in {self._listing.root}"
            findings.append(Finding("warning", "missing-channel", message, str(self._listing.root), case_id))
        found: dict[str, Path] = {}
        for number in sorted(numbers):
            name = self._names.get(number, f"{number:04d}")
            if numbers[number] in paths:
                found[name if name not in found else f"{name} ({number})"] = paths[numbers[number]]
        return found, findings

    def unused(self, case_ids: Collection[str]) -> list[str]:
        """Return the images that belong to none of the cases."""
        used = {image_id for case_id in case_ids for image_id in self.images_of(case_id)}
        return [image_id for image_id in self._listing.ids if image_id not in used]
