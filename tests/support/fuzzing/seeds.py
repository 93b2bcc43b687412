"""Valid files to start from, small and made here."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
import zlib
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
    first = (niftis, gzipped_niftis, pngs, tiffs, npys, npzs, nrrds, seg_nrrds, metaimages, mats, dicom_slices)
    return [make()[0] for make in first]


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


# ---------------------------------------------------------------- scans of the lung contest


def aux_files() -> list[bytes]:
    """Tags of slices."""
    from scan_files import tags

    return [tags(2).encode(), tags(2, thickness=None, spacing="9.76562e-1,9.76562e-1", more="(0010.0010),x\n").encode()]


def structure_lists() -> list[bytes]:
    """Texts of structures.dat."""
    return [b"radiomics_gtv|lung_L|heart", b"a| b |c\n"]


def ring_files() -> list[bytes]:
    """Contours of one structure on one slice."""
    return [b"0,0,1,10,0,1,10,10,1,0,10,1\n2,2,1,3,2,1,3,3,1\n", b"-1.5e1,2,3,4,5,6,7,8,9,1\n"]


def structure_dicts() -> list[bytes]:
    """Texts of structure_dict.dat."""
    return [b"radiomics_gtv|GTV|gtv \nlungs|lung\nbody\n", b"a|b\nb|c\n"]


def seed_lists() -> list[bytes]:
    """Lists of seed locations."""
    return [b"scan1,2,1.5,-2\nscan1,3,1,2\nscan2,1,0,0\n", b"a,1,1e2,.5\r\n"]


def clinical_lists() -> list[bytes]:
    """Lists of scans with one clinical fact."""
    return [b"scan1,0\nscan2,1\n", b"a,1\r\n"]


def write_scan(folder: Path) -> Path:
    """Write a scan with pictures and return its folder."""
    from scan_files import box, write_png_scan

    pictures = {n: np.full((8, 8), 100 + n, dtype=np.uint16) for n in (1, 2, 3)}
    rings = {"radiomics_gtv": {2: [box(1, 1, 4)]}, "heart": {1: [box(0, 0, 2)]}}
    return write_png_scan(folder, "scan", rings, n_slices=3, pictures=pictures)


# ---------------------------------------------------------------- other volumes


@cache
def nrrds() -> list[bytes]:
    """NRRD of several types and encodings, with and without a place."""
    space = (
        b"space: left-posterior-superior\nspace directions: (0.5,0,0) (0,2,0) (0,0,3)\nspace origin: (10,20,30)\n"
        b"kinds: domain domain domain\n"
    )
    start = b"NRRD0004\n# made by a test\ntype: uint8\ndimension: 3\nsizes: 4 5 6\n"
    raw = LABELS.tobytes(order="F")
    text = b" ".join(b"%d" % v for v in LABELS.ravel(order="F"))
    return [
        start + space + b"encoding: raw\n\n" + raw,
        start + space + b"encoding: gzip\n\n" + gzip.compress(raw, mtime=0),
        start + space + b"encoding: ascii\n\n" + text,
        start + b"spacings: 1 2 3\nencoding: hex\n\n" + raw.hex().encode(),
        b"NRRD0005\ntype: short\ndimension: 3\nsizes: 2 2 1\nendian: big\nencoding: raw\nkey:=value\n\n" + bytes(8),
        b"NRRD0001\ntype: float\ndimension: 2\nsizes: 2 3\nendian: little\nencoding: raw\nbyte skip: -1\n\n"
        + bytes(24),
    ]


@cache
def seg_nrrds() -> list[bytes]:
    """Segmentations of 3D Slicer, in one layer and in two."""
    space = b"space: left-posterior-superior\nspace directions: %s(0.5,0,0) (0,2,0) (0,0,3)\nspace origin: (10,20,30)\n"
    one = (
        b"Segment0_ID:=Segment_1\nSegment0_Name:=Tumour\nSegment0_Color:=1 0.5 0\nSegment0_LabelValue:=1\n"
        b"Segment0_Layer:=0\nSegment0_Extent:=0 3 0 4 0 5\n"
    )
    two = one.replace(b"Segment0", b"Segment1").replace(b"Tumour", b"body").replace(b"Layer:=0", b"Layer:=1")
    end = b"encoding: raw\n\n"
    flat = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 5 6\nkinds: domain domain domain\n" + space % b""
    deep = b"NRRD0004\ntype: uint8\ndimension: 4\nsizes: 2 4 5 6\nkinds: list domain domain domain\n" + space % b"none "
    layers = np.stack([LABELS == 1, LABELS == 2]).astype(np.uint8)
    return [flat + one + end + LABELS.tobytes(order="F"), deep + one + two + end + layers.tobytes(order="F")]


@cache
def metaimages() -> list[bytes]:
    """MetaImage with its data, plain and packed."""
    head = (
        b"ObjectType = Image\nNDims = 3\nBinaryData = True\nElementByteOrderMSB = False\n"
        b"TransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = 10 20 30\nElementSpacing = 0.5 2 3\nDimSize = 4 5 6\n"
        b"ElementType = MET_UCHAR\n"
    )
    raw = LABELS.tobytes(order="F")
    packed = zlib.compress(raw)
    size = b"CompressedData = True\nCompressedDataSize = %d\n" % len(packed)
    text = head.replace(b"BinaryData = True", b"BinaryData = False")
    return [
        head + b"ElementDataFile = LOCAL\n" + raw,
        head + size + b"ElementDataFile = LOCAL\n" + packed,
        text + b"ElementDataFile = LOCAL\n" + b" ".join(b"%d" % v for v in LABELS.ravel(order="F")),
        head.replace(b"MET_UCHAR", b"MET_DOUBLE") + b"HeaderSize = -1\nElementDataFile = LOCAL\n" + bytes(960),
    ]


@cache
def mats() -> list[bytes]:
    """MATLAB files of instance maps, plain and packed."""
    from scipy.io import savemat

    files = []
    for packed, array in (
        (False, LABELS[1]),
        (True, LABELS[1].astype(np.float64)),
        (False, LABELS[1].astype(np.int32)),
    ):
        file = io.BytesIO()
        savemat(file, {"inst_type": np.array([[1], [2]]), "inst_map": array}, do_compression=packed)
        files.append(file.getvalue())
    return files


# ---------------------------------------------------------------- DICOM


def _in_folder(write: Any) -> bytes:
    """Return the file that `write` makes at a path."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "x.dcm"
        write(path)
        return path.read_bytes()


