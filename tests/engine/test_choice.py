"""Which engine works, and that nothing is compiled or loaded while somebody waits."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from medotter_viewer.engine import choice, threads
from medotter_viewer.engine.choice import VARIABLE
from medotter_viewer.engine.store import FOLDER_VARIABLE
from medotter_viewer.errors import UsageError

LOADED = "import json, sys; print(json.dumps({'numba': 'numba' in sys.modules, 'status': choice.status()}))"


def python(code: str, **environment: str) -> dict[str, Any]:
    """Run code after importing `choice`, and return what it says at the end."""
    kept = {k: v for k, v in os.environ.items() if k not in (VARIABLE, FOLDER_VARIABLE)}
    done = subprocess.run(
        [sys.executable, "-c", f"from medotter_viewer.engine import choice\n{code}\n{LOADED}"],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_asking_for_kernels_loads_nothing(tmp_path: Path) -> None:
    said = python("assert choice.kernels() is None", **{FOLDER_VARIABLE: str(tmp_path)})
    assert said == {"numba": False, "status": "plain (compiled kernels are not loaded)"}
    assert not any(tmp_path.iterdir())


def test_plain_loads_nothing_even_where_kernels_are_compiled() -> None:
    said = python("choice.prepare(); choice.get_ready(); assert choice.kernels() is None", **{VARIABLE: "plain"})
    assert said == {"numba": False, "status": f"plain ({VARIABLE})"}


def test_an_unknown_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(UsageError, match=f"{VARIABLE}: got 'fast', expected plain or compiled"):
        choice.kernels()


def test_without_numba_the_plain_engine_works_and_compiled_says_what_to_do(tmp_path: Path) -> None:
    where = {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}  # as if it were not there
    said = python("choice.prepare(); choice.get_ready(); assert choice.kernels() is None", **where)
    assert said == {"numba": False, "status": "plain (numba is not installed)"}
    code = (
        "from medotter_viewer.errors import MissingDependencyError\n"
        "try:\n    choice.kernels()\n"
        "except MissingDependencyError as error:\n    assert 'pip install' in str(error), error\n"
        "else:\n    raise SystemExit('no error')"
    )
    python(f"{code}\nimport os; del os.environ['{VARIABLE}']", **where, **{VARIABLE: "compiled"})


def test_using_an_engine_ends_with_the_block() -> None:
    with choice.using("plain"):
        assert choice.kernels() is None
        with choice.using("compiled"):
            assert choice.kernels() is not None
        assert choice.kernels() is None


class TestFirstStart:
    def test_a_child_compiles_and_the_window_goes_on_without_waiting(self, tmp_path: Path) -> None:
        # A stand-in for the compiler: the real one takes a minute and is run before the tests.
        code = (
            "import time\nfrom medotter_viewer.engine import store\n"
            "choice._COMPILE = (sys.executable, '-c', 'import time; time.sleep(0.5); raise SystemExit(\"no room\")')\n"
            "start = time.monotonic(); choice.prepare(); took = time.monotonic() - start\n"
            "assert choice.kernels() is None and 'being made ready' in choice.status(), choice.status()\n"
            "choice._process.preparing.join(60)\n"
            "assert choice.kernels() is None"
        )
        said = python(f"import sys\n{code}", **{FOLDER_VARIABLE: str(tmp_path)})
        assert said == {"numba": False, "status": "plain (kernels could not be compiled: no room)"}

    def test_what_is_compiled_is_loaded_in_the_background(self) -> None:
        with choice.using("compiled"):
            pass  # compiled, if that was not done before
        where = {name: os.environ[name] for name in (FOLDER_VARIABLE,) if name in os.environ}
        said = python("choice.prepare(); choice._process.preparing.join(60)", **where)
        assert said == {"numba": True, "status": "compiled"}
        said = python("choice.get_ready()", **where)
        assert said == {"numba": True, "status": "compiled"}

    def test_nothing_that_is_compiled_is_compiled_again(self) -> None:
        with choice.using("compiled"):
            pass
        where = {name: os.environ[name] for name in (FOLDER_VARIABLE,) if name in os.environ}
        code = (
            "choice.get_ready(); kernels = choice.kernels(); missed = {}\n"
            "for name in kernels.__all__:\n"
            "    missed[name] = sum(getattr(kernels, name).stats.cache_misses.values())\n"
            "assert missed and not any(missed.values()), missed"
        )
        python(code, **where)

    def test_a_process_that_ends_while_kernels_load_ends_well(self) -> None:
        with choice.using("compiled"):
            pass
        where = {name: os.environ[name] for name in (FOLDER_VARIABLE,) if name in os.environ}
        for pause in (0.0, 0.3):
            python(f"import time; choice.prepare(); time.sleep({pause})", **where)


def test_shares_are_all_rows_once_and_few_voxels_are_one_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "3")
    assert threads.shares(10, 2_000_000) == [(0, 3), (3, 6), (6, 10)]
    assert threads.shares(2, 2_000_000) == [(0, 1), (1, 2)]
    assert threads.shares(10, 1000) == [(0, 10)]


@pytest.mark.parametrize("said", ["0", "two", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(threads.VARIABLE, said)
    with pytest.raises(UsageError, match=f"{threads.VARIABLE}: got '{said}', expected a whole number from 1 to 256"):
        threads.thread_count()


def test_kernels_that_cannot_be_read_are_thrown_away_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def fail_once(name: str) -> ModuleType:
        said.append(name)
        if len(said) == 1:
            raise pickle.UnpicklingError("invalid load key")
        return ModuleType(name)

    monkeypatch.setattr(choice.importlib, "import_module", fail_once)
    monkeypatch.setattr(choice.store, "is_ready", lambda: True)
    monkeypatch.setattr(choice.store, "forget", lambda: said.append("forgotten"))
    before = {name for name in sys.modules if "engine.kernels" in name}
    kept = {name: sys.modules[name] for name in before}
    try:
        assert isinstance(choice._imported(), ModuleType)
    finally:
        sys.modules.update(kept)
    assert said[1] == "forgotten"
    assert said[0] == said[2]
