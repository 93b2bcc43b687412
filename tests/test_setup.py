"""The set-up script and the CI entry point: what they promise on a machine that lacks something."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETUP = ROOT / "scripts" / "setup_env.sh"


def _copy_of_the_project(folder: Path) -> Path:
    """Make a folder with the script and a .venv whose Python suits but which cannot install anything."""
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(SETUP, folder / "scripts")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    _command(folder / ".venv" / "bin" / "python", "exit 0")
    _command(folder / ".venv" / "bin" / "uv", 'if [ "$1" = cache ]; then echo .cache; else echo "uv $*"; fi')
    return folder


def _command(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def _path_with(folder: Path, **bodies: str) -> str:
    """Return a PATH on which only the named stand-ins and a few plain tools exist."""
    folder.mkdir()
    for tool in ("awk", "cat", "cksum", "dirname", "head", "ln", "mkdir", "mktemp", "rm"):
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    for name, body in bodies.items():
        _command(folder / name.replace("_", "-"), body)
    return str(folder)


def _set_up(project: Path, path: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(project / "scripts" / "setup_env.sh"), *options],
        env={"PATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _packages() -> list[str]:
    return subprocess.run([SETUP, "--packages"], capture_output=True, text=True, check=True).stdout.split()


def _installed(packages: list[str]) -> str:
    """Return a stand-in for dpkg-query on a machine where these packages are installed."""
    return "\n".join(f"echo 'installed, {name}, '" for name in packages) or "true"


def test_ci_calls_make_test_and_nothing_of_its_own() -> None:
    run = ROOT / ".ci" / "run"
    assert os.access(run, os.X_OK)
    lines = [line for line in run.read_text().splitlines() if line and not line.startswith("#")]
    assert lines == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "exec make test"]


@pytest.mark.parametrize(
    ("shell", "script"),
    [
        ("sh", SETUP),
        ("sh", ROOT / "scripts" / "demo.sh"),
        ("sh", ROOT / "benchmarks" / "setup_env.sh"),
        ("sh", ROOT / "benchmarks" / "run.sh"),
        ("bash", ROOT / ".ci" / "run"),
    ],
)
def test_the_scripts_have_no_syntax_errors(shell: str, script: Path) -> None:
    subprocess.run([shell, "-n", script], check=True)


def test_make_without_a_target_explains_every_target() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    printed = subprocess.run(
        ["make", "-C", ROOT, "--no-print-directory"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    targets = [line.split()[1] for line in printed.splitlines()]
    names = "help env test demo pictures bench bench-check bench-reading bench-engines bench-rows bench-size bench-far"
    assert targets == [*names.split(), "bench-viewer", "rtstruct-peers", "fuzz", "clean"]


def test_the_names_of_the_packages_are_written_once() -> None:
    packages = _packages()
    assert {"xvfb", "xauth", "libxcb-cursor0"} <= set(packages)
    others = [ROOT / "Makefile", ROOT / "CONTRIBUTING.md", ROOT / "scripts" / "demo.sh", ROOT / ".ci" / "run"]
    assert [path.name for path in others if "libxcb-" in path.read_text()] == []


@pytest.mark.window
def test_the_packages_hold_every_library_that_qt_links_to() -> None:
    binding = importlib.util.find_spec("PyQt6")
    assert binding is not None
    assert binding.origin is not None
    plugin = Path(binding.origin).parent / "Qt6" / "plugins" / "platforms" / "libqxcb.so"
    linked = subprocess.run(["ldd", plugin], capture_output=True, text=True, check=True).stdout
    assert [line.strip() for line in linked.splitlines() if "not found" in line] == []


def test_without_root_one_line_names_all_missing_packages_and_the_command(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    path = _path_with(tmp_path / "bin", dpkg_query="true", id="echo 1000")
    done = _set_up(project, path, "--need-screen")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "as root, run: apt-get update && apt-get install" in line
    assert line.endswith(" " + " ".join(_packages()))


def test_without_a_screen_the_environment_itself_is_still_set_up(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    path = _path_with(tmp_path / "bin", dpkg_query="true", id="echo 1000")
    done = _set_up(project, path)
    assert done.returncode == 0
    assert "as root, run:" in done.stderr
    assert "uv pip install" in done.stdout


def test_a_second_run_installs_nothing(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    path = _path_with(tmp_path / "bin", dpkg_query=_installed(_packages()))
    assert "uv pip install" in _set_up(project, path, "--need-screen").stdout
    again = _set_up(project, path, "--need-screen")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    with (project / "pyproject.toml").open("a") as file:
        file.write("# one more requirement\n")
    assert "uv pip install" in _set_up(project, path, "--need-screen").stdout


def test_root_installs_only_what_is_missing_and_is_never_asked_a_question(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    log = tmp_path / "apt.log"
    path = _path_with(
        tmp_path / "bin",
        dpkg_query=_installed([name for name in _packages() if name != "libegl1"]),
        id="echo 0",
        apt_get=f'echo "$DEBIAN_FRONTEND $*" >> {log}',
    )
    assert _set_up(project, path, "--need-screen").returncode == 0
    update, install = log.read_text().splitlines()
    assert update.startswith("noninteractive update")
    assert install.startswith("noninteractive install -y ")
    assert install.endswith("--no-install-recommends libegl1")


def test_a_package_that_another_one_provides_is_not_missing(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    others = [name for name in _packages() if name != "libglib2.0-0"]
    renamed = "\necho 'installed, libglib2.0-0t64, libglib2.0-0 (= 2.84.4-3)'"
    path = _path_with(tmp_path / "bin", dpkg_query=_installed(others) + renamed)
    assert _set_up(project, path, "--need-screen").returncode == 0


def test_a_screen_replaces_the_packages_at_a_desk_but_not_in_ci(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    path = _path_with(tmp_path / "bin", dpkg_query="true", id="echo 1000")
    assert _set_up(project, path, "--need-screen", DISPLAY=":0").returncode == 0
    assert _set_up(project, path, "--need-screen", DISPLAY=":0", CI="true").returncode == 1


def test_a_system_other_than_debian_is_told_what_is_needed(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    bare = _path_with(tmp_path / "bare")
    assert _set_up(project, bare).returncode == 0
    done = _set_up(project, bare, "--need-screen")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "Xvfb, xauth and the libraries of Qt's xcb platform plugin" in line
    equipped = _path_with(tmp_path / "equipped", Xvfb="true", xauth="true")
    assert _set_up(project, equipped, "--need-screen").returncode == 0


def test_a_machine_without_a_suitable_python_is_told_which_ones_are(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    shutil.rmtree(project / ".venv")
    path = _path_with(tmp_path / "bin", dpkg_query=_installed(_packages()), python3="exit 1")
    done = _set_up(project, path)
    assert done.returncode == 1
    assert done.stderr.startswith("Python 3.11, 3.12 or 3.13 is needed")


def test_a_python_without_venv_is_named_with_the_package_to_install(tmp_path: Path) -> None:
    project = _copy_of_the_project(tmp_path / "project")
    shutil.rmtree(project / ".venv")
    no_venv = 'case "$2" in *ensurepip*) exit 1 ;; esac'
    path = _path_with(tmp_path / "bin", dpkg_query=_installed(_packages()), python3=no_venv)
    done = _set_up(project, path)
    assert done.returncode == 1
    assert done.stderr == "python3 has no venv module; as root, run: apt-get install -y python3-venv\n"
