"""Whether there is a screen, asked before Qt is, which would end the process; and a window that fits it."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

_HEADLESS = frozenset({"offscreen", "minimal", "minimalegl", "vnc", "linuxfb", "eglfs"})
_X_SOCKETS = "/tmp/.X11-unix/X"  # noqa: S108 - where X servers listen


def no_display() -> str | None:
    """Return why no window can be drawn, or None where one can; outside Linux there always is a screen."""
    if not sys.platform.startswith("linux"):
        return None
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if platform in _HEADLESS:
        return f"QT_QPA_PLATFORM={platform} draws no canvas: unset it"
    if os.environ.get("WAYLAND_DISPLAY") and platform != "xcb":
        return None
    display = os.environ.get("DISPLAY")
    if not display:
        return "no display: neither DISPLAY nor WAYLAND_DISPLAY is set"
    return None if _x_server_answers(display) else f"no display: nothing answers at DISPLAY={display}"


def _x_server_answers(display: str) -> bool:
    """Whether something listens where an X server of that name would: ``:1``, ``:1.0``, ``host:10.0``."""
    host, colon, number = display.rpartition(":")
    screen = number.partition(".")[0]
    if not colon or not screen.isdigit():
        return False
    places: list[tuple[socket.AddressFamily, Any]] = [(socket.AF_INET, (host, 6000 + int(screen)))]
    if host in ("", "unix"):
        places = [(socket.AF_UNIX, start + _X_SOCKETS + screen) for start in ("\0", "")]
    for family, address in places:
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(2)
                probe.connect(address)
        except OSError:
            continue
        return True
    return False


def fit_screen(main: Any) -> None:
    """Make a window with its frame no larger than its screen: else the line at the bottom cannot be seen.

    Parameters
    ----------
    main : QMainWindow
        That is shown; frames are known a moment after.
    """
    room, frame = main.screen().availableGeometry(), main.frameGeometry().size() - main.size()
    size = main.size().boundedTo(room.size() - frame)
    if size != main.size():
        main.resize(size)
        main.move(room.topLeft())
