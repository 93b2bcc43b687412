"""Which grids count as one: the rules in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import Case, CaseEntry, Remap
from medotter_viewer.sources.loading import load_case

IDS = np.random.default_rng(3).integers(0, 4, (6, 7, 8)).astype(np.uint8)
AFFINE = np.array([[2.0, 0, 0, -10], [0, 1.0, 0, 20], [0, 0, 4.0, 30], [0, 0, 0, 1.0]])
IDENTITY = Remap(None, "none")


def moved(x: float = 0, y: float = 0, z: float = 0) -> NDArray[np.float64]:
    affine = AFFINE.copy()
    affine[:3, 3] += x, y, z
    return affine


def write(path: Path, array: NDArray[Any], affine: NDArray[np.float64] | None = AFFINE) -> Path:
    """Write with nibabel; without an affine the file gets spacing 2 x 1 x 4 mm and no form codes."""
    image = nibabel.Nifti1Image(array, AFFINE if affine is None else affine, dtype=array.dtype)
    if affine is None:
        image.set_sform(None, 0)
        image.set_qform(None, 0)
    nibabel.save(image, path)
    if affine is None:
        assert {int(nibabel.load(path).header[c]) for c in ("qform_code", "sform_code")} == {0}
    return path


class Files:
    """Writes the parts of one case and loads it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: dict[str, Any] = {"channels": {}}

    def gt(self, affine: Any = AFFINE, array: NDArray[Any] = IDS) -> Files:
        self.parts["gt_path"] = write(self.folder / "gt.nii", array, affine)
        return self

    def pred(self, affine: Any = AFFINE, array: NDArray[Any] = IDS) -> Files:
        self.parts["pred_path"] = write(self.folder / "pred.nii", array, affine)
        return self

    def image(self, affine: Any = AFFINE, shape: tuple[int, ...] = IDS.shape, name: str = "ct") -> Files:
        path = write(self.folder / f"{name}.nii", np.full(shape, 7, dtype=np.int16), affine)
        self.parts["channels"][name] = path
        return self

    def load(self, **options: Any) -> Case:
        return load_case(CaseEntry("A/1", remap=IDENTITY, **self.parts), **options)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def codes(case: Case) -> list[str]:
    return [f"{f.severity} {f.code}" for f in case.findings]


def pred_ids(case: Case) -> Any:
    assert case.pred is not None
    assert case.gt is not None
    assert case.pred.grid is case.gt.grid
    return case.pred.data.tolist()


# ---------------------------------------------------------------- prediction against ground truth; smallest step 1 mm


@pytest.mark.parametrize("shift", [{}, {"y": 0.04}, {"x": -0.04}, {"z": 0.04}, {"x": 0.03, "y": 0.03}])
def test_up_to_a_twentieth_of_the_smallest_step_two_grids_are_one(files: Files, shift: dict[str, float]) -> None:
    case = files.gt().pred(moved(**shift)).load()
    assert pred_ids(case) == IDS.tolist()
    assert codes(case) == []


@pytest.mark.parametrize(
    ("shift", "said"), [({"y": 0.3}, "0.3"), ({"x": 0.3, "y": 0.4}, "0.5"), ({"z": -0.06}, "0.06")]
)
def test_up_to_half_of_it_they_are_scored_as_one_with_a_warning(
    files: Files, shift: dict[str, float], said: str
) -> None:
    case = files.gt().pred(moved(**shift)).load()
    assert pred_ids(case) == IDS.tolist()
    assert codes(case) == ["warning grid-nearly-equal"]
    assert f"up to {said} mm" in case.findings[0].message
    assert case.errors == []


@pytest.mark.parametrize(("shift", "said"), [({"y": 0.6}, "0.60"), ({"x": 0.6}, "0.60"), ({"x": 3, "y": 4}, "5.00")])
def test_beyond_half_of_it_they_are_refused_with_numbers(files: Files, shift: dict[str, float], said: str) -> None:
    case = files.gt().pred(moved(**shift)).load()
    assert case.pred is None
    assert case.gt is not None
    assert codes(case) == ["error grid-mismatch"]
    message = case.errors[0].message
    assert f"largest corner displacement {said} mm, 0.50 mm is allowed" in message
    assert "6 x 7 x 8 voxels of 2 x 1 x 4 mm, RAS" in message
    assert "--resample-prediction" in message


def test_a_small_rotation_is_judged_by_the_far_corner(files: Files) -> None:
    turned = AFFINE.copy()
    turned[:3, :3] = nibabel.eulerangles.euler2mat(z=0.02) @ AFFINE[:3, :3]
    # every entry differs by at most 0.04, but the corner (10, 6) mm from the first voxel moves by 0.02 * 11.66 mm
    case = files.gt().pred(turned).load()
    assert codes(case) == ["warning grid-nearly-equal"]
    assert "up to 0.233 mm" in case.findings[0].message


