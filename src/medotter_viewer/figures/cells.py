"""Pictures in Jupyter cells without pyplot, which is where IPython otherwise learns how to show a Figure."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def in_cell() -> bool:
    """Tell whether IPython or Jupyter runs this."""
    return _shell() is not None


def show_in_cells() -> None:
    """Let the cells of the running notebook show a Figure as PNG; elsewhere, or where they do already, do nothing."""
    if (shell := _shell()) is None:
        return
    from matplotlib.figure import Figure

    formatter = shell.display_formatter.formatters["image/png"]
    try:
        formatter.lookup_by_type(Figure)
    except KeyError:
        formatter.for_type(Figure, png_of)


def png_of(figure: Figure) -> bytes:
    """Return a picture as the bytes of a PNG file."""
    png = BytesIO()
    figure.savefig(png, format="png")
    return png.getvalue()


def _shell() -> Any:
    """The running IPython, or None; IPython is not imported for the question."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()
