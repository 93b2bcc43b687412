"""Digests of whole files: whether a file is still the one that something was said of."""

from __future__ import annotations

import hashlib
from pathlib import Path

from medotter_viewer.errors import ReadError


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises
    ------
    ReadError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error
