"""Every reader that meets bytes of strangers: how it is called, what a valid file looks like, the words of its format.

Adding a reader is one line in `TARGETS`. Modules of the package are imported when a target is prepared, so that the
long run can instrument them before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from fuzzing import readers, seeds

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
        Whether nothing may be printed; libtiff inside Pillow prints about damaged files and cannot be told not to.
    """

    name: str
    prepare: Callable[[Path], Read]
    seeds: Callable[[], list[bytes]]
    tokens: tuple[bytes, ...] = ()
    is_tree: bool = False
    examples: int = 100
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
    )
}
