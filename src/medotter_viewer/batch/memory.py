"""How much memory scoring a case takes, and how much there is: rules of thumb that cost next to nothing."""

from __future__ import annotations

import os
from math import prod
from pathlib import Path

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats import registry

PROCESS_BYTES = 250 << 20
"""Of a process with its libraries, before it reads anything; measured 165 to 210 MB."""
BYTES_PER_VOXEL = 12
"""Of both label maps and what is made of them; measured 4.1 to 5.7 for ids below 65,536, the rest is reserve."""
_TIMES_PACKED = 10
"""Memory over the size of a file whose header does not say how many voxels it has."""
_SHARE = 0.8
_GROUPS = Path("/sys/fs/cgroup")


def estimated_bytes(entry: CaseEntry) -> int:
    """Return about how much memory a process takes that scores a case.

    250 MB, and 12 bytes for each voxel of the larger of ground truth and prediction, by their headers; ten times the
    size of a file whose header does not say it, and of the files of a folder. Nothing more for scans with contours.
    """
    paths = [path for path in (entry.gt_path, entry.pred_path) if path is not None]
    return PROCESS_BYTES + max((_bytes_of(path) for path in paths), default=0)


def memory_for_cases() -> int | None:
    """Return four fifths of the memory that is free now, within the limit of a container; None where unknown."""
    free = [n for n in (_free_in_machine(), _free_in_group()) if n is not None]
    return int(_SHARE * max(0, min(free))) if free else None


def _bytes_of(path: Path) -> int:
    try:
        if path.is_dir():
            return _TIMES_PACKED * sum(file.stat().st_size for file in path.iterdir() if file.is_file())
        try:
            return BYTES_PER_VOXEL * prod(registry.read_grid(path)[0].shape)
        except MedotterViewerError:
            return _TIMES_PACKED * path.stat().st_size
    except OSError:
        return 0


def _free_in_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_group() -> int | None:
    """What the container may still take; None without a limit."""
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            return int((_GROUPS / limit).read_text(encoding="ascii")) - int((_GROUPS / used).read_text("ascii"))
        except (OSError, ValueError):  # ValueError: "max"
            continue
    return None