def write_series(folder: Path) -> list[Path]:
    """Write a DICOM series of three slices."""
    import dicom_files

    return dicom_files.write_series(folder, dicom_files.ramp(3), thickness=1.0, rescale=(1.0, -1024.0))


@cache
def dicom_slices() -> list[bytes]:
    """The middle file of the series, in every way to write it."""
    import dicom_files

    def written(**how: Any) -> bytes:
        same = {"position": (0, 0, 1), "number": 2, "thickness": 1.0, "rescale": (1.0, -1024.0), "sop_uid": "x", **how}
        pixels = same.pop("pixels", dicom_files.ramp(2)[1])
        return _in_folder(lambda path: dicom_files.write_slice(path, pixels, **same))

    eight, wide = np.full((3, 4), 7, dtype=np.uint8), np.arange(1024, dtype=np.int16).reshape(32, 32)
    return [
        written(),
        written(syntax=dicom_files.IMPLICIT),
        written(syntax=dicom_files.BIG_ENDIAN),
        written(syntax=dicom_files.DEFLATED),
        written(preamble=False),
        written(syntax="1.2.840.10008.1.2.5"),
        written(syntax="1.2.840.10008.1.2.4.90", pixels=wide),
        written(syntax="1.2.840.10008.1.2.4.80", pixels=wide),
        written(pixels=np.dstack([eight] * 3), sop_class=dicom_files.SECONDARY_CAPTURE, rescale=None),
    ]


@cache
def dicom_slice_trees() -> list[bytes]:
    """The middle file of the series, element by element."""
    from fuzzing.dicom_trees import tree_of

    return [tree_of(dicom_slices()[0]), tree_of(dicom_slices()[8])]


