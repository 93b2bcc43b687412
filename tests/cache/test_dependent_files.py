"""What the voxels of a case depend on besides its own two files changes the score, remembered or not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, write_series
from rtstruct_files import Drawn, Structure, square, write_rtstruct
from seg_files import write_seg

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.scoring.options import ScoreOptions

ALL = ScoreOptions(("dice", "iou", "hd95"))


@pytest.fixture
def cache(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path / "cache" / "scores.sqlite")


def scored(cache: FactCache, **options: Any) -> CaseScore:
    """The score of the first case: through the cache twice, and without it; all three are the same."""
    found = []
    for memory in (cache, cache, None):
        source = open_source(**options)
        found.append(score_entries(list(source.entries())[:1], source.spec, ALL, cache=memory)[0])
    assert found[0] == found[1] == found[2]
    return found[0]


def series(folder: Path, spacing: float, **more: Any) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    write_series(folder, ramp(3, (8, 8)), spacing=(spacing, spacing), thickness=1.0, **more)


def square_of(path: Path, side: float, name: str = "GTV") -> Path:
    return write_rtstruct(path, [Structure(1, name, [Drawn(square(-0.25, -0.25, side, 1))])])


def test_contours_on_a_changed_or_another_series(cache: FactCache, tmp_path: Path) -> None:
    files = {"gt": square_of(tmp_path / "gt.dcm", 4), "pred": square_of(tmp_path / "pred.dcm", 2)}
    series(tmp_path / "image", 1.0)
    assert scored(cache, **files, image=tmp_path / "image").regions["GTV"].gt_voxels == 16
    series(tmp_path / "image", 0.5)
    assert scored(cache, **files, image=tmp_path / "image").regions["GTV"].gt_voxels == 64
    series(tmp_path / "other", 2.0)
    assert scored(cache, **files, image=tmp_path / "other").regions["GTV"].gt_voxels == 4


def test_contours_on_another_series_of_one_folder(cache: FactCache, tmp_path: Path) -> None:
    files = {"gt": square_of(tmp_path / "gt.dcm", 4), "pred": square_of(tmp_path / "pred.dcm", 2)}
    for number, spacing in ((1, 1.0), (2, 0.5)):
        names = [f"{number}_{i}" for i in range(3)]
        about = {"series": str(number), "names": names, "more": {"SeriesNumber": number}}
        write_series(tmp_path / "image", ramp(3, (8, 8)), spacing=(spacing, spacing), thickness=1.0, **about)
    counts = [
        scored(cache, **files, image=tmp_path / "image", series=n).regions["GTV"].gt_voxels for n in ("1", "2", "1")
    ]
    assert counts == [16, 64, 16]


def test_names_that_other_cases_bring_move_ids(cache: FactCache, tmp_path: Path) -> None:
    """With a case "a" before it, which has another name first, the ids of case "b" are others; its score is not."""
    series(tmp_path / "of", 1.0)
    slices = sorted((tmp_path / "of").iterdir())
    masks = np.zeros((3, 8, 8, 2), dtype=np.uint8)
    masks[:, :4, :4, 0], masks[:, 5:, 5:, 1] = 1, 1
    for part in ("gt", "pred"):
        shown = masks if part == "gt" else np.roll(masks, 1, axis=1)
        write_seg(tmp_path / part / "b.dcm", slices, shown, ["liver", "node"])
    folders = {"gt": tmp_path / "gt", "pred": tmp_path / "pred"}
    before = scored(cache, **folders)
    for part in ("gt", "pred"):
        write_seg(tmp_path / part / "a.dcm", slices, masks[..., :1], ["node"])
    scored(cache, **folders)
    source = open_source(**folders)
    after = score_entries([source.entry("b")], source.spec, ALL, cache=cache)[0]
    assert {n: after.regions[n] for n in ("liver", "node")} == dict(before.regions)
    assert before.regions["liver"].metrics["dice"].value == 0.75
    # The same masks under other names are other structures.
    write_seg(tmp_path / "pred" / "b.dcm", slices, np.roll(masks, 1, axis=1), ["node", "liver"])
    after = score_entries([source.entry("b")], source.spec, ALL, cache=cache)[0]
    assert after.regions["liver"].metrics["dice"].value == 0.0


def test_a_segmentation_named_as_a_plain_volume_is_not_remembered_as_one(cache: FactCache, tmp_path: Path) -> None:
    series(tmp_path / "image", 1.0)
    rt = square_of(tmp_path / "gt.nii.gz", 4)
    entry = next(open_source(gt=rt, pred=rt, image=tmp_path / "image").entries())
    spec = open_source(gt=square_of(tmp_path / "gt.dcm", 4), image=tmp_path / "image").spec
    counts = []
    for spacing in (1.0, 0.5):
        series(tmp_path / "image", spacing)
        counts.append(score_entries([entry], spec, ALL, cache=cache)[0].regions["GTV"].gt_voxels)
    assert counts == [16, 64]


def arrays(folder: Path) -> dict[str, Path]:
    """Plain arrays without a position: one voxel, and the next one but one along the first axis."""
    files = {}
    for part, place in (("gt", 0), ("pred", 2)):
        data = np.zeros((8, 8, 3), dtype=np.uint8)
        data[place, 0, 0] = 1
        files[part] = folder / f"{part}.npy"
        np.save(files[part], data)
    return files


def test_the_series_that_lends_arrays_its_position_is_part_of_the_key(cache: FactCache, tmp_path: Path) -> None:
    files, found = arrays(tmp_path), []
    for spacing in (1.0, 0.5):
        series(tmp_path / "image", spacing)
        found.append(scored(cache, **files, image=tmp_path / "image").regions["1"].metrics["hd95"].value)
    assert found == [2.0, 1.0]


def test_uneven_slices_of_the_series_are_part_of_the_key(cache: FactCache, tmp_path: Path) -> None:
    files, found = arrays(tmp_path), []
    for last in (2.0, 4.0):
        shutil.rmtree(tmp_path / "image", ignore_errors=True)
        for index, z in enumerate((0.0, 1.0, last)):
            write_series(
                tmp_path / "image",
                ramp(1, (8, 8)),
                names=[f"{index}"],
                numbers=[index],
                origin=(0, 0, z),
                thickness=1.0,
            )
        found.append(scored(cache, **files, image=tmp_path / "image").regions["1"].metrics["hd95"])
    assert found == [MetricValue(2.0), MetricValue(None, "error", "uneven_slices")]


@pytest.mark.parametrize("kind", ["mhd", "nhdr"])
def test_the_data_file_of_a_detached_header_is_part_of_the_key(cache: FactCache, tmp_path: Path, kind: str) -> None:
    header = {
        "mhd": "ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\nElementType = MET_UCHAR\nElementSpacing = 1 1 1\n"
        "ElementDataFile = {data}\n",
        "nhdr": "NRRD0004\ntype: uint8\ndimension: 3\nspace: left-posterior-superior\nsizes: 4 4 4\n"
        "space directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (0,0,0)\nencoding: raw\ndata file: {data}\n",
    }[kind]
    files = {}
    for part in ("gt", "pred"):
        files[part] = tmp_path / f"{part}.{kind}"
        files[part].write_text(header.format(data=f"{part}.raw"))
    counts = []
    for n in (1, 2):
        for part in files:
            (tmp_path / f"{part}.raw").write_bytes(bytes([1] * n + [0] * (64 - n)))
        counts.append(scored(cache, **files).regions["1"].gt_voxels)
    assert counts == [1, 2]


def test_labels_and_remaps_share_facts_and_no_scores(cache: FactCache, tmp_path: Path) -> None:
    for part, ids in (("gt", [1, 1, 2, 0]), ("pred", [1, 2, 2, 0])):
        np.save(tmp_path / f"{part}.npy", np.array(ids, dtype=np.uint8).reshape(2, 2))
    files = {"gt": tmp_path / "gt.npy", "pred": tmp_path / "pred.npy"}
    texts = {"plain": "{1: a, 2: b}", "one": "{1: a, 2: a}", "other": "{1: b, 2: a}", "swap": "{1: 2, 2: 1}"}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)

    def dice(**options: Any) -> dict[str, float | None]:
        found = scored(cache, **files, **options)
        return {n: r.metrics["dice"].value for n, r in found.regions.items() if "dice" in r.metrics}

    two_thirds = pytest.approx(2 / 3)
    assert dice() == {"1": two_thirds, "2": two_thirds}
    assert dice(labels=tmp_path / "plain.yaml") == {"a": two_thirds, "b": two_thirds}
    assert dice(labels=tmp_path / "one.yaml") == {"a": 1.0}
    assert dice(labels=tmp_path / "other.yaml") == {"b": two_thirds, "a": two_thirds}
    # swapped, the truth is 2 2 1 0 against 1 2 2 0
    assert dice(remap=str(tmp_path / "swap.yaml")) == {"1": 0.0, "2": 0.5}
    instances = open_source(**files, instances=True)
    plain, remembered = (
        score_entries(list(instances.entries()), instances.spec, ScoreOptions(), cache=memory)
        for memory in (None, cache)
    )
    assert plain == remembered
    assert plain[0].regions["instances"].metrics["f1"].value == 0.0  # both objects overlap by a half, not more
