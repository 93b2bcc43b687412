"""Changes of a what-if as text: on the command line, and as the YAML that can be put into task.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from medotter_viewer.core.key_reader import KeyReader, to_id
from medotter_viewer.core.labels import Remap
from medotter_viewer.errors import BundleError, UsageError
from medotter_viewer.formats.config_files import read_config
from medotter_viewer.live.changes import Changes, Edits, edited

REMAPS, OWN, REGIONS = "label_remap", "per_case", "eval_regions"
_WORDS: Mapping[str, int | None] = {"drop": 0, "unlist": None}


def parse_edits(text: str) -> tuple[str, dict[int, int | None]]:
    """Return dataset and changes from ``DATASET:NATIVE=CANONICAL[,NATIVE=CANONICAL...]``.

    CANONICAL is an id, ``drop`` (listed as 0) or ``unlist`` (no longer listed).

    Raises
    ------
    UsageError
        If the text has another form, or names an id twice.

    Examples
    --------
    >>> parse_edits("BTCV:5=2,7=drop,9=unlist")
    ('BTCV', {5: 2, 7: 0, 9: None})
    """
    form = "expected DATASET:NATIVE=CANONICAL[,NATIVE=CANONICAL...], CANONICAL an id, 'drop' or 'unlist'"
    dataset, colon, pairs = text.rpartition(":")
    if not colon or not dataset:
        raise UsageError(f"--what-if {text!r}: {form}; or a YAML file that is there")
    edits: dict[int, int | None] = {}
    for pair in pairs.split(","):
        native, equals, to = (part.strip() for part in pair.partition("="))
        if not equals or not _is_id(native) or not (_is_id(to) or to in _WORDS):
            raise UsageError(f"--what-if {text!r}: got {pair.strip()!r}, {form}")
        if int(native) in edits:
            raise UsageError(f"--what-if {text!r}: native id {native} is named twice; keep one")
        edits[int(native)] = _WORDS[to] if to in _WORDS else int(to)
    return dataset, edits


def parse_changes(content: Any, *, where: str) -> Changes:
    """Return changes from a parsed file.

    Parameters
    ----------
    content : mapping
        ``label_remap: {DATASET: {NATIVE: CANONICAL}}``, ``per_case: {CASE: {remap: {NATIVE: CANONICAL}}}``,
        ``eval_regions: {REGION: [ID, ...]}``, any of them; ids that are not named stay as they are. A CANONICAL of 0
        drops the id, null takes it out of the list. ``{DATASET: {NATIVE: CANONICAL}}`` alone is read, too.
    where : str
        Name of the file, for messages.

    Raises
    ------
    BundleError
        If it has another form.
    """
    if not isinstance(content, Mapping) or not content:
        raise BundleError(f"{where}: got {content!r}, expected {REMAPS}: {{dataset: {{native: canonical}}}}")
    if not set(content) & {REMAPS, OWN, REGIONS}:
        content = {REMAPS: content}
    if unknown := [key for key in content if key not in (REMAPS, OWN, REGIONS)]:
        raise BundleError(f"{where}: got {unknown[0]!r}, expected {REMAPS}, {OWN} or {REGIONS}")
    read = KeyReader(content, where)
    remaps = {str(name): _edits(table, f"{where}: {name}") for name, table in read.mapping(REMAPS).items()}
    own = {}
    for case_id, fields in read.mapping(OWN).items():
        table = fields.get("remap") if isinstance(fields, Mapping) else None
        own[str(case_id)] = _edits(table, f"{where}: {OWN}: {case_id}: remap")
    return Changes(remaps, own, read.regions(REGIONS) or {})


def load_changes(options: Iterable[str]) -> Changes:
    """Return what some options name together: each ``DATASET:NATIVE=CANONICAL[,...]``, or a YAML or JSON file.

    Raises
    ------
    UsageError
        If two of them change the same.
    ReadError, BundleError
        If a file cannot be read or has another form.
    """
    remaps: dict[str, dict[int, int | None]] = {}
    own: dict[str, Edits] = {}
    regions: dict[str, tuple[int, ...]] = {}
    for option in options:
        path = Path(option)
        if path.is_file() or path.suffix.lower() in (".yaml", ".yml", ".json"):
            found = parse_changes(read_config(path), where=option)
        else:
            dataset, edits = parse_edits(option)
            found = Changes({dataset: edits})
        for name, more in found.remaps.items():
            table = remaps.setdefault(name, {})
            if twice := sorted(set(table) & set(more)):
                raise UsageError(f"--what-if {option!r}: native id {twice[0]} of {name} is changed twice; keep one")
            table.update(more)
        if clash := sorted({*own, *regions} & {*found.own, *found.regions}):
            raise UsageError(f"--what-if {option!r}: {clash[0]} is changed twice; keep one")
        own.update(found.own)
        regions.update(found.regions)
    return Changes(remaps, own, regions)


def yaml_text(changes: Changes, remaps: Mapping[str, Remap | None], ids: Iterable[int] = ()) -> str:
    """Return changes as YAML that `parse_changes` reads, what was before as comments; empty without any.

    Parameters
    ----------
    changes : Changes
        What is tried.
    remaps : mapping of str to Remap or None
        Dataset, or case with a remap of its own, to its remap as it is.
    ids : iterable of int
        Ids that an identity is written out for: once a remap is listed, what it does not list becomes background.

    Examples
    --------
    >>> print(yaml_text(Changes({"A": {5: 2, 9: 0}}), {"A": Remap({5: 1}, "dict")}), end="")
    label_remap:
      A:
        5: 2  # was 1
        9: 0  # was not listed
    """
    ids = list(ids)
    lines = [f"{REMAPS}:"] * any(edits for name, edits in changes.remaps.items() if name)
    for name, edits in changes.remaps.items():
        if not name and edits:  # folders without a bundle: there is no file but that of --remap, which holds all ids
            whole = edited(remaps.get(name), edits, ids).table or {}
            lines += ["# label remap for --remap", *(f"{native}: {to}" for native, to in whole.items())]
            continue
        lines += _table_lines(f"  {quoted(name)}:", "    ", edits, remaps.get(name), ids)
    lines += [f"{OWN}:"] * any(changes.own.values())
    for case_id, edits in changes.own.items():
        lines += _table_lines(f"  {quoted(case_id)}:\n    remap:", "      ", edits, remaps.get(case_id), ids)
    lines += [f"{REGIONS}:"] * bool(changes.regions)
    lines += [f"  {quoted(name)}: {list(region)}" for name, region in changes.regions.items()]
    return "".join(f"{line}\n" for line in lines)


def quoted(name: str) -> str:
    """Return a name as a key of YAML, in quotes unless it is a plain word."""
    plain = name[:1].isalpha() and name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    is_word = name.lower() in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
    return name if plain and not is_word else json.dumps(name)


def _table_lines(head: str, indent: str, edits: Edits, before: Remap | None, ids: list[int]) -> list[str]:
    """Lines of one remap; nothing without a change."""
    if not edits:
        return []
    if before is not None and before.is_identity:
        head += "  # until now every id stayed: all are listed here, others become background"
        whole = edited(before, edits, ids).table or {}
        edits = {**whole, **{native: to for native, to in edits.items() if to is not None}}
    lines = [head]
    for native, to in sorted(edits.items()):
        listed = before is not None and before.is_listed(native)
        was = str(before.target(native)) if before is not None and listed else "not listed"
        same = before is not None and listed and before.target(native) == to
        lines.append(f"{indent}{native}: {'null' if to is None else to}" + f"  # was {was}" * (not same))
    return lines


def _edits(table: Any, where: str) -> dict[int, int | None]:
    if not isinstance(table, Mapping) or not table:
        raise BundleError(f"{where}: got {table!r}, expected a map of native to canonical ids")
    edits: dict[int, int | None] = {}
    for key, value in table.items():
        if key == "note":
            continue
        native = to_id(key, f"{where}: native id")
        if native in edits:
            raise BundleError(f"{where}: native id {native} is listed twice; keep one")
        edits[native] = None if value is None else to_id(value, f"{where}: canonical id of {key!r}")
    return edits


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
