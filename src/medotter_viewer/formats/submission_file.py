"""The text of a submission: a CSV file, or the one CSV in a zip archive, streamed and never expanded to disk."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from medotter_viewer.errors import ReadError

MEGABYTE = 10**6
"""The contest does not say which: this is the smaller one, so that what is accepted here is accepted there."""
MAX_BYTES = 100 * MEGABYTE
"""Of the text, and of the archive."""

_ZIP, _EMPTY_ZIP, _GZIP = b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b"
_END_OF_ARCHIVE, _END_BYTES, _LOCATOR, _LOCATOR_BYTES = b"PK\x05\x06", 22, b"PK\x06\x07", 20
_MAX_DIRECTORY = 1 << 20  # bytes: a list of some 10,000 members, which zipfile would take into memory whole
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack without regard to how much was asked for
_NAMES, _NAME_LENGTH = 10, 80


class SubmissionFileError(ReadError):
    """A file that can be read but cannot be a submission; `code` is that of its finding."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, eq=False)
class SubmissionText:
    """An open submission.

    Parameters
    ----------
    stream : binary file
        Its bytes.
    n_bytes : int
        How many there are by the file system or the archive; an archive may lie.
    member : str or None
        Name in the archive.
    """

    stream: IO[bytes]
    n_bytes: int
    member: str | None = None

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end.

        Raises
        ------
        SubmissionFileError
            If the archive is damaged.
        ReadError
            If the file cannot be read.
        """
        try:
            return self.stream.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise SubmissionFileError("bad-archive", f"the zip archive is damaged ({error}); make it anew") from error
        except OSError as error:
            raise ReadError(f"cannot be read: {error.strerror or error}") from error

    @property
    def climbs(self) -> bool:
        """Whether the member's name would leave a folder it is expanded to."""
        name = PurePosixPath((self.member or "").replace("\\", "/"))
        return name.is_absolute() or ".." in name.parts


@contextmanager
def open_submission(path: Path) -> Iterator[SubmissionText]:
    """Open a CSV file or the one CSV in a zip archive; which it is, its first bytes say.

    Members below ``__MACOSX`` and those that begin with ``._``, which macOS adds, are not looked at.

    Raises
    ------
    SubmissionFileError
        If it is larger than `MAX_BYTES`, compressed in another way, or an archive that does not hold exactly one
        CSV file that can be unpacked in bounded memory.
    ReadError
        If it is no file or cannot be read.
    """
    if not path.is_file():
        raise ReadError(
            f"{path}: {'a folder' if path.is_dir() else 'no such file'}, expected a CSV file or a zip archive"
        )
    with ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("rb"))
            n_bytes = path.stat().st_size
            _check_size(n_bytes, "the file")
            start = file.read(4)
            file.seek(0)
            if start.startswith(_GZIP):
                message = "the file is gzip data; a submission is a .csv file or a .zip archive of one"
                raise SubmissionFileError("bad-archive", message)
            text = SubmissionText(file, n_bytes)
            if start in (_ZIP, _EMPTY_ZIP):
                text = _open_member(file, n_bytes, stack)
        except ReadError:
            raise
        except OSError as error:
            raise ReadError(f"{path}: cannot be read: {error.strerror or error}") from error
        yield text


def _open_member(file: IO[bytes], n_bytes: int, stack: ExitStack) -> SubmissionText:
    """Open the only CSV of an archive, for as long as `stack` is."""
    _check_directory(file, n_bytes)
    try:
        archive = stack.enter_context(zipfile.ZipFile(file))
        info = _only_csv(archive)
        stream = stack.enter_context(archive.open(info))
    except (zipfile.BadZipFile, struct.error, NotImplementedError, EOFError, ValueError) as error:
        raise SubmissionFileError("bad-archive", f"the zip archive is damaged ({error}); make it anew") from error
    return SubmissionText(stream, info.file_size, info.filename)


def _check_directory(file: IO[bytes], n_bytes: int) -> None:
    """Refuse a list of members that would take much memory."""
    tail_bytes = min(n_bytes, _END_BYTES + _LOCATOR_BYTES + 0xFFFF)
    file.seek(n_bytes - tail_bytes)
    tail = file.read(tail_bytes)
    file.seek(0)
    at = tail.rfind(_END_OF_ARCHIVE)
    if at < 0 or len(tail) < at + _END_BYTES:
        raise SubmissionFileError("bad-archive", "the zip archive is cut off: it has no list of members; make it anew")
    (directory_bytes,) = struct.unpack_from("<I", tail, at + 12)
    has_locator = at >= _LOCATOR_BYTES and tail[at - _LOCATOR_BYTES :].startswith(_LOCATOR)
    if has_locator or directory_bytes > _MAX_DIRECTORY:
        message = "the zip archive has thousands of members; a submission's archive holds one CSV file"
        raise SubmissionFileError("bad-archive", message)


def _only_csv(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [info for info in archive.infolist() if not _is_folder(info) and not _is_macos(info.filename)]
    found = [info for info in members if info.filename.lower().endswith(".csv")]
    if len(found) != 1:
        got = f"{len(found)} CSV files" if found else "no CSV file"
        message = f"the zip archive holds {got}, expected exactly one; its members: {_names(found or members)}"
        raise SubmissionFileError("bad-archive", message)
    (info,) = found
    if info.flag_bits & 0x1:
        raise SubmissionFileError(
            "bad-archive", f"{info.filename[:_NAME_LENGTH]} in the zip archive is encrypted; pack it without a password"
        )
    if info.compress_type not in _BOUNDED:
        message = f"the zip archive is compressed by method {info.compress_type}; pack it by deflate (8)"
        raise SubmissionFileError("bad-archive", message)
    _check_size(info.file_size, "the CSV in the zip archive")
    return info


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith("/")  # its own is_dir fails on a member without a name


def _is_macos(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or parts[-1:] == () or parts[-1].startswith("._")


def _names(members: list[zipfile.ZipInfo]) -> str:
    shown = ", ".join(info.filename[:_NAME_LENGTH] for info in members[:_NAMES]) or "none"
    return f"{shown} and {len(members) - _NAMES} more" if len(members) > _NAMES else shown


def _check_size(n_bytes: int, what: str) -> None:
    if n_bytes > MAX_BYTES:
        raise too_large(what, n_bytes)


def too_large(what: str, n_bytes: int) -> SubmissionFileError:
    """Return the error about a submission that exceeds `MAX_BYTES`."""
    limit = f"at most {MAX_BYTES // MEGABYTE} MB ({MAX_BYTES:,} bytes) are allowed"
    return SubmissionFileError("file-too-large", f"{what} has {n_bytes:,} bytes or more; {limit}")
