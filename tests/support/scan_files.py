"""Write small scan folders, in the layout with PNGs and in the one with DICOM files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dicom_files import uid_of, write_slice
from numpy.typing import NDArray
from rtstruct_files import Drawn, Structure, write_rtstruct

Ring = Sequence[tuple[float, float]]
Rings = Mapping[int, Sequence[Ring]]
"""Slice number to rings."""
TARGET = "radiomics_gtv"


def box(left: float, top: float, width: float, height: float | None = None) -> list[tuple[float, float]]:
    """Corners of a rectangle, mm."""
    right, bottom = left + width, top + (width if height is None else height)
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def tags(
    number: int, *, thickness: float | str | None = 1, step: float = 2.5, spacing: str = "1,1", more: str = ""
) -> str:
    """Text of a slice's tags: 64 x 64 pixels, z = (number - 1) * step."""
    lines = [
        f"(0020.0032),0.0,0.0,{(number - 1) * step}",
        "(0020.0037),1,0,0,0,1,0",
        *([] if thickness is None else [f"(0018.0050),{thickness}"]),
        "(0028.0010),64",
        "(0028.0011),64",
        f"(0028.0030),{spacing}",
        "(0028.1052),-1024",
        "(0028.1053),1",
        "(0028.1054),HU",
    ]
    return "\n".join(lines) + "\n" + more


def write_png(path: Path, stored: NDArray[Any]) -> Path:
    """Write (rows, columns) values as a grey PNG of their depth."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(stored).save(path)
    return path


def write_png_scan(
    root: Path,
    scan: str,
    structures: Mapping[str, Rings],
    *,
    n_slices: int = 1,
    thickness: Sequence[float | str | None] | float | None = 1,
    contours: str = "contours",
    aux: Mapping[int, str] = {},
    pictures: Mapping[int, NDArray[Any]] | None = None,
) -> Path:
    """Write a scan with PNGs and return its folder.

    Parameters
    ----------
    root, scan
        Folder of the scans, name of this one.
    structures : mapping of str to Rings
        Name to rings; the order gives the structure numbers.
    n_slices : int
        Slices 1 to n.
    thickness : sequence or one value
        (0018.0050) of each slice; None leaves it out.
    contours : str
        Name of the folder of contours.
    aux : mapping of int to str
        Tags of slices, as they stand, instead of the usual ones.
    pictures : mapping of int to (rows, columns) ndarray
        By default 64 x 64 pixels whose value is 100 plus the slice number.
    """
    folder = root / scan
    (folder / "auxiliary").mkdir(parents=True)
    (folder / contours).mkdir()
    (folder / "structures.dat").write_text("|".join(structures), "utf-8")
    thick = list(thickness) if isinstance(thickness, Sequence) else [thickness] * n_slices
    for number in range(1, n_slices + 1):
        text = aux.get(number, tags(number, thickness=thick[number - 1]))
        (folder / "auxiliary" / f"{number}.dat").write_bytes(text.encode())
    if pictures is None:
        pictures = {n: np.full((64, 64), 100 + n, dtype=np.uint16) for n in range(1, n_slices + 1)}
    for number, stored in pictures.items():
        write_png(folder / "pngs" / f"{number}.png", stored)
    for place, rings_of in enumerate(structures.values(), 1):
        for number, rings in rings_of.items():
            write_rings(folder / contours / f"{number}.{place}.dat", rings)
    return folder


def write_rings(path: Path, rings: Sequence[Ring], z: float = 0.0) -> Path:
    """Write rings as lines of x,y,z triples."""
    lines = (",".join(f"{x!r},{y!r},{z!r}" for x, y in ring) + "\n" for ring in rings)
    path.write_text("".join(lines), "utf-8")
    return path


def write_dicom_scan(
    root: Path,
    scan: str,
    structures: Mapping[str, Rings],
    *,
    n_slices: int = 1,
    first: int = 1,
    thickness: Sequence[float | None] | float | None = 1,
    frame: str = "frame of reference",
    named: bool = True,
    stored: Mapping[int, NDArray[Any]] = {},
) -> Path:
    """Write the same scan with DICOM files, whose names say nothing about order, and return its folder.

    Parameters
    ----------
    first : int
        Instance Number of the first slice, at z = 0.
    frame : str
        Words of the contours' frame of reference.
    named : bool
        Whether contours name their image.
    stored : mapping of int to (rows, columns) ndarray
        Pixels of some slices.
    """
    folder = root / scan
    thick = list(thickness) if isinstance(thickness, Sequence) else [thickness] * n_slices
    for index in range(n_slices):
        write_slice(
            folder / "CT" / f"IM{n_slices - index}.dcm",
            stored.get(first + index, np.full((64, 64), 100 + first + index, dtype=np.int16)),
            position=(0, 0, 2.5 * index),
            number=first + index,
            thickness=thick[index],
            sop_uid=f"{scan} {first + index}",
            rescale=(1, -1024),
        )
    drawn = [
        Structure(
            place,
            name,
            [
                Drawn(
                    [(x, y, 2.5 * (number - first)) for x, y in ring],
                    image=uid_of("sop", f"{scan} {number}") if named else None,
                )
                for number, rings in rings_of.items()
                for ring in rings
            ],
        )
        for place, (name, rings_of) in enumerate(structures.items(), 1)
    ]
    write_rtstruct(folder / "RTst" / "rt.dcm", drawn, frame=frame)
    return folder


def submission(path: Path, rings: Mapping[str, Rings]) -> Path:
    """Write a submission: scan id to slice number to rings."""
    lines = [
        f"{scan},{number}," + ",".join(f"{x!r},{y!r}" for x, y in ring)
        for scan, by_number in rings.items()
        for number, drawn in by_number.items()
        for ring in drawn
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path