@cache
def dicom_multiframes() -> list[bytes]:
    """Files of several frames, element by element."""
    import dicom_files
    from pydicom.dataset import Dataset

    from fuzzing.dicom_trees import tree_of

    def item(**values: Any) -> Any:
        one = Dataset()
        for name, value in values.items():
            setattr(one, name, value)
        return one

    places = [item(PlanePositionSequence=[item(ImagePositionPatient=[0, 0, z])]) for z in (0, 1, 2)]
    shared = item(
        PlaneOrientationSequence=[item(ImageOrientationPatient=[1, 0, 0, 0, 1, 0])],
        PixelMeasuresSequence=[item(PixelSpacing=[1, 1], SliceThickness=1)],
        PixelValueTransformationSequence=[item(RescaleSlope=1, RescaleIntercept=0, RescaleType="HU")],
    )
    more = {
        "NumberOfFrames": 3,
        "SharedFunctionalGroupsSequence": [shared],
        "PerFrameFunctionalGroupsSequence": places,
        "PixelData": np.arange(36, dtype=np.int16).tobytes(),
    }
    data = _in_folder(
        lambda path: dicom_files.write_slice(
            path,
            dicom_files.ramp(1)[0],
            position=None,
            orientation=None,
            spacing=None,
            sop_class=dicom_files.ENHANCED_CT,
            more=more,
        )
    )
    return [tree_of(data)]


@cache
def rtstructs() -> list[bytes]:
    """Structure sets as they are."""
    from rtstruct_files import Drawn, Structure, square, write_rtstruct

    structures = [
        Structure(1, "radiomics_gtv", [Drawn(square(0, 0, 2, 1.0), image="1.2.3"), Drawn(square(0, 0, 2, 2.0))]),
        Structure(2, "heart", [Drawn("0\\0\\1\\1\\0\\1\\1\\1\\1")], color=None),
        Structure(3, "empty"),
    ]
    return [_in_folder(lambda path: write_rtstruct(path, structures))]


@cache
def rtstruct_trees() -> list[bytes]:
    """Structure sets, element by element."""
    from fuzzing.dicom_trees import tree_of

    return [tree_of(one) for one in rtstructs()]


@cache
def dicom_segs() -> list[bytes]:
    """Segmentation objects as they are: of bits, of ids and of fractions."""
    from seg_files import write_seg

    masks = np.zeros((3, 3, 4, 2), dtype=np.uint8)
    masks[1, 1, 1:3, 0] = masks[2, 0, :, 1] = 1
    with tempfile.TemporaryDirectory() as name:
        slices = write_series(Path(name))
        return [
            _in_folder(lambda path: write_seg(path, slices, masks, ["a", "b"])),
            _in_folder(
                lambda path: write_seg(path, slices, masks[..., 0] + 2 * masks[..., 1], ["a", "b"], kind="LABELMAP")
            ),
            _in_folder(lambda path: write_seg(path, slices, masks.astype(np.float32), ["a", "b"], kind="FRACTIONAL")),
        ]


@cache
def dicom_seg_trees() -> list[bytes]:
    """Segmentation objects, element by element."""
    from fuzzing.dicom_trees import tree_of

    return [tree_of(one) for one in dicom_segs()]


# ---------------------------------------------------------------- nnU-Net


def dataset_files() -> list[bytes]:
    """Texts of dataset.json, of both versions of nnU-Net."""
    second = {
        "channel_names": {"0": "CT"},
        "labels": {"background": 0, "one": 1, "both": [1, 2]},
        "regions_class_order": [1, 2],
        "numTraining": 1,
        "file_ending": ".nii.gz",
        "name": "x",
    }
    first = {
        "modality": {"0": "CT"},
        "labels": {"0": "background", "1": "one"},
        "training": [{"image": "./imagesTr/a.nii.gz", "label": "./labelsTr/a.nii.gz"}],
        "test": ["./imagesTs/b.nii.gz"],
    }
    return _json(second, first)


def write_nnunet(place: Path) -> None:
    """Write a dataset of nnU-Net with one case."""
    import nibabel

    for name, array in (("imagesTr/a_0000", IMAGE), ("labelsTr/a", LABELS)):
        path = place / f"{name}.nii.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), path)
