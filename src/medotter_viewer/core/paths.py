"""Keep paths that come from data files inside the folder they belong to."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

from medotter_viewer.errors import UnsafePathError


class Confined:
    """A folder that paths from data files must not leave; its own place is looked up once.

    Parameters
    ----------
    root : Path
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._base = os.path.realpath(root)

    def resolve(self, relative: str, *, where: str) -> Path:
        """Return the path of `relative` under the folder, refusing whatever would leave it.

        Parameters
        ----------
        relative : str
            Path as written in a data file.
        where : str
            File, case and key, for the message.

        Raises
        ------
        UnsafePathError
            For an absolute path, a drive, a ``..``, an empty path, a NUL, a link that leads out of the folder, a
            folder that holds such a link, or a name the file system cannot hold. Nothing is opened before.
        """

        def refuse(reason: str) -> UnsafePathError:
            return UnsafePathError(f"{where}: path {relative!r} {reason}; expected a path inside {self.root}")

        if not isinstance(relative, str) or not relative.strip() or "\0" in relative:
            raise refuse("is not a path")
        windows = PureWindowsPath(relative)
        if relative.startswith("/") or windows.drive or windows.root:
            raise refuse("is absolute")
        if ".." in relative.split("/") or ".." in windows.parts:
            raise refuse("climbs with '..'")
        try:
            # Strings, not Paths: a long case list looks up a hundred thousand of them.
            real = os.path.realpath(os.path.join(self._base, relative))  # noqa: PTH118
            os.lstat(real)
        except FileNotFoundError:
            pass  # not there: whoever opens it says so
        except (OSError, ValueError) as error:  # a name too long, a folder that may not be read, half a surrogate pair
            raise refuse(f"cannot be looked up ({getattr(error, 'strerror', None) or 'not a file name'})") from error
        if os.path.islink(real):  # noqa: PTH114
            raise refuse("runs in a loop of links")
        if real != self._base and not real.startswith(self._base.rstrip("/") + "/"):
            raise refuse("leaves its folder through a link")
        if (name := self.leaving(real)) is not None:
            raise refuse(f"is a folder with {name!r}, a link that leads out of it or nowhere")
        return self.root / relative

    def leaving(self, folder: str | os.PathLike[str]) -> str | None:
        """Name of an entry of a folder that is a link out of this one; None where there is none, or no folder.

        A folder may be one volume, whose reader opens every file in it.
        """
        try:
            with os.scandir(folder) as entries:
                links = sorted(entry.name for entry in entries if entry.is_symlink())
        except OSError:  # no folder, or whoever opens it says why not
            return None
        for name in links:
            real = os.path.realpath(os.path.join(folder, name))  # noqa: PTH118
            if not real.startswith(self._base.rstrip("/") + "/") or os.path.islink(real):  # noqa: PTH114
                return name
        return None


def resolve_inside(root: Path, relative: str, *, where: str) -> Path:
    """Return the path of `relative` under `root`, refusing whatever would leave it; see `Confined.resolve`."""
    return Confined(root).resolve(relative, where=where)
