"""Files and folders made with bad intentions, and a process with little memory in which to open them."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import struct
import subprocess
import sys
import textwrap
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAX_MIB = 1024
"""Resident memory that no command may need for hostile input."""
_ADDRESS_MIB = 6000  # libraries reserve much more than they use
_TIMEOUT_S = 60

_CHILD = """
import json, resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, ({address} << 20, {address} << 20))
facts = Path(sys.argv[1])
code, sys.argv = -1, ["medotter-viewer", *sys.argv[2:]]
try:
{body}
finally:
    # not ru_maxrss, which a new process takes over from the one that started it
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    facts.write_text(json.dumps([code, int(peak) / 1024]))
"""
_COMMAND = "from medotter_viewer.cli import main\ncode = main(sys.argv[1:])"
_LOAD = """
from medotter_viewer import open_source
source = open_source(sys.argv[1], predictions=sys.argv[2] if len(sys.argv) > 2 else None)
for case_id in source.case_ids():
    case = source.load(case_id)
    print(json.dumps([case_id, [f.message for f in case.findings]]))
code = 0
"""


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    code: int
    out: bytes
    err: bytes
    mib: float

    @property
    def text(self) -> str:
        """Standard output and standard error."""
        return (self.out + self.err).decode("utf-8", "backslashreplace")


def run_command(folder: Path, *words: object) -> Ran:
    """Run one command line in a process of its own, in an empty folder below `folder` that must stay empty."""
    return _run(folder, _COMMAND, words)


def run_load(folder: Path, *words: object) -> Ran:
    """Open a source (target, predictions) in a process of its own, and load every case with its images."""
    return _run(folder, _LOAD, words)


def _run(folder: Path, body: str, words: Sequence[object]) -> Ran:
    script = _CHILD.format(address=_ADDRESS_MIB, body=textwrap.indent(body, "    "))
    work, facts = folder / "work", folder / "facts.json"
    work.mkdir(exist_ok=True)
    facts.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", script, str(facts), *map(os.fspath, map(_word, words))],
        cwd=work,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert facts.exists(), f"the process was ended by {done.returncode}: {done.stderr[-2000:]!r}"
    assert not list(work.iterdir()), "nothing may be written where a command runs"
    code, mib = json.loads(facts.read_text())
    return Ran(code, done.stdout, done.stderr, mib)


def _word(word: object) -> str | os.PathLike[str]:
    return word if isinstance(word, os.PathLike) else str(word)


class WritesAFile:
    """An object whose pickle writes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __reduce__(self) -> Any:
        """What a pickle calls."""
        return (exec, (f"open({self._path!r}, 'w').close()",))


def pickled_npy(path: Path, marker: Path) -> Path:
    """An array of one object that writes `marker` when it is unpickled."""
    array = np.empty(1, dtype=object)
    array[0] = WritesAFile(marker)
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=True)
    return path


def pickled_npz(path: Path, marker: Path) -> Path:
    """The same in an archive."""
    inner = pickled_npy(path.with_suffix(".inner"), marker)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "arr_0.npy")
    inner.unlink()
    return path


def raw_pickle(path: Path, marker: Path) -> Path:
    """Nothing but a pickle."""
    path.write_bytes(pickle.dumps(WritesAFile(marker)))
    return path


def promised_nifti() -> bytes:
    """A header of 2048 x 2048 x 2500 voxels (10 GB), and a few bytes."""
    import nibabel

    header = nibabel.Nifti1Header()
    header.set_data_dtype(np.uint8)
    header.set_data_shape((2048, 2048, 2500))
    header.set_sform(np.eye(4), code=1)
    header["magic"], header["vox_offset"] = b"n+1", 352
    return bytes(header.binaryblock) + bytes(4 + 100)


def write_promises(folder: Path) -> list[str]:
    """Write files of all formats whose headers promise 10 GB, and return their names."""
    nifti = promised_nifti()
    (folder / "promise.nii").write_bytes(nifti)
    (folder / "promise_packed.nii.gz").write_bytes(gzip.compress(nifti))
    (folder / "promise_zeros.nii.gz").write_bytes(gzip.compress(nifti + bytes(4 << 20)))
    size = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(bytes(10_000))), (b"IEND", b""))
    png = b"".join(struct.pack(">I", len(b)) + n + b + struct.pack(">I", zlib.crc32(n + b)) for n, b in chunks)
    (folder / "promise.png").write_bytes(b"\x89PNG\r\n\x1a\n" + png)
    (folder / "promise.tif").write_bytes(_promised_tiff())
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (100000, 100000)}\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(100)
    (folder / "promise.npy").write_bytes(npy)
    with zipfile.ZipFile(folder / "promise.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arr_0.npy", npy)
    nrrd = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2048 2048 2500\nencoding: %s\n\n"
    (folder / "promise.nrrd").write_bytes(nrrd % b"raw" + bytes(100))
    (folder / "promise_packed.nrrd").write_bytes(nrrd % b"gzip" + gzip.compress(bytes(100_000)))
    mha = b"ObjectType = Image\nNDims = 3\nDimSize = 2048 2048 2500\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"
    (folder / "promise.mha").write_bytes(mha + bytes(100))
    _promised_dicom(folder / "promise.dcm")
    return sorted(path.name for path in folder.glob("promise*"))


def _promised_tiff() -> bytes:
    """100,000 x 100,000 pixels in one strip of 100 bytes."""
    tags = [(256, 4, 100_000), (257, 4, 100_000), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1)]
    tags += [(278, 4, 100_000), (279, 4, 100)]
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<I", 108) + bytes(100) + struct.pack("<H", len(tags)) + entries + bytes(4)


def _promised_dicom(path: Path) -> None:
    from dicom_files import write_slice

    write_slice(path, np.zeros((4, 4), np.uint8), more={"Rows": 60_000, "Columns": 60_000, "NumberOfFrames": 3})
