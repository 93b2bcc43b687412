"""Print tables for people and JSON for programs."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import WriteError

# Letters beyond ASCII that command a terminal; JSON itself escapes those of ASCII.
_COMMANDS = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def write_json(destination: str | None, content: Mapping[str, Any]) -> None:
    """Write JSON to a file, or for ``-`` to standard output; None writes nothing.

    Raises
    ------
    WriteError
        If the file cannot be written.
    ValueError
        If a number is NaN or infinite: that is a defect of ours, never valid output.
    """
    if destination is None:
        return
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    text = _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if destination == "-":
        _write_utf8(text)
        return
    _write(Path(destination), text)


def write_all(*steps: Callable[[], object]) -> bool:
    """Take every step though one cannot be written, say what could not, and return whether all could."""
    good = True
    for step in steps:
        try:
            step()
        except WriteError as error:
            fail(str(error))
            good = False
    return good


def write_csv(path: Path | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with a header of all their keys, in order of appearance; None writes nothing."""
    if path is None:
        return
    columns = list(dict.fromkeys(key for row in rows for key in row))
    try:
        with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> None:
    """Print columns: the first `left` ones flush left, the others flush right."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def print_findings(findings: Iterable[Finding], *, to_stderr: bool = False) -> None:
    """Print one line for each finding."""
    for finding in findings:
        place = f" [{finding.where}]" if finding.where and finding.where not in finding.message else ""
        line = f"{finding.severity}: {finding.code}: {finding.message}{place}"
        print(line, file=sys.stderr if to_stderr else sys.stdout)


def fail(message: str) -> None:
    """Print one line about something that failed."""
    print(" ".join(message.split()), file=sys.stderr)


class ProgressLine:
    """A line on stderr that counts, on a terminal only."""

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, sys.stderr.isatty()

    def __call__(self, done: int, total: int, score: object = None, *, more: str = "") -> None:  # noqa: ARG002
        """Show how far the work is, and what more there is to say of it."""
        if self._shown:
            end = "\n" if done == total else ""
            print(f"\r{self._what} {done}/{total}{more}", end=end, file=sys.stderr, flush=True)


def tolerate_letters() -> None:
    """Let a terminal show the code of a letter that it does not have, instead of ending the run with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _write_utf8(text: str) -> None:
    """Write to standard output in UTF-8 whatever the terminal's encoding is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))  # JSON's own way of writing half a pair
        sys.stdout.buffer.flush()
    else:  # replaced by a notebook or a test
        sys.stdout.write(text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