def flipped(axis: int) -> NDArray[np.float64]:
    """Affine of an array stored the other way round along one axis, same world."""
    affine = AFFINE.copy()
    affine[:3, 3] += affine[:3, axis] * (IDS.shape[axis] - 1)
    affine[:3, axis] *= -1
    return affine


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_flipped_prediction_of_the_same_world_is_refused_or_turned_when_asked(files: Files, axis: int) -> None:
    files.gt().pred(flipped(axis), np.flip(IDS, axis))
    case = files.load()
    assert case.pred is None
    assert codes(case) == ["error grid-mismatch"]
    assert ["LAS", "RPS", "RAI"][axis] in case.errors[0].message
    asked = files.load(resample_prediction=True)
    assert pred_ids(asked) == IDS.tolist()
    assert codes(asked) == ["warning resampled-prediction"]


def test_a_header_that_alone_is_flipped_gives_a_mirrored_prediction_when_asked(files: Files) -> None:
    asked = files.gt().pred(flipped(0), IDS).load(resample_prediction=True)
    assert pred_ids(asked) == IDS[::-1].tolist()


@pytest.mark.parametrize("affine", [AFFINE, None])
def test_another_shape_is_refused(files: Files, affine: Any) -> None:
    case = files.gt().pred(affine, IDS[:, :, :-1]).load()
    assert case.pred is None
    assert codes(case) == ["error grid-mismatch"]
    assert "6 x 7 x 7 voxels" in case.errors[0].message


def test_a_prediction_that_ends_too_early_is_refused_also_when_asked_to_resample(files: Files) -> None:
    case = files.gt().pred(AFFINE, IDS[:, :, :-1]).load(resample_prediction=True)
    assert case.pred is None
    assert "1 voxels beyond its last centre, 0.5 is allowed" in case.errors[0].message


def test_a_larger_prediction_is_cut_to_the_ground_truth_when_asked(files: Files) -> None:
    case = files.gt(moved(2, 1, 4), IDS[1:5, 1:6, 1:7]).pred().load(resample_prediction=True)
    assert pred_ids(case) == IDS[1:5, 1:6, 1:7].tolist()
    assert codes(case) == ["warning resampled-prediction"]


def test_a_grid_that_counts_as_one_is_never_resampled(files: Files) -> None:
    case = files.gt().pred(moved(y=0.5)).load(resample_prediction=True)
    assert pred_ids(case) == IDS.tolist()
    assert codes(case) == ["warning grid-nearly-equal"]


# ---------------------------------------------------------------- files without form codes


def test_a_prediction_without_form_codes_takes_the_ground_truths_grid(files: Files) -> None:
    case = files.gt().pred(None).load()
    assert pred_ids(case) == IDS.tolist()
    assert codes(case) == ["info no-form-codes"]
    assert case.findings[0].message.startswith("prediction: ")


def test_a_ground_truth_without_form_codes_takes_the_predictions_grid(files: Files) -> None:
    case = files.gt(None).pred().image(moved(50)).load()
    assert pred_ids(case) == IDS.tolist()
    assert case.gt is not None
    assert case.gt.grid.affine.tolist() == AFFINE.tolist()
    assert codes(case) == ["info no-form-codes", "warning image-grid-differs"]


@pytest.mark.parametrize("images", [True, False])
def test_without_form_codes_on_both_the_image_says_where_they_lie(files: Files, images: bool) -> None:
    case = files.gt(None).pred(None).image().load(images=images)
    assert pred_ids(case) == IDS.tolist()
    assert case.gt is not None
    assert case.gt.grid.has_world
    assert case.gt.grid.affine.tolist() == AFFINE.tolist()
    assert codes(case) == ["info no-form-codes", "info no-form-codes"]


def test_without_form_codes_anywhere_the_steps_are_used_and_the_orientation_is_said_to_be_unknown(files: Files) -> None:
    case = files.gt(None).pred(None).load()
    assert pred_ids(case) == IDS.tolist()
    assert case.gt is not None
    assert not case.gt.grid.has_world
    assert case.gt.grid.spacing == (2, 1, 4)
    assert codes(case) == ["warning no-form-codes"]
    assert case.errors == []


def test_no_form_codes_and_another_shape_cannot_be_resampled(files: Files) -> None:
    case = files.gt(None).pred(AFFINE, IDS[:, :, :-1]).load(resample_prediction=True)
    assert case.pred is None
    assert "form codes" in case.errors[0].message


def test_a_prediction_alone_takes_the_images_grid(files: Files) -> None:
    case = files.pred(None).image().load()
    assert case.pred is not None
    assert case.pred.grid.affine.tolist() == AFFINE.tolist()


# ---------------------------------------------------------------- images decide only drawing


@pytest.mark.parametrize("images", [True, False])
def test_an_image_that_lies_elsewhere_is_a_warning(files: Files, images: bool) -> None:
    case = files.gt().pred().image(moved(3, 4)).load(images=images)
    assert pred_ids(case) == IDS.tolist()
    assert codes(case) == ["warning image-grid-differs"]
    assert "channel ct lies up to 5.0 mm from the labels" in case.findings[0].message
    assert case.errors == []


