"""One look at each file of a case: what its key asks of a file again and again is asked of the disk once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from medotter_viewer.formats import nifti, registry
from medotter_viewer.formats.voxels import GZIP_MAGIC

_MOST_BYTES = 1 << 20  # of a file that are kept while its key is made


class Looks:
    """Sizes, times and first bytes of some files, each found once.

    A window waits while another thread waits for the disk, and the other way round: with a thousand remembered cases
    the calls were the cost, not the bytes.
    """

    def __init__(self) -> None:
        self._stats: dict[Path, os.stat_result | None] = {}
        self._starts: dict[Path, tuple[int, bytes]] = {}
        self._nifti: dict[Path, bool] = {}

    def stat(self, path: Path) -> os.stat_result | None:
        """Return what the folder says of a file; None where there is none.

        Raises
        ------
        OSError
            If it cannot be told.
        """
        if path not in self._stats:
            try:
                self._stats[path] = os.stat(path)  # noqa: PTH116 - many of them, and it takes half the time
            except FileNotFoundError:
                self._stats[path] = None
        return self._stats[path]

    def is_dir(self, path: Path) -> bool:
        """Whether it is a folder."""
        found = self.stat(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def is_file(self, path: Path) -> bool:
        """Whether it is a file, and no pipe or device."""
        found = self.stat(path)
        return found is not None and stat.S_ISREG(found.st_mode)

    def start(self, path: Path) -> tuple[int, bytes]:
        """Return the size of a file and its first bytes, at most a mebibyte; all of it where it is not larger.

        Raises
        ------
        OSError
            If it cannot be read.
        """
        if path not in self._starts:
            with path.open("rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                self._starts[path] = size, file.read(min(size, _MOST_BYTES))
        return self._starts[path]

    def is_nifti(self, path: Path) -> bool:
        """Whether it is a NIfTI file by its name and by its content: such a file stands for itself.

        It names no other file, and no structures.

        Raises
        ------
        OSError
            If it cannot be read.
        """
        if path not in self._nifti:
            self._nifti[path] = self._is_nifti(path)
        return self._nifti[path]

    def _is_nifti(self, path: Path) -> bool:
        if not path.name.lower().endswith(nifti.SUFFIXES) or not self.is_file(path):
            return False
        start = self.start(path)[1][: registry.START_BYTES]
        return nifti.matches(registry.unpacked(start) if start.startswith(GZIP_MAGIC) else start)
