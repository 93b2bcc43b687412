"""Importing the package costs little, and every name it promises is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import medotter_viewer

HEAVY = (
    *("qtpy", "PyQt5", "PyQt6", "PySide6", "napari", "magicgui", "vispy", "scipy", "nibabel", "matplotlib", "pandas"),
    *("ruamel", "psygnal", "distributed", "IPython", "PIL", "tifffile", "pydicom", "nrrd", "isal", "highdicom"),
)


def loaded_after(code: str) -> set[str]:
    names = "{name.partition('.')[0] for name, loaded in sys.modules.items() if loaded}"
    script = f"import sys\n{code}\nprint(*sorted({names}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_no_heavy_module() -> None:
    assert loaded_after("import medotter_viewer") & {*HEAVY, "numpy"} == set()


def test_the_plain_values_need_numpy_alone() -> None:
    code = "from medotter_viewer import Bundle, Case, EvalSpec, Grid, LabelMap, Remap, open_source"
    loaded = loaded_after(code)
    assert loaded & set(HEAVY) == set()
    assert "numpy" in loaded


def test_reading_and_scoring_modules_load_no_window_and_no_plots() -> None:
    modules = ("cli", "checks.bundle", "sources.info", "notebook")
    code = "\n".join(f"import medotter_viewer.{name}" for name in modules)
    assert loaded_after(code) & {*HEAVY} <= {"psygnal"}


@pytest.mark.parametrize("name", medotter_viewer.__all__)
def test_every_promised_name_resolves_and_is_listed(name: str) -> None:
    value = getattr(medotter_viewer, name)
    assert name in dir(medotter_viewer)
    assert name == "__version__" or value.__name__ == name


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = medotter_viewer.Nothing  # type: ignore[attr-defined]
    assert sorted(medotter_viewer.__all__) == list(medotter_viewer.__all__)