@pytest.mark.parametrize("images", [True, False])
def test_every_channel_is_compared(files: Files, images: bool) -> None:
    case = (
        files.gt().image(name="t1").image(moved(3, 4), name="t2").image(AFFINE, (6, 7, 9), "flair").load(images=images)
    )
    messages = [f.message for f in case.findings if f.code == "image-grid-differs"]
    assert [m.split()[1] for m in messages] == ["t2", "flair"]
    assert "6 x 7 x 9 voxels" in messages[1]


@pytest.mark.parametrize("images", [True, False])
def test_an_unreadable_channel_is_a_warning_and_the_next_one_still_counts(files: Files, images: bool) -> None:
    files.gt(None).pred(None).image(name="t1").image(name="t2")
    (files.folder / "t1.nii").write_bytes(b"damage")
    case = files.load(images=images)
    assert codes(case) == ["warning unreadable-file", "info no-form-codes", "info no-form-codes"]
    assert case.gt is not None
    assert case.gt.grid.has_world
    assert list(case.channels) == (["t2"] if images else [])


def test_an_image_without_form_codes_is_drawn_on_the_labels_grid(files: Files) -> None:
    case = files.gt().image(None).load()
    assert case.gt is not None
    assert case.channels["ct"].grid is case.gt.grid
    assert codes(case) == ["info no-form-codes"]


def test_images_are_read_only_when_asked_for(files: Files) -> None:
    files.gt().image()
    assert files.load(images=False).channels == {}
    assert files.load().channels["ct"].data.tolist() == np.full(IDS.shape, 7).tolist()


# ---------------------------------------------------------------- findings of files


def test_findings_of_files_say_which_part_and_case(files: Files) -> None:
    files.gt(array=IDS + np.float32(0.02)).pred(array=IDS * np.float32(0.3))
    case = files.load()
    assert codes(case) == ["warning fractional-labels", "error unreadable-file"]
    assert case.findings[0].message.startswith("ground truth: label values lie up to 0.0200")
    assert case.findings[1].message.startswith("prediction: ")
    assert {f.where for f in case.findings} == {"A/1"}
    assert [f.file for f in case.findings] == [str(files.folder / "gt.nii"), str(files.folder / "pred.nii")]
    assert case.gt is not None
    assert case.pred is None


def test_a_case_of_nothing_loads_as_nothing(files: Files) -> None:
    case = files.load()
    assert (case.gt, case.pred, case.gt_native, dict(case.channels)) == (None, None, None, {})


def test_the_remap_is_applied_to_the_ground_truth_only(files: Files) -> None:
    files.gt().pred()
    entry = CaseEntry("A/1", remap=Remap({1: 2, 2: 1}, "dict"), **files.parts)
    case = load_case(entry)
    assert case.gt is not None
    assert case.gt.data.tolist() == np.array([0, 2, 1, 0])[IDS].tolist()
    assert case.gt_native is not None
    assert case.gt_native.data.tolist() == IDS.tolist()
    assert pred_ids(case) == IDS.tolist()


def test_an_image_of_two_positions_is_told_beside_labels_that_lie_at_one_of_them(files: Files) -> None:
    files.gt().pred().image()
    path = files.parts["channels"]["ct"]
    image = nibabel.load(path)
    two = nibabel.Nifti1Image(np.asarray(image.dataobj), AFFINE)
    two.set_qform(AFFINE, 1)
    two.set_sform(moved(x=10), 2)
    nibabel.save(two, path)
    case = files.load()
    assert pred_ids(case) == IDS.tolist()  # nothing is resampled
    assert case.errors == []
    found = {f.code: f.message for f in case.findings}
    assert sorted(found) == ["image-grid-differs", "qform-sform-differ"]
    assert "qform and sform differ by 10.0 mm" in found["qform-sform-differ"]
    assert "10.0 mm" in found["image-grid-differs"]


@pytest.mark.parametrize(("turn", "origin", "same"), [(0, 1e-4, True), (1e-7, 0, True), (0.002, 0, False)])
def test_a_wide_slice_turned_by_2_mrad_is_another_grid_though_no_entry_tells(
    files: Files, turn: float, origin: float, same: bool
) -> None:
    """The corner of 512 x 512 voxels of 1 mm, 511 * sqrt(2) mm away, moves by 1.45 mm."""
    ids = np.ones((512, 512, 3), dtype=np.uint8)
    straight, turned = np.eye(4), np.eye(4)
    turned[:3, :3] = nibabel.eulerangles.euler2mat(z=turn)
    turned[0, 3] = origin
    assert np.abs(turned - straight).max() <= 0.002
    case = files.gt(straight, ids).pred(turned, ids).load()
    if same:
        assert case.pred is not None
        assert codes(case) == []
    else:
        assert case.pred is None
        assert codes(case) == ["error grid-mismatch"]
        assert "1.4" in case.errors[0].message
