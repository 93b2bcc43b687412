"""Every reader that meets bytes of strangers: how it is called, what a valid file looks like, the words of its format.

Adding a reader is one line in `TARGETS`. Modules of the package are imported when a target is prepared, so that the
long run can instrument them before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from fuzzing import readers, seeds
from fuzzing.dicom_trees import file_of

Read = Callable[[bytes], Iterable[object]]


@dataclass(frozen=True, slots=True)
class Target:
    """One reader.

    Parameters
    ----------
    name : str
        For test ids and the command line.
    prepare : callable
        Given an empty folder, writes what must lie beside the input and returns what reads one input.
    seeds : callable
        Valid files.
    tokens : tuple of bytes
        Words of the format.
    is_tree : bool
        Whether seeds are JSON (or YAML written as such) whose values are worth exchanging.
    examples : int
        How many inputs the tests try; slow readers get fewer.
    silent : bool
        Whether nothing may be printed; libtiff inside Pillow and a decoder of RLE print about damaged files and cannot
        be told not to.
    """

    name: str
    prepare: Callable[[Path], Read]
    seeds: Callable[[], list[bytes]]
    tokens: tuple[bytes, ...] = ()
    is_tree: bool = False
    examples: int = 80
    silent: bool = True


_NIFTI = (
    b"n+1\0",
    b"ni1\0",
    b"n+2\0\r\n\x1a\n",
    b"\x5c\x01\0\0",
    b"\0\0\x01\x5c",
    b"\x1c\x02\0\0",
    b"\0\0\xc0\x7f",
    b"\0\0\x80\x7f",
)
_NPY = (
    b"'descr': '|O'",
    b"'<f8'",
    b"'>i4'",
    b"'|b1'",
    b"'<c16'",
    b"[('a', '<i4')]",
    b"True",
    b"(10000000000,)",
    b"(-1,)",
)
_PNG = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"acTL", b"fcTL", b"iCCP", b"zTXt", b"tEXt", b"gAMA")
_TIFF = (
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"\0\1",
    b"\1\1",
    b"\x11\1",
    b"\x16\1",
    b"\x17\1",
    b"\2\1",
    b"\3\1",
    b"\x15\1",
    b"ImageJ=1.0\n",
)
_YAML = (
    b"task_type: seg\n",
    b"regions",
    b"metrics",
    b"&a [*a]",
    b"<<: *a",
    b"!!set",
    b"!!binary",
    b"!!timestamp",
    b"%YAML 1.1\n",
    b"--- ",
    b"...",
)
_SPEC = (
    b"instance_seg_2d",
    b"instance_seg_3d",
    b"vertebra",
    b"lung_contour",
    b"macro_avg",
    b"percentile",
    b"label_space",
)
_CSV = (b"1,1,0,0,1,0,1,1\n", b"\xef\xbb\xbf", b",", b"\r\n", b"1e", b'"', b"0x1p3", b"Infinity", b"NaN")
_ZIP = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\7", b"PK\6\6", b"\x08\0", b"\x0c\0", b"\x0e\0")
_AUX = (b"(0020.0032),", b"(0020.0037),", b"(0028.0030),", b"(0018.0050),", b"(0028.0010),", b"(0028.1053),")
_NRRD = (
    *(b"NRRD0005\n", b"type: block\n", b"type: double\n", b"endian: big\n", b"encoding: gzip\n", b"encoding: bzip2\n"),
    *(b"encoding: hex\n", b"encoding: txt\n", b"data file: x.raw\n", b"data file: LIST\n", b"byte skip: -1\n"),
    *(b"line skip: 9\n", b"space: RAS\n", b'space units: "mm" "mm" "mm"\n', b"(nan,0,0)", b"none", b"vector", b"???"),
)
_SLICER = (b"Segment0_LabelValue:=", b"Segment1_Layer:=", b"Segment0_Extent:=", b"Segment99_ID:=a\n", b"Segmentation_")
_SEGMENTS = ("read_segments", "read_labels", "read_volume", "read_grid")
_META = (
    *(b"NDims = ", b"DimSize = ", b"HeaderSize = -1\n", b"ElementType = MET_DOUBLE\n", b"ElementDataFile = LIST\n"),
    *(b"ElementDataFile = x%d.raw 1 9 1\n", b"CompressedData = True\n", b"BinaryData = False\n", b"MET_CHAR_ARRAY"),
    *(b"ElementNumberOfChannels = 3\n", b"DistanceUnits = um\n", b"ElementByteOrderMSB = True\n"),
)
_MAT = (b"\x0e\0\0\0", b"\x0f\0\0\0", b"inst_map", b"\5\0\4\0", b"MI", b"IM", b"\6\0\0\0\x08\0\0\0", b"\x11")
_DICOM = (
    *(b"\x28\0\x10\0US\2\0", b"\x28\0\x11\0US\2\0", b"\x28\0\0\1US\2\0", b"\xe0\x7f\x10\0OW\0\0", b"\xff\xff\xff\xff"),
    *(b"\xfe\xff\0\xe0", b"\xfe\xff\x0d\xe0\0\0\0\0", b"\xfe\xff\xdd\xe0\0\0\0\0", b"SQ\0\0", b"UN\0\0", b"DICM"),
    *(
        b"1.2.840.10008.1.2\0",
        b"1.2.840.10008.1.2.1.99",
        b"1.2.840.10008.1.2.4.90",
        b"1.2.840.10008.1.2.5",
        b"ISO 2022 IR 87",
    ),
)

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("json", readers.json_file, seeds.manifests, is_tree=True),
        Target("yaml", readers.yaml_file, seeds.specs, _YAML),
        Target("manifest", readers.manifest, seeds.manifests, is_tree=True),
        Target("task", readers.task, seeds.tasks, _YAML, is_tree=True, examples=40),
        Target("eval_spec", readers.eval_spec, seeds.specs, (*_YAML, *_SPEC), is_tree=True, examples=40),
        Target("user_remap", readers.user_remap, seeds.remaps, _YAML, is_tree=True),
        Target(
            "pattern", readers.pattern, seeds.patterns, (b"{stem}", b"{case_id!r}", b"{split:>9}", b"{tier[0]}", b"{{")
        ),
        Target("landmarks", readers.landmarks, seeds.landmarks, is_tree=True),
        Target("nifti", readers.volume(".nii"), seeds.niftis, _NIFTI),
        Target("nifti_gz", readers.volume(".nii.gz", pack=readers.gzipped), seeds.niftis, _NIFTI),
        Target("nifti_gz_damaged", readers.volume(".nii.gz"), seeds.gzipped_niftis),
        Target("png", readers.volume(".png", pack=readers.with_png_sums), seeds.pngs, _PNG),
        Target("png_damaged", readers.volume(".png"), seeds.pngs, _PNG),
        Target("tiff", readers.volume(".tif"), seeds.tiffs, _TIFF, silent=False),
        Target("npy", readers.volume(".npy"), seeds.npys, _NPY),
        Target("npz", readers.volume(".npz", pack=readers.zipped("arr_0.npy")), seeds.npys, _NPY),
        Target("npz_damaged", readers.volume(".npz"), seeds.npzs, _ZIP),
        Target("any_volume", readers.volume(".bin"), seeds.any_volumes, (*_NIFTI, *_TIFF, *_ZIP), silent=False),
        Target("submission", readers.submission(".csv"), seeds.submissions, _CSV),
        Target("submission_zip", readers.submission(".zip", pack=readers.zipped("s.csv")), seeds.submissions, _CSV),
        Target("submission_zip_damaged", readers.submission(".zip"), seeds.submission_zips, _ZIP),
        Target("scan_tags", readers.module("scan_aux", ".dat", "read_slice_tags"), seeds.aux_files, _AUX),
        Target("scan_of_tags", readers.scan("auxiliary/2.dat"), seeds.aux_files, _AUX, examples=30),
        Target("scan_of_structures", readers.scan("structures.dat"), seeds.structure_lists, examples=30),
        Target("scan_of_rings", readers.scan("contours/2.1.dat"), seeds.ring_files, examples=30),
        Target("scan_of_pictures", readers.scan("pngs/2.png"), seeds.pngs, _PNG, examples=30),
        Target("structures", readers.module("scan_structures", ".dat", "read_structure_names"), seeds.structure_lists),
        Target("rings", readers.module("scan_structures", ".dat", "read_rings"), seeds.ring_files),
        Target("structure_dict", readers.module("scan_tables", ".dat", "read_structure_dict"), seeds.structure_dicts),
        Target("seed_list", readers.module("scan_tables", ".csv", "read_seeds"), seeds.seed_lists),
        Target("clinical_list", readers.module("scan_tables", ".csv", "read_clinical"), seeds.clinical_lists),
        Target("nrrd", readers.module("nrrd", ".nrrd"), seeds.nrrds, _NRRD),
        Target("seg_nrrd", readers.module("seg_nrrd", ".seg.nrrd", *_SEGMENTS), seeds.seg_nrrds, (*_NRRD, *_SLICER)),
        Target("metaimage", readers.module("metaimage", ".mha"), seeds.metaimages, _META),
        Target("mat", readers.module("hovernet_mat", ".mat"), seeds.mats, _MAT),
        Target("dicom_file", readers.volume(".dcm"), seeds.dicom_slices, _DICOM, silent=False),
        Target("dicom_file_values", readers.volume(".dcm", pack=file_of), seeds.dicom_slice_trees, is_tree=True),
        Target("dicom_frames", readers.volume(".dcm", pack=file_of), seeds.dicom_multiframes, is_tree=True),
        Target("dicom_series", readers.dicom_series(), seeds.dicom_slices, _DICOM, examples=40, silent=False),
        Target(
            "dicom_series_values", readers.dicom_series(file_of), seeds.dicom_slice_trees, is_tree=True, examples=40
        ),
        Target("rtstruct", readers.module("dicom.rtstruct", ".dcm", "read_structures"), seeds.rtstructs, _DICOM),
        Target(
            "rtstruct_values",
            readers.module("dicom.rtstruct", ".dcm", "read_structures", pack=file_of),
            seeds.rtstruct_trees,
            is_tree=True,
        ),
        Target(
            "dicom_seg", readers.module("dicom.seg", ".dcm", "read_segments"), seeds.dicom_segs, _DICOM, examples=30
        ),
        Target(
            "dicom_seg_values",
            readers.module("dicom.seg", ".dcm", "read_segments", pack=file_of),
            seeds.dicom_seg_trees,
            is_tree=True,
            examples=30,
        ),
        Target("nnunet", readers.nnunet, seeds.dataset_files, is_tree=True, examples=30),
    )
}
