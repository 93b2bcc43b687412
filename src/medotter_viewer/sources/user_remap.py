"""A label remap given by the user for this run: it replaces the bundle's own and is recorded with every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import parse_remap
from medotter_viewer.errors import BundleError
from medotter_viewer.formats.config_files import read_config

IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class UserRemap:
    """One remap for all datasets, or one for each of some.

    Parameters
    ----------
    source : str
        The file, or ``identity``.
    for_all : Remap or None
        Applied to every dataset.
    by_dataset : mapping of str to Remap
        Applied to these datasets; the others keep the bundle's own.
    """

    source: str
    for_all: Remap | None
    by_dataset: Mapping[str, Remap]

    def of(self, dataset: str | None) -> Remap | None:
        """Return the remap for a dataset, or None where the user said nothing about it."""
        return self.for_all or (self.by_dataset.get(dataset) if dataset is not None else None)

    def record(self) -> dict[str, Any]:
        """Return where it comes from and its tables by dataset (``*`` for all), as JSON holds them."""
        chosen = {"*": self.for_all} if self.for_all else self.by_dataset
        tables = {
            name: "identity" if remap.table is None else {str(k): v for k, v in remap.table.items()}
            for name, remap in chosen.items()
        }
        return {"source": self.source, "map": tables}


def load_user_remap(option: str) -> UserRemap:
    """Return what ``--remap`` names: ``identity``, or a YAML or JSON file.

    The file holds ``{native: canonical}`` for all datasets or ``{dataset: {native: canonical}}``.

    Raises
    ------
    BundleError
        If it holds neither.
    ReadError
        If it cannot be read.
    """
    if option == IDENTITY:
        return UserRemap(IDENTITY, Remap(None, "user", IDENTITY), {})
    content = read_config(Path(option))
    tables = {k: v for k, v in content.items() if k != "note"} if isinstance(content, Mapping) else {}
    if not tables:
        raise BundleError(f"{option}: got {content!r}, expected native: canonical, or dataset: {{native: canonical}}")
    nested = [isinstance(v, Mapping) for v in tables.values()]
    if all(nested):
        by_dataset = {str(k): parse_remap(v, where=f"{option}: {k}", form="user") for k, v in tables.items()}
        return UserRemap(option, None, by_dataset)
    if any(nested):
        raise BundleError(f"{option}: mixes ids and datasets; use one form for the whole file")
    return UserRemap(option, parse_remap(tables, where=option, form="user"), {})
