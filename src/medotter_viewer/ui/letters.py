"""Which side of the patient lies at which edge of the canvas. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medotter_viewer.geometry.orientation import DISPLAY_AXES

_OPPOSITE = {"L": "R", "R": "L", "P": "A", "A": "P", "I": "S", "S": "I"}


@dataclass(frozen=True, slots=True)
class EdgeLetters:
    """One letter for each edge of the canvas."""

    left: str
    right: str
    top: str
    bottom: str


def edge_letters(
    order: Sequence[int],
    *,
    vertical: str = "down",
    horizontal: str = "right",
    axes: Sequence[str] = DISPLAY_AXES,
) -> EdgeLetters:
    """Return the letters of a 2-D view.

    Parameters
    ----------
    order : sequence of int
        ``viewer.dims.order``: the last two axes run down and across the canvas.
    vertical, horizontal : str
        Where these two grow: ``viewer.scene.camera.orientation2d``.
    axes : sequence of str
        The direction in which each axis grows.

    Examples
    --------
    >>> edge_letters((0, 1, 2))
    EdgeLetters(left='R', right='L', top='A', bottom='P')
    >>> edge_letters((2, 0, 1))
    EdgeLetters(left='A', right='P', top='S', bottom='I')
    """
    down, across = axes[order[-2]], axes[order[-1]]
    if vertical == "up":
        down = _OPPOSITE[down]
    if horizontal == "left":
        across = _OPPOSITE[across]
    return EdgeLetters(_OPPOSITE[across], across, _OPPOSITE[down], down)
