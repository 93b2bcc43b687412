"""The command that opens the window at the place that is looked at."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from medotter_viewer.errors import UsageError
from medotter_viewer.session.state_file import SavedView

PROGRAM = "medotter-viewer"
_FAR_MM = 1e9


def link_command(
    source: Mapping[str, Any],
    *,
    split: str = "all",
    case_id: str | None = None,
    region: str | None = None,
    view: SavedView | None = None,
) -> str:
    """Return a command line that opens a case at a place.

    Parameters
    ----------
    source : mapping
        Options of `open_source`.
    split : {"all", "test", "train"}
        Which cases are listed.
    case_id, region : str, optional
        The case, and the region that is looked at alone.
    view : SavedView, optional
        Position and plane; the command gives it in mm LPS, as the window's read-out does.

    Examples
    --------
    >>> print(link_command({"target": "my bundle"}, case_id="A/1", view=SavedView((1.0, -2.5, 30.0))))
    medotter-viewer open 'my bundle' --case A/1 --position=-1.0,2.5,30.0
    """
    words = [PROGRAM, "open"]
    if source.get("target"):
        words.append(str(source["target"]))
    for key, value in source.items():
        if key == "target" or value is None or value is False:
            continue
        option = f"--{key.replace('_', '-')}"
        words += [option] if value is True else _option(option, str(value))
    if split != "all":
        words += ["--split", split]
    if case_id is not None:
        words += _option("--case", case_id)
    if region is not None:
        words += _option("--region", region)
    if view is not None:
        if view.position_world is not None:
            words.append(f"--position={position_text(view.position_world)}")
        if view.plane != "axial":
            words += ["--plane", view.plane]
    return shlex.join(words)


def position_text(position_world: Sequence[float]) -> str:
    """Return a position, mm RAS+, as ``X,Y,Z`` in mm LPS with a tenth of a mm.

    Examples
    --------
    >>> position_text((0.04, -2.5, 30.0))
    '0.0,2.5,30.0'
    """
    x, y, z = position_world
    return ",".join(f"{value:z.1f}" for value in (-x, -y, z))


def parse_position(text: str) -> tuple[float, float, float]:
    """Return mm RAS+ of ``X,Y,Z`` in mm LPS.

    Raises
    ------
    UsageError
        If it is not three finite numbers.

    Examples
    --------
    >>> parse_position("12.0, -33.5, 88")
    (-12.0, 33.5, 88.0)
    """
    parts = text.replace(";", ",").split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not all(abs(n) < _FAR_MM for n in numbers):
        raise UsageError(
            f"--position: got {text!r}, expected X,Y,Z in mm LPS as the read-out has them, "
            "e.g. --position=-12.0,33.5,88.0"
        )
    x, y, z = numbers
    return (0.0 - x, 0.0 - y, z)


def _option(name: str, value: str) -> list[str]:
    """Option and value as one word where the value could be taken for an option."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]
