"""Every row of the table: ours and each peer on the same arrays; equality first, then CPU seconds and memory.

Each side is measured in a process of its own, one after the other; the arrays come through temporary files. Exit
status 1 when a number differs by more than is allowed; a time is a fact to be told, never a failure.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from results import OUTCOMES, machine, seconds, write_block
from rows import ROWS, Row, Target, full_inputs
from side import Side
from side_process import NOT_INSTALLED, save

HERE = Path(__file__).parent
ENVIRONMENTS = {"": Path(sys.executable), "panoptica": HERE.parent / ".venv-bench-panoptica" / "bin" / "python"}


@dataclass
class Measured:
    """What one side gave.

    Parameters
    ----------
    side : Side
        Which.
    outcome : dict or None
        What its process wrote; None where there was none.
    skipped : str
        Why.
    equality : str
        What was compared and found, in words.
    differs : bool
        Whether a difference is larger than allowed.
    share : float
        Which share of the parts was done; times are divided by it.
    """

    side: Side
    outcome: dict[str, Any] | None = None
    skipped: str = ""
    equality: str = ""
    differs: bool = False
    share: float = 1.0
    times_ours: float = field(default=math.nan)

    @property
    def cpu_s(self) -> float:
        return self.outcome["cpu_s"] / self.share if self.outcome else math.nan

    @property
    def wall_s(self) -> float:
        return self.outcome["wall_s"] / self.share if self.outcome else math.nan


def main() -> int:
    """Measure the chosen rows and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="ROW", help=f"some of {', '.join(row.key for row in ROWS)}")
    parser.add_argument("--sides", nargs="+", metavar="SIDE", help="ours and these peers only; nothing is written")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one side of one row (default 600)")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.only or row.key in options.only]
    compiled = compile_kernels()
    started, found = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys(row.inputs for row in rows):
            inputs, path = full_inputs(name), Path(folder) / "inputs.npz"
            save(inputs, path)
            n_parts = len(getattr(inputs, "regions", ())) or 1
            del inputs
            for row in (row for row in rows if row.inputs == name):
                sides = [s for s in row.sides if s.is_ours or not options.sides or s.name in options.sides]
                found[row.key] = measure(row, sides, path, n_parts, compiled, options.timeout)
    minutes = (time.monotonic() - started) / 60
    for row in rows:
        print("\n".join(["", f"### {row.title}", "", *table(row, found[row.key])]), flush=True)
    if not options.sides:
        remember(rows, found, minutes)
        write(compiled)
    return 1 if any(one.differs for some in found.values() for one in some) else 0


