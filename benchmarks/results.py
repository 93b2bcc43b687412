"""RESULTS.md: every benchmark writes its own block; what people wrote between the blocks stays."""

from __future__ import annotations

import datetime
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
OUTCOMES = Path(__file__).parent.parent / ".cache" / "benchmarks"
"""Where parts leave what the table of targets takes from them."""


def write_block(name: str, heading: str, lines: list[str], path: Path = RESULTS) -> None:
    """Put lines between the marks of a benchmark; without marks yet, at the end below a heading."""
    start, end = f"<!-- {name}: written by the run -->", f"<!-- end of {name} -->"
    block = "\n".join([start, *lines, end])
    text = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    if start in text:
        text = re.sub(re.escape(start) + ".*?" + re.escape(end), lambda _: block, text, flags=re.DOTALL)
    else:
        text = f"{text.rstrip()}\n\n## {heading}\n\n{block}\n"
    path.write_text(text, encoding="utf-8")


def machine() -> str:
    """Return when and on what this was measured."""
    when = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    software = f"Python {platform.python_version()}, numpy {version('numpy')}"
    return f"{when}, {processor()}, {os.cpu_count()} cores, {software}"


def processor() -> str:
    """Return the processor's name."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()


def released(packages: tuple[str, ...]) -> str:
    """Return the versions of installed distributions."""
    found = []
    for package in packages:
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("?")
    return " + ".join(found)


def seconds(value: float) -> str:
    """Return a time as people read it.

    Examples
    --------
    >>> seconds(0.00123), seconds(0.0456), seconds(71.4)
    ('1.2 ms', '46 ms', '71 s')
    """
    if value >= 10:
        return f"{value:.0f} s"
    if value >= 1:
        return f"{value:.1f} s"
    return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.2g} ms"
