"""Read the small text files people write: YAML and JSON, strictly.

A key that stands twice is an error that names it, because "the last one wins" hides which file is scored. YAML is
read as version 1.2, so ``010`` is ten and ``no`` a word, by a loader that builds plain values only; a byte order mark
is accepted. Nothing in such a file is ever executed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from medotter_viewer.errors import BundleError, ReadError

MAX_BYTES = 256 << 20
MAX_YAML_BYTES = 1 << 20
"""YAML of a task is a few kilobytes; the limit keeps a hostile file from taking minutes."""
MAX_YAML_NODES = 1_000_000
"""Values after every alias is written out: a few lines of aliases of aliases can stand for thousands of millions."""
MAX_YAML_BRACKETS = 100
"""Brackets within each other: the scanner looks at all open ones for every word, a task has three or four."""


def read_json(path: Path, *, nan: bool = False) -> Any:
    """Return the parsed JSON of a file.

    Parameters
    ----------
    path : Path
        Which.
    nan : bool
        Whether ``NaN``, which is no JSON but which Python writes, is let through as a float.

    Raises
    ------
    ReadError
        If the file cannot be read or is over 256 MiB.
    BundleError
        If it is not JSON, or a key stands twice in one object.
    """
    text = _read_text(path, MAX_BYTES)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise BundleError(f"{path}: key {key!r} stands twice{_line_of_second(text, key)}; keep one of the two")
            found[key] = value
        return found

    def constant(name: str) -> Any:
        if nan and name == "NaN":
            return float(name)
        raise BundleError(f"{path}: {name} is not JSON; use null")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise BundleError(f"{path}: line {error.lineno}: not JSON: {error.msg}") from error
    except BundleError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise BundleError(f"{path}: not JSON: {error}") from error
    except RecursionError as error:
        raise BundleError(f"{path}: nested too deeply to be a configuration") from error


def read_yaml(path: Path) -> Any:
    """Return the parsed YAML of a file as plain dicts, lists, strings and numbers.

    Raises
    ------
    ReadError
        If the file cannot be read or is over 1 MiB.
    BundleError
        If it is not YAML, holds a tag that asks for an object or aliases without end, or a key stands twice in one map.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.scanner import Scanner

    class BoundedConstructor(SafeConstructor):
        def construct_document(self, node: Any) -> Any:
            if _written_out(node, {}) > MAX_YAML_NODES:
                raise BundleError(f"{path}: aliases stand for over {MAX_YAML_NODES:,} values; write out what is meant")
            return super().construct_document(node)

    class BoundedScanner(Scanner):
        def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:  # noqa: N803
            if len(self.flow_context) >= MAX_YAML_BRACKETS:
                raise BundleError(f"{path}: nested too deeply to be a configuration")
            super().fetch_flow_collection_start(TokenClass, to_push)

    text = _read_text(path, MAX_YAML_BYTES)
    try:
        loader = YAML(typ="safe", pure=True)
        loader.Scanner, loader.Constructor = BoundedScanner, BoundedConstructor
        loader.composer.warn_double_anchors = False  # the language allows them
        return loader.load(text)
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        what = (error.problem or "").split(" with value")[0].removeprefix("found duplicate key ")
        raise BundleError(f"{path}: line {line}: key {what} stands twice; keep one of the two") from error
    except BundleError:
        raise
    except (YAMLError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise BundleError(f"{path}: {line}not plain YAML: {problem}") from error
    except RecursionError as error:
        raise BundleError(f"{path}: nested too deeply to be a configuration") from error


def read_config(path: Path) -> Any:
    """Return the parsed content of a JSON file (by its suffix) or else of a YAML file."""
    return read_json(path) if path.suffix.lower() == ".json" else read_yaml(path)


def _read_text(path: Path, limit: int) -> str:
    try:
        if path.exists() and not path.is_file():
            raise ReadError(f"{path}: not a regular file; expected a text")
        size = path.stat().st_size
        if size > limit:
            raise ReadError(f"{path}: {size / 2**20:.0f} MiB, expected a text of at most {limit >> 20} MiB")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}") from error


def _line_of_second(text: str, key: str) -> str:
    """Say where a key stands for the second time, where that is unmistakable."""
    quoted = json.dumps(key, ensure_ascii=False)
    lines = [n for n, line in enumerate(text.splitlines(), 1) if quoted in line]
    return f" (line {lines[1]})" if len(lines) == 2 else ""


def _written_out(node: Any, known: dict[int, int]) -> int:
    """Count the values below a YAML node with every alias written out; one that holds itself counts as endless."""
    if id(node) not in known:
        known[id(node)] = MAX_YAML_NODES + 1
        inner = node.value if isinstance(node.value, list) else []
        below = (part for item in inner for part in (item if isinstance(item, tuple) else (item,)))
        known[id(node)] = 1 + sum(_written_out(part, known) for part in below)
    return known[id(node)]
