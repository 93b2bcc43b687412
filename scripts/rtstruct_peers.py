"""Give RTSTRUCTs that this package writes to other readers, and count the voxels in which their masks differ.

    .venv/bin/python scripts/rtstruct_peers.py SCANS

SCANS is a scan with CT/ and RTst/, or a folder of several. The target of each is turned into a label map, exported by
``polygons export`` and read by dcmrtstruct2nii and rt-utils, which are installed into an environment of their own
(build/peers) and never needed otherwise. The table goes into benchmarks/RESULTS.md. Ends with 1 where dcmrtstruct2nii,
whose masks hold pixel centres as ours do, has any other voxel; rt-utils rounds vertices to whole pixels.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
HERE, PEERS = ROOT / ".venv" / "bin", ROOT / "build" / "peers"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PACKAGES = ("dcmrtstruct2nii", "rt-utils")
BEGIN, END = "<!-- rtstruct peers: written by rtstruct_peers.py -->", "<!-- end of rtstruct peers -->"


def main(scans: Path) -> int:
    """Compare every scan and write the table."""
    set_up()
    with tempfile.TemporaryDirectory() as place:
        found = [compared(one, Path(place)) for one in written(scans, Path(place))]
    if not found:
        print(f"{scans}: no scan with DICOM images and a target")
        return 1
    text = table(found)
    print(text)
    before = RESULTS.read_text("utf-8")
    if BEGIN in before:
        start, rest = before.split(BEGIN)
        after = start + text + rest.split(END)[1]
    else:
        after = f"{before.rstrip()}\n\n{text}\n"
    RESULTS.write_text(after, "utf-8")
    return int(any(one["dcmrtstruct2nii"]["differing"] for one in found))


def set_up() -> None:
    """Make the environment of the other readers, if it is not there."""
    python = PEERS / "bin" / "python"
    environment = {**os.environ, "UV_LINK_MODE": "copy"}
    if not python.exists():
        subprocess.run([HERE / "uv", "venv", "--quiet", PEERS], check=True, env=environment)
    # OpenCV without windows: the usual build needs libraries of a screen.
    wanted = [*PACKAGES, "opencv-python-headless", "pydicom<3"]  # dcmrtstruct2nii calls what pydicom 3 has not
    install = [HERE / "uv", "pip", "install", "--quiet", "--python", python]
    subprocess.run([*install, *wanted], check=True, env=environment)
    if subprocess.run([python, "-c", "import cv2"], check=False, capture_output=True).returncode:
        subprocess.run(
            [HERE / "uv", "pip", "uninstall", "--quiet", "--python", python, "opencv-python", "opencv-python-headless"],
            check=True,
            env=environment,
        )
        subprocess.run([*install, "--no-deps", "opencv-python-headless"], check=True, env=environment)


def written(scans: Path, place: Path) -> list[dict[str, Any]]:
    """Export the target of each scan; what is needed to compare it."""
    import nibabel as nib

    from medotter_viewer.geometry.axial_slices import stack_slices
    from medotter_viewer.geometry.ring_masks import ring_mask
    from medotter_viewer.sources.scan_source import ScanSource

    source, found = ScanSource(scans), []
    for case_id in source.case_ids():
        case = source.load(case_id, images=False)
        series = source.entry(case_id).channels["image"]
        if case.stack is None or case.gt_contours is None or not all(case.stack.sop_uids):
            continue
        mask = ring_mask(case.gt_contours.rings, stack_slices(case.stack.grid, case.stack))
        (place / "model").mkdir(exist_ok=True)
        nib.save(nib.Nifti1Image(mask.astype(np.uint8), case.stack.grid.affine), place / "model" / f"{case_id}.nii.gz")
        np.save(place / f"{case_id}.npy", mask)
        out = place / f"{case_id}.dcm"
        command = ["polygons", "export", scans, "--predictions", place / "model", "--case", case_id, "--out", out]
        subprocess.run([HERE / "medotter-viewer", *command], check=True, stdout=subprocess.DEVNULL)
        name = source.rules.target
        files = {"series": str(series), "rtstruct": str(out), "mask": str(place / f"{case_id}.npy")}
        found.append({"scan": case_id, "name": name, "voxels": int(mask.sum()), **files})
    return found


def compared(one: dict[str, Any], place: Path) -> dict[str, Any]:
    """Let the other environment read a file, and take its counts."""
    request = place / "request.json"
    request.write_text(json.dumps({**one, "folder": str(place / "peer" / one["scan"])}), "utf-8")
    done = subprocess.run(
        [PEERS / "bin" / "python", __file__, "--peer", request], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{one['scan']}: {done.stderr}")
    counts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**one, **counts}


def read_by_peers(request: Path) -> None:
    """Read one RTSTRUCT by both; runs in the other environment."""
    import warnings

    warnings.simplefilter("ignore")
    one = json.loads(request.read_text("utf-8"))
    ours = np.load(one["mask"])
    found = {}
    for name, read in (("dcmrtstruct2nii", by_dcmrtstruct2nii), ("rt-utils", by_rt_utils)):
        theirs = read(one)
        if theirs.shape != ours.shape:
            raise SystemExit(f"{name}: a mask of {theirs.shape}, ours is {ours.shape}")
        found[name] = {
            "version": importlib.metadata.version(name),
            "voxels": int(theirs.sum()),
            "differing": int((theirs != ours).sum()),
        }
    print(json.dumps(found))


def by_dcmrtstruct2nii(one: dict[str, Any]) -> Any:
    """(column, row, slice) mask by dcmrtstruct2nii."""
    import SimpleITK
    from dcmrtstruct2nii import dcmrtstruct2nii

    folder = Path(one["folder"])
    folder.mkdir(parents=True)
    dcmrtstruct2nii(one["rtstruct"], one["series"], str(folder), convert_original_dicom=False)
    (file,) = folder.glob("mask_*.nii.gz")
    return SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(file))).transpose(2, 1, 0) > 0


def by_rt_utils(one: dict[str, Any]) -> Any:
    """(column, row, slice) mask by rt-utils, whose array has the size of the image with both sides exchanged."""
    from rt_utils import RTStructBuilder

    structures = RTStructBuilder.create_from(dicom_series_path=one["series"], rt_struct_path=one["rtstruct"])
    found = structures.get_roi_mask_by_name(one["name"]).transpose(1, 0, 2)
    mask = np.zeros_like(np.load(one["mask"]))
    columns, rows = np.minimum(mask.shape[:2], found.shape[:2]).tolist()
    mask[:columns, :rows] = found[:columns, :rows]
    return mask


def table(found: list[dict[str, Any]]) -> str:
    """The section of RESULTS.md."""
    versions = ", ".join(f"{name} {found[0][name]['version']}" for name in PACKAGES)
    lines = [
        BEGIN,
        "## RTSTRUCTs in other readers",
        "",
        f"{date.today().isoformat()}, {versions}. `polygons export --out FILE.dcm` of a label map, read by each:",
        "voxels in which its mask differs from the label map. rt-utils rounds every vertex to a whole pixel, and fills",
        "the outline too.",
        "",
        "| scan | voxels | " + " | ".join(f"{name}: differing" for name in PACKAGES) + " |",
        "|---|---|" + "---|" * len(PACKAGES),
    ]
    for one in found:
        counts = " | ".join(f"{one[name]['differing']:,} (has {one[name]['voxels']:,})" for name in PACKAGES)
        lines.append(f"| {one['scan']} | {one['voxels']:,} | {counts} |")
    return "\n".join([*lines, "", END])


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--peer":
        read_by_peers(Path(sys.argv[2]))
    elif len(sys.argv) == 2:
        sys.exit(main(Path(sys.argv[1])))
    else:
        sys.exit(__doc__)
