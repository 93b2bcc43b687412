"""Keep paths that come from data files inside the folder they belong to."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

from medotter_viewer.errors import UnsafePathError


def resolve_inside(root: Path, relative: str, *, where: str) -> Path:
    """Return the path of `relative` under `root`, refusing whatever would leave it.

    Parameters
    ----------
    root : Path
        Folder that must not be left.
    relative : str
        Path as written in a data file.
    where : str
        File, case and key, for the message.

    Raises
    ------
    UnsafePathError
        For an absolute path, a drive, a ``..``, an empty path, a NUL, a link that leads out of `root`, or a name
        the file system cannot hold. Nothing is opened before.
    """

    def refuse(reason: str) -> UnsafePathError:
        return UnsafePathError(f"{where}: path {relative!r} {reason}; expected a path inside {root}")

    if not isinstance(relative, str) or not relative.strip() or "\0" in relative:
        raise refuse("is not a path")
    posix, windows = PurePosixPath(relative), PureWindowsPath(relative)
    if posix.is_absolute() or windows.drive or windows.root:
        raise refuse("is absolute")
    if ".." in posix.parts or ".." in windows.parts:
        raise refuse("climbs with '..'")
    base = root.resolve()
    try:
        real = (base / posix).resolve()
        real.is_file()
    except RuntimeError as error:
        raise refuse("runs in a loop of links") from error
    except (OSError, ValueError) as error:  # a name too long, a folder that may not be read, half a surrogate pair
        raise refuse(f"cannot be looked up ({getattr(error, 'strerror', None) or 'not a file name'})") from error
    if not real.is_relative_to(base):
        raise refuse("leaves its folder through a link")
    return root / posix
