#!/usr/bin/env python3
"""Fuzz every reader of files for longer than the tests do: coverage-guided, each reader in processes of its own.

    scripts/fuzz.py                        every target for FUZZ_SECONDS (default 60)
    scripts/fuzz.py nifti dicom_series     these
    scripts/fuzz.py --input FILE nifti     hold one file against the contract (how a crash is reproduced)
    scripts/fuzz.py --list                 names

What breaks a reader is kept in .cache/fuzz/<target>/crashes with a line that reproduces it; put it into
tests/fuzz/regressions/<target>/ once it is mended. Inputs that reach new code are kept beside it for the next run.
Targets, seeds, words and changes are those of the tests: tests/support/fuzzing.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
CACHE = ROOT / ".cache" / "fuzz"
RSS_MIB, ADDRESS_MIB, TIMEOUT_S = 1500, 6000, 20
MAX_ROUNDS = 40  # restarts of one target after crashes
KNOWN = "known.txt"  # faults of this run, which are not reported twice
FAULT = 77  # exit status of a broken contract


def main() -> int:
    """Run what the command line asks for; 1 when a reader broke its contract."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=int(os.environ.get("FUZZ_SECONDS", "60")))
    parser.add_argument("--input", type=Path, metavar="FILE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--child", metavar="SECONDS", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    from fuzzing.targets import TARGETS

    if options.list:
        print("\n".join(TARGETS))
        return 0
    names = options.targets or list(TARGETS)
    if unknown := sorted(set(names) - set(TARGETS)):
        parser.error(f"no target {', '.join(unknown)}; --list names them")
    if options.input is not None:
        return _reproduce(names[0], options.input)
    if options.child is not None:
        return _fuzz(names[0], options.child)
    return _run(names, options.seconds)


def _reproduce(name: str, path: Path) -> int:
    from fuzzing.contract import hold
    from fuzzing.targets import TARGETS

    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        print(hold(target.prepare(Path(folder)), path.read_bytes(), Path(folder), silent=target.silent))
    return 0


def _run(names: list[str], seconds: int) -> int:
    """Fuzz targets one after the other and print a table."""
    rows, broken = [], 0
    for name in names:
        folder = CACHE / name
        for part in ("corpus", "crashes"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "crashes" / KNOWN).unlink(missing_ok=True)  # what was mended since is looked for again
        began, runs, found = time.monotonic(), 0, {}
        for _ in range(MAX_ROUNDS):
            left = seconds - (time.monotonic() - began)
            if left < 1:
                break
            done, fault = _child(name, int(left) or 1)
            runs += done
            if fault is None:
                break
            title, path = fault
            if title not in found:
                found[title] = path
                print(f"{name}: {title}\n    {_command(name, path)}", flush=True)
        broken += len(found)
        rows.append((name, runs, time.monotonic() - began, len(found)))
        print(f"{name}: {runs:,} inputs in {rows[-1][2]:.0f} s, {len(found)} different faults", flush=True)
    print(f"\n{'target':<28}{'inputs':>12}{'seconds':>10}{'faults':>8}")
    for name, runs, took, n_found in rows:
        print(f"{name:<28}{runs:>12,}{took:>10.0f}{n_found:>8}")
    return 1 if broken else 0


def _command(name: str, path: Path) -> str:
    return f".venv/bin/python scripts/fuzz.py --input {path.relative_to(ROOT)} {name}"


def _child(name: str, seconds: int) -> tuple[int, tuple[str, Path] | None]:
    """Fuzz in a process; return how many inputs ran, and what broke on which input."""
    command = [sys.executable, str(Path(__file__).resolve()), "--child", str(seconds), name]
    log, began = CACHE / name / "log", time.time()
    with log.open("wb") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT, check=False).returncode
    text = log.read_text(errors="replace")
    counted = re.findall(r"(?:^#|^RAN |number_of_executed_units: )(\d+)", text, re.MULTILINE)
    runs = max(map(int, counted), default=0)
    if status == 0:
        return runs, None
    found = re.findall(r"^FAULT (.*)$", text, re.MULTILINE)
    written = re.findall(r"Test unit written to (\S+)", text)
    # Its last words are lost where standard error was watched at that moment; the file is there.
    left = [path for path in (CACHE / name / "crashes").glob("*-*") if path.stat().st_mtime >= began]
    written = written or [str(path) for path in left]
    title = (
        found[-1]
        if found
        else next(
            iter(re.findall(r"ERROR: (.*)", text)), f"{left[0].name.split('-')[0] if left else 'exit status'} {status}"
        )
    )
    if not written:
        print(text[-2000:], file=sys.stderr)
        raise SystemExit(f"{name}: the process ended with {status} and left no input; see {log}")
    return runs, (title[:200], Path(written[-1]))


