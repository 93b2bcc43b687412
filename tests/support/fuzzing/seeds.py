"""Valid files to start from, small and made here."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELS = np.zeros((4, 5, 6), dtype=np.uint8)
LABELS[1:3, 1:4, 2:5] = 1
LABELS[3, 4, :] = 2
IMAGE = np.arange(120, dtype=np.float32).reshape(4, 5, 6) - 20


def _json(*contents: Any) -> list[bytes]:
    return [json.dumps(content).encode() for content in contents]


@cache
def manifests() -> list[bytes]:
    """Manifests of bundles."""
    case = {"dataset": "A", "split": "test", "seg": "gt/1.nii", "image": "im/1.nii", "tier": "easy", "patient_uid": "p"}
    other = {"dataset": "B", "seg": "gt/1.nii", "chan": {"t1": "im/1.nii", "t2": "im/1.nii"}, "remap": {"1": 2}}
    head = {"task": "t", "version": "1", "hash": "0123", "train": ["B/1"], "test": ["A/1"]}
    points = {**case, "landmarks": "x.json", "ctd": "x.json", "region": "thorax"}
    return _json(
        {**head, "per_case": {"A/1": case, "B/1": other}},
        {**head, "train": [], "per_case": {"A/1": points}, "skipped": [], "split_version": 1},
    )


@cache
def tasks() -> list[bytes]:
    """Texts of task.yaml, as JSON and as people write it."""
    content = {
        "task": {"id": "t", "name": "T", "modality": "CT"},
        "canonical_labels": {"one": [1], "two": [2], "both": [1, 2]},
        "label_remap": {"A": {"1": 1, "2": 2, "note": "x"}, "B": {"1": 2, "2": 0}},
        "main_region": "one",
    }
    text = b"task: {id: t, modality: MR}\ncanonical_labels:\n  one: [1]\n  two: [2]\nlabel_remap:\n  A:\n    1: 1\n"
    return [*_json(content), text, b"canonical_labels: {nucleus: [1]}\nlabel_remap: {A: {3: 1}}\n"]


@cache
def specs() -> list[bytes]:
    """Texts of eval_spec.yaml for every kind of task."""
    table = {"both_empty": 1.0, "gt_nonempty_pred_empty": 0.0, "gt_empty_pred_nonempty": 0.0}
    seg = {
        "task_type": "seg",
        "eval_regions": {"one": [1], "two": [2], "both": [1, 2]},
        "partial_label": True,
        "main_region": "macro_avg",
        "metrics": ["dice", "iou", "hd95"],
        "hd95": {"percentile": 95, "spacing": "from_header", "unit": "mm"},
        "empty_structure": {"dice": table, "hd95": {**table, "gt_nonempty_pred_empty": 373.13}},
        "aggregation": {"unit": "patient", "reduce": "mean", "headline": {"region": "macro_avg", "metric": "dice"}},
        "prediction_format": {"type": "nifti", "label_space": [0, 1, 2]},
    }
    instance = {
        "task_type": "instance_seg_3d",
        "eval_regions": {"nucleus": [1]},
        "metrics": ["f1", "aji", "pq"],
        "main_region": "nucleus",
        "iou_threshold": 0.5,
        "aggregation": {"unit": "image", "headline": {"region": "nucleus", "metric": "pq"}},
    }
    lung = {
        "task_type": "lung_contour",
        "eval_regions": {"radiomics_gtv": [1]},
        "main_region": "radiomics_gtv",
        "metrics": ["scan_score"],
        "lung_contour": {
            "target": "radiomics_gtv",
            "structure_dict": "d.dat",
            "overlap": "union",
            "error_length_mm": 10.0,
        },
        "aggregation": {"unit": "scan", "scale": 1000000},
    }
    spine = {**seg, "task_type": "vertebra", "metrics": ["dice", "id_rate"], "landmarks": {"manifest_key": "ctd"}}
    text = b"# comment\nmetrics: [dice, hd95]\neval_regions:\n  one: [1]\n  two: &b [2]\npartial_label: false\n"
    return [*_json(seg, instance, lung, spine, {**seg, "hd95": {"spacing": [1, 1, 2]}}), text]


@cache
def remaps() -> list[bytes]:
    """Files of ``--remap``."""
    return [*_json({"1": 2, "2": 1}, {"A": {"1": 1}, "B": {"3": 2}}), b"1: 2\n2: 1\nnote: x\n", b"A: {1: 1}\n"]


def patterns() -> list[bytes]:
    """Templates of ``--pattern``."""
    return [b"{dataset}/{stem}_pred.nii.gz", b"{case_id}.nii", b"{split}-{tier}.png"]


@cache
def landmarks() -> list[bytes]:
    """Files of centroids in their layouts."""
    points = [{"label": n, "X": 1.0 * n, "Y": 2.5, "Z": 3} for n in (1, 2, 20)]
    frame = {
        "direction": ["R", "A", "S"],
        "zoom": [1, 2, 3],
        "shape": [4, 5, 6],
        "origin": [0, 0, 0],
        "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    }
    nan = [{"label": 50 * 256 + 3, "X": None, "Y": 1, "Z": 1}]
    return _json([{"direction": ["P", "I", "R"]}, *points], points, [frame, *points, *nan], [])


def write_tiny_volumes(data: Path, predictions: Path) -> None:
    """Write the files that the first manifest names, and a prediction that is half right."""
    import nibabel

    for path, array in (("gt/1.nii", LABELS), ("im/1.nii", IMAGE)):
        (data / path).parent.mkdir(exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), data / path)
    (predictions / "A").mkdir()
    nibabel.save(nibabel.Nifti1Image(np.roll(LABELS, 1, axis=0), np.eye(4)), predictions / "A" / "1.nii")


@cache
def niftis() -> list[bytes]:
    """NIfTI-1 and -2, both byte orders, integers and scaled reals, colours."""
    import nibabel

    affine = np.array([[-1.0, 0, 0, 5], [0, 2, 0.1, 6], [0, -0.1, 3, 7], [0, 0, 0, 1]])
    big = nibabel.Nifti1Image(LABELS.astype(">i2"), affine, nibabel.Nifti1Header(endianness=">"))
    scaled = nibabel.Nifti1Image(IMAGE, affine, dtype=np.int16)
    scaled.set_qform(affine, code=2)
    colours = np.zeros((2, 2, 2), dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
    images = [
        nibabel.Nifti1Image(LABELS, affine),
        big,
        scaled,
        nibabel.Nifti2Image(LABELS.astype(np.float64), affine),
        nibabel.Nifti1Image(colours, affine),
        nibabel.Nifti1Image(LABELS[:, :, :1].astype(np.uint64), None, dtype=np.uint64),
    ]
    return [image.to_bytes() for image in images]


@cache
def gzipped_niftis() -> list[bytes]:
    """Packed NIfTI: one member, two members, and something behind the end."""
    first = niftis()[0]
    whole = gzip.compress(first, mtime=0)
    return [whole, gzip.compress(first[:300], mtime=0) + gzip.compress(first[300:], mtime=0), whole + b"tail"]


@cache
def pngs() -> list[bytes]:
    """PNG of every colour type and several depths."""
    from PIL import Image

    grey = Image.fromarray(LABELS[0] * 9)
    palette = Image.fromarray(LABELS[1] * 1, mode=None).convert("P")
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    rgb = Image.fromarray(np.dstack([LABELS[1] * 40] * 3))
    pictures = [
        grey,
        palette,
        rgb,
        Image.fromarray(LABELS[1].astype(np.uint16) * 900),
        Image.fromarray(LABELS[1] > 0),
        rgb.convert("RGBA"),
        grey.convert("LA"),
    ]
    return [_saved(picture, "PNG") for picture in pictures] + [_saved(palette, "PNG", bits=2, transparency=0)]


def _saved(picture: Any, kind: str, **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


@cache
def tiffs() -> list[bytes]:
    """TIFF: one page, a stack, tiles, compressions, colours, a palette, BigTIFF, ImageJ and OME."""
    import tifffile
    from PIL import Image

    def written(array: NDArray[Any], **options: Any) -> bytes:
        file = io.BytesIO()
        options = {"photometric": "minisblack", **options}
        how = {key: options.pop(key) for key in ("bigtiff", "imagej", "ome", "byteorder") if key in options}
        with tifffile.TiffWriter(file, **how) as writer:
            writer.write(array, **options)
        return file.getvalue()

    colours = np.dstack([LABELS[1]] * 3)
    return [
        written(LABELS),
        written(LABELS[1].astype(np.float32), byteorder=">"),
        written(LABELS.astype(np.uint16), bigtiff=True, compression="zlib"),
        written(np.zeros((32, 32), np.uint8), tile=(16, 16)),
        written(colours, photometric="rgb"),
        written(LABELS[1], photometric="palette", colormap=np.zeros((3, 256), np.uint16)),
        written(LABELS, imagej=True, metadata={"axes": "ZYX"}),
        written(LABELS, ome=True, metadata={"axes": "ZYX"}),
        *(_saved(Image.fromarray(LABELS[1]), "TIFF", compression=c) for c in ("tiff_lzw", "packbits", "jpeg")),
        _saved(Image.fromarray(LABELS[1] > 0), "TIFF", compression="group4"),
    ]


@cache
def npys() -> list[bytes]:
    """Arrays of several types, orders and versions."""
    arrays = [LABELS, np.asfortranarray(IMAGE), LABELS[1].astype(">i4"), LABELS > 0, LABELS.astype(np.uint64)]
    files = []
    for array in arrays:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        files.append(file.getvalue())
    file = io.BytesIO()
    np.lib.format.write_array(file, LABELS, version=(2, 0))
    return [*files, file.getvalue()]


@cache
def npzs() -> list[bytes]:
    """Archives of one array, stored and packed."""
    files = []
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, LABELS)
        files.append(file.getvalue())
    return files


def any_volumes() -> list[bytes]:
    """One of each format."""
    return [niftis()[0], gzipped_niftis()[0], pngs()[0], tiffs()[0], npys()[0], npzs()[0]]


@cache
def submissions() -> list[bytes]:
    """Submissions of contours."""
    return [
        b"1,1,0,0,10,0,10,10,0,10\n1,2,0.5,0.5,3e1,0,1,-2\n2,5,-1.25,2,3,4,5,6\n",
        b"\xef\xbb\xbf1,1,0,0,1,0,1,1\r\n\r\n2,5,0,0,1,0,1,1",
        b"",
    ]


@cache
def submission_zips() -> list[bytes]:
    """Archives of one CSV, stored and packed, with a folder and with what macOS adds."""
    files = []
    for kind, names in ((0, ["s.csv"]), (8, ["s.csv"]), (8, ["__MACOSX/._s.csv", "a/s.csv"]), (8, ["../s.csv"])):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", kind) as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name), submissions()[0], kind)
        files.append(file.getvalue())
    return files


def _in_folder(write: Any) -> bytes:
    """Return the one file that `write` makes in a folder."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        (path,) = (p for p in Path(name).rglob("*") if p.is_file())
        return path.read_bytes()