def compile_kernels() -> bool:
    """Compile the kernels where they are not yet, and tell whether there are any."""
    done = subprocess.run(
        [sys.executable, "-c", "from medotter_viewer.engine import choice; choice.load()"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"no compiled engine: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return done.returncode == 0


def measure(row: Row, sides: list[Side], inputs: Path, n_parts: int, compiled: bool, timeout: int) -> list[Measured]:
    """Measure all sides of a row, ours first, and compare."""
    found: list[Measured] = []
    for side in sides:
        one = Measured(side)
        found.append(one)
        if reason := side.too_large.get(row.inputs):
            one.skipped = reason
            continue
        if side.engine == "compiled" and not compiled:
            one.skipped = "numba is not installed"
            continue
        one.share = min(1.0, side.parts.get(row.inputs, n_parts) / n_parts)
        one.outcome, one.skipped = in_process(row, side, inputs, compiled, timeout)
        if one.outcome is None:
            print(f"{row.key:<15} {side.name:<32} skipped: {one.skipped}", flush=True)
            continue
        reference = next((m.outcome for m in found if m.outcome), None)
        compare(one, reference["values"] if reference else {}, row, is_first=one.outcome is reference)
        ours = one.outcome.get("ours") or (found[0].outcome or one.outcome)
        one.times_ours = one.cpu_s / ours["cpu_s"]
        cpu = f"{seconds(one.cpu_s):>8} CPU" + (" (extrapolated)" if one.share < 1 else "")
        print(f"{row.key:<15} {side.name:<32} {cpu}  {one.times_ours:.4g} times ours  {one.equality}", flush=True)
    return found


def in_process(row: Row, side: Side, inputs: Path, compiled: bool, timeout: int) -> tuple[dict[str, Any] | None, str]:
    """Return what the process of a side wrote, or why there is nothing."""
    python = ENVIRONMENTS[side.environment]
    if not python.exists():
        return None, f"no environment {python.parent.parent.name}"
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder) / "outcome.json"
        command = [python, "-W", "ignore", HERE / "side_process.py", row.key, side.name, inputs, outcome]
        environment = {**os.environ, "BENCH_COMPILED": "1" if compiled else ""}
        try:
            done = subprocess.run(  # noqa: S603 - this folder's own script
                command, capture_output=True, text=True, timeout=timeout, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"ended after {timeout} s"
        if done.returncode or not outcome.exists():
            if done.returncode == NOT_INSTALLED:
                return None, f"not installed: {done.stderr.strip().splitlines()[-1][:200]}"
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return None, f"failed: {last[:200]}"
        return json.loads(outcome.read_text(encoding="utf-8")), ""


def compare(one: Measured, ours: dict[str, dict[str, float]], row: Row, *, is_first: bool) -> None:
    """Compare a side's numbers with ours and say what was found."""
    values = one.outcome["values"] if one.outcome else {}
    if is_first:
        wrong = [
            f"{quantity} {numbers[quantity]:g}, expected {expected:g}"
            for numbers in values.values()
            for quantity, expected in row.exact
            if numbers[quantity] != expected
        ]
        one.differs, one.equality = bool(wrong), "DIFFERS: " + "; ".join(wrong) if wrong else "the reference"
        return
    allowed = {q: 0.0 for numbers in values.values() for q in numbers} if one.side.is_ours else one.side.allowed
    told, texts = dict(one.side.told), []
    for quantity, most in allowed.items():
        found = [difference(n[quantity], ours[region][quantity]) for region, n in values.items() if quantity in n]
        if not found:
            continue
        largest = max(found)
        one.differs |= not largest <= most
        verdict = "equal" if largest == 0 else f"{largest:.0e}"
        texts.append((f"{quantity} {verdict}" + ("" if largest <= most else f" DIFFERS (allowed {most:g})"), verdict))
    told_texts = []
    for quantity, counterpart in told.items():
        found = [abs(n[quantity] - ours[region][counterpart]) for region, n in values.items() if quantity in n]
        if found and quantity == "wrong pixels":
            numbers = next(iter(values.values()))
            told_texts.append(
                f"{numbers[quantity]:g} wrong pixels ({100 * numbers[quantity] / numbers['pixels']:.2g} %)"
            )
        elif found and quantity == counterpart:
            told_texts.append(f"{quantity} off by up to {max(found):.3g}")
        elif found:
            told_texts.append(f"{quantity} differs from {counterpart} by up to {max(found):.3g}")
    groups: dict[str, list[str]] = {}
    for text, verdict in texts:
        groups.setdefault(verdict if "DIFFERS" not in text else text, []).append(text.rsplit(" ", 1)[0])
    said = [v if "DIFFERS" in v else f"{', '.join(names)}: {v}" for v, names in groups.items()]
    one.equality = "; ".join([*said, *told_texts])


def difference(theirs: float, ours: float) -> float:
    """Absolute up to 1, relative above; NaN is infinitely far."""
    found = abs(theirs - ours) / max(1.0, abs(ours))
    return found if found < math.inf else math.inf


def table(row: Row, found: list[Measured]) -> list[str]:
    """Return the lines of a row's table."""
    lines = [
        "| | version | CPU | wall | times ours (CPU) | peak MB | numbers against ours |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        if one.outcome is None:
            lines.append(f"| {one.side.name} | | | | | | skipped: {one.skipped} |")
            continue
        outcome = one.outcome
        marked = "*" if one.share < 1 else ""
        remark = f"; {one.side.remark}" if one.side.remark else ""
        times = f"{seconds(one.cpu_s)}{marked} | {seconds(one.wall_s)}{marked} | {one.times_ours:.3g}"
        compared = f"{outcome['peak_mb']:.0f} | {one.equality}{remark}"
        lines.append(f"| {one.side.name} | {outcome['version']} | {times} | {compared} |")
    partial = [one for one in found if one.outcome and one.share < 1]
    if partial:
        said = ", ".join(f"{one.side.name} did {one.side.parts[row.inputs]} labels" for one in partial)
        lines += ["", f"\\* Extrapolated: {said}, and the time is multiplied up to all."]
    lines += ["", *verdicts(row, found)]
    return lines


def verdicts(row: Row, found: list[Measured]) -> list[str]:
    """Return one sentence for each target."""
    return [f"Target: {text}: {value}, {verdict}." for text, value, verdict in judged(row, found)] or ["No target."]


def judged(row: Row, found: list[Measured]) -> list[tuple[str, str, str]]:
    """Return target, what was reached, and whether that is enough."""
    sides = {one.side.name: one for one in found if one.outcome}
    ours = next((one for one in found if one.outcome), None)
    peers = [one for one in sides.values() if not one.side.is_ours and not one.side.remark.startswith("no ")]
    rows = []
    for target in row.targets:
        if ours is None:
            rows.append((wording(target), "not measured", "open"))
        elif target.seconds:
            reached = ours.wall_s <= target.seconds
            rows.append((wording(target), seconds(ours.wall_s), "reached" if reached else "missed"))
        else:
            peer = min(peers, key=lambda one: one.cpu_s, default=None) if target.peer == "best" else None
            peer = peer or sides.get(target.peer)
            if peer is None:
                rows.append((wording(target), "peer not measured", "open"))
            elif target.at_most_times:
                times = 1 / peer.times_ours
                rows.append((wording(target), f"{times:.2f}", "reached" if times <= target.at_most_times else "missed"))
            else:
                name = f"{peer.times_ours:.3g}" + (f" ({peer.side.name})" if target.peer == "best" else "")
                rows.append((wording(target), name, "reached" if peer.times_ours >= target.ratio else "missed"))
    return rows


def wording(target: Target) -> str:
    if target.seconds:
        return f"at most {seconds(target.seconds)}"
    if target.at_most_times:
        return f"at most {target.at_most_times:g} times {target.peer}"
    peer = "the fastest peer" if target.peer == "best" else target.peer
    return f"at least {target.ratio:g} times as fast as {peer}"


def remember(rows: list[Row], found: dict[str, list[Measured]], minutes: float) -> None:
    """Keep each row's lines, so that one row can be measured again alone."""
    OUTCOMES.mkdir(parents=True, exist_ok=True)
    for row in rows:
        kept = {
            "lines": table(row, found[row.key]),
            "judged": judged(row, found[row.key]),
            "ours": next((one.cpu_s for one in found[row.key] if one.outcome), None),
            "machine": machine(),
        }
        (OUTCOMES / f"{row.key}.json").write_text(json.dumps(kept), encoding="utf-8")
    print(f"\n{minutes:.1f} minutes", flush=True)


def write(compiled: bool) -> None:
    """Write the block of all rows into RESULTS.md: targets first, then a table for each."""
    paths = [(row, OUTCOMES / f"{row.key}.json") for row in ROWS]
    kept = [(row, json.loads(path.read_text(encoding="utf-8"))) for row, path in paths if path.exists()]
    engine = "compiled kernels" if compiled else "the plain engine, as there is no numba"
    lines = [
        f"{machine()}; ours with {engine}.",
        "",
        "| work | ours, CPU | target | measured | |",
        "|---|---|---|---|---|",
    ]
    summary = [(row.title, one["ours"], *judged) for row, one in kept for judged in one["judged"] or [("none", "", "")]]
    if (reading := OUTCOMES / "reading.json").exists():
        summary += json.loads(reading.read_text(encoding="utf-8"))
    for title, ours, text, value, verdict in summary:
        lines.append(f"| {title} | {seconds(ours) if ours else '-'} | {text} | {value} | {verdict} |")
    for row, one in kept:
        lines += ["", f"### {row.title[0].upper()}{row.title[1:]}", ""]
        if one["machine"] != machine():
            lines += [f"Measured earlier: {one['machine']}.", ""]
        lines += one["lines"]
    write_block("rows", "Against other libraries", lines)


if __name__ == "__main__":
    sys.exit(main())
