"""A label map becomes a submission and the same label map again, through real files, voxel for voxel."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import OBLIQUE_DEG
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.formats import registry
from medotter_viewer.formats.polygon_csv import read_submission
from medotter_viewer.geometry.axial_slices import axial_slices
from medotter_viewer.geometry.ring_masks import ring_mask
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.source import CaseSource


def written_back(case: Case, source: CaseSource, region: str, out: Path) -> np.ndarray:
    """Export a case and return what its lines enclose, on the grid of its prediction."""
    found = export_cases([case], out, spec=source.spec, region=region)
    assert [f.message for f in found.findings if f.severity == "error"] == []
    rings = read_submission(out).rings
    assert case.pred is not None
    return ring_mask(rings.get(case.entry.case_id, {}), axial_slices(case.pred.grid))


@given(
    mask=npst.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))),
    steps=st.tuples(*[st.floats(0.3, 5)] * 3),
    origin=st.tuples(*[st.floats(-400, 400)] * 3),
    order=st.permutations(range(3)),
    ways=st.tuples(*[st.sampled_from([1, -1])] * 3),
)
def test_any_mask_survives_nifti_and_csv(tmp_path_factory, mask, steps, origin, order, ways) -> None:
    """Holes, borders of the image and pixels that touch at a corner, in every orientation."""
    folder = tmp_path_factory.mktemp("lossless")
    affine = np.zeros((4, 4))
    affine[list(order), range(3)] = np.array(steps) * ways
    affine[:, 3] = (*origin, 1)
    nib.save(nib.Nifti1Image(mask.astype(np.uint8), affine), folder / "m.nii.gz")
    (folder / "names.yaml").write_text("{1: tumour}")
    source = open_source(gt=folder / "m.nii.gz", pred=folder / "m.nii.gz", labels=folder / "names.yaml")
    np.testing.assert_array_equal(written_back(source.load("m"), source, "tumour", folder / "m.csv"), mask)
    with (folder / "m.scores.csv").open(newline="") as file:
        (scan,) = [row for row in csv.DictReader(file) if row["kind"] == "scan"]
    assert float(scan["score"]) == (1.0 if mask.any() else 0.0)
    assert float(scan["fp_mm3"]) == pytest.approx(0, abs=1e-6)


BUNDLES = ("abdominal_multiorgan_ct", "glioma_wt_tc_et", "hippocampus_mr", "spine_ct_verse")


@pytest.mark.real_data
@pytest.mark.parametrize("bundle", BUNDLES)
def test_every_ground_truth_of_a_bundle_comes_back_or_is_refused_by_name(
    shared_data: Path, tmp_path: Path, bundle: str
) -> None:
    root = shared_data / "bundles" / bundle / "data"
    manifest: dict[str, Any] = json.loads((root.parent / "bundle" / "manifest_test.json").read_text("utf-8"))
    files = sorted({root / meta["seg"] for meta in manifest["per_case"].values() if meta.get("seg")})
    files = [file for file in files if file.is_file()]
    assert files
    for place, file in enumerate(files):
        labels, _ = registry.read_labels(file)
        ids = [i for i in label_voxels(labels.data) if i]
        (tmp_path / "names.yaml").write_text("{" + ", ".join(f"{i}: r{i}" for i in ids) + "}")
        source = open_source(gt=file, pred=file, labels=tmp_path / "names.yaml")
        (case_id,) = source.case_ids("all")
        case = source.load(case_id)
        if labels.grid.oblique_deg > OBLIQUE_DEG:
            found = export_cases([case], tmp_path / "no.csv", spec=source.spec, region=f"r{ids[0]}")
            assert (found.files, [f.code for f in found.findings]) == ((), ["case-not-written"])
            assert f"case '{case_id}': not written: its axes are " in found.findings[0].message
            continue
        for one in ids:
            back = written_back(case, source, f"r{one}", tmp_path / f"{place}.csv")
            np.testing.assert_array_equal(back, labels.data == one)