# ---------------------------------------------------------------- in the child


def _fuzz(name: str, seconds: int) -> int:
    try:
        import atheris
    except ImportError:
        raise SystemExit("atheris is not installed: make fuzz installs it (dependency group fuzz)") from None
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_MIB << 20, ADDRESS_MIB << 20))
    with atheris.instrument_imports(include=["medotter_viewer"], enable_loader_override=False):
        _import_readers()
    from fuzzing.contract import MAX_INPUT, hold
    from fuzzing.edits import change, roll
    from fuzzing.targets import TARGETS

    target, folder, runs = TARGETS[name], CACHE / name, 0
    memory = Path("/dev/shm")  # noqa: S108
    work = Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))
    read = target.prepare(work)
    seeds = target.seeds()
    for data in seeds:  # libraries are loaded here, not while the first input is timed
        with contextlib.suppress(Exception):
            list(read(data))
        (folder / "corpus" / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    known = _known(folder)

    def one(data: bytes) -> None:
        nonlocal runs
        runs += 1
        try:
            hold(read, data, work, silent=target.silent)
        except BaseException as error:  # noqa: BLE001
            title = _title(error)
            if title in known:  # found before in this run: go on
                return
            path = folder / "crashes" / hashlib.sha256(data).hexdigest()[:16]
            path.write_bytes(data)
            with (folder / "crashes" / KNOWN).open("a") as file:
                file.write(title + "\n")
            traceback.print_exc()
            print(f"FAULT {title}\nRAN {runs}\nTest unit written to {path}", file=sys.stderr, flush=True)
            shutil.rmtree(work, ignore_errors=True)
            os._exit(FAULT)

    def mutate(data: bytes, max_size: int, number: int) -> bytes:
        rng = random.Random(number)  # noqa: S311
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, max_size))
        start = data if rng.random() < 0.7 else rng.choice(seeds)
        return change(start, roll(rng, is_tree=target.is_tree), target.tokens, is_tree=target.is_tree)[:max_size]

    words = folder / "words.dict"
    escaped = ["".join(f"\\x{byte:02x}" for byte in word[:60]) for word in target.tokens]
    words.write_text("".join(f'"{word}"\n' for word in escaped))
    arguments = [
        *("fuzz", str(folder / "corpus"), f"-max_total_time={seconds}", f"-max_len={MAX_INPUT}"),
        *(f"-rss_limit_mb={RSS_MIB}", f"-timeout={TIMEOUT_S}", f"-artifact_prefix={folder / 'crashes'}/"),
        *("-print_final_stats=1", "-verbosity=1", "-len_control=0"),
        *([f"-dict={words}"] if escaped else []),
    ]
    atheris.Setup(arguments, one, custom_mutator=mutate)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def _known(folder: Path) -> set[str]:
    path = folder / "crashes" / KNOWN
    return set(path.read_text().splitlines()) if path.exists() else set()


def _title(error: BaseException) -> str:
    """What broke and where, the same for every input that breaks it there."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "medotter_viewer" in f.filename]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    words = re.sub(r"\d+", "N", " ".join(str(error).split()).split("/")[0])[:60]
    return f"{type(error).__name__}{place}: {words}"


def _import_readers() -> None:
    """Import every module below the window, so that its code is instrumented."""
    package = ROOT / "src" / "medotter_viewer"
    for part in ("core", "geometry", "formats", "metrics", "scoring", "sources", "checks", "evaluation"):
        for path in sorted((package / part).rglob("*.py")):
            importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))
    importlib.import_module("medotter_viewer.batch")


if __name__ == "__main__":
    sys.exit(main())
