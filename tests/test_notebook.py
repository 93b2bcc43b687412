"""What a cell calls: the same numbers as everywhere, pictures without a display, and clear refusals."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nibabel
import numpy as np
import pytest

from medotter_viewer import Bundle, open_source, plot_case, score_case, view
from medotter_viewer.cli import main
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.reprs import html_pairs, html_table, metric_header, metric_text
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.errors import BundleError, CaseNotFoundError, MissingDisplayError, UsageError
from medotter_viewer.figures.cells import png_of
from medotter_viewer.formats.nifti import write_labels
from medotter_viewer.notebook import View, score_bundle
from medotter_viewer.ui.screen import no_display

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a bundle of two cases; native 5 is canonical 1; the first prediction misses one voxel of four."""
    grid = Grid((4, 4, 4), np.diag([1.0, 1.0, 2.0, 1.0]))
    gt = np.zeros(grid.shape, dtype=np.uint8)
    gt[1:3, 1:3, 1] = 5
    pred = (gt == 5).astype(np.uint8)
    pred[1, 1, 1] = 0
    ids = ["SET/0001", "SET/0002"]
    folder = tmp_path / "bundle"
    folder.mkdir()
    for name, data in [("data/a.nii.gz", gt), ("data/b.nii.gz", gt), ("model/SET/0001.nii.gz", pred)]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_labels(path, LabelMap(data, grid))
    per_case = {i: {"dataset": "SET", "seg": f"{n}.nii.gz"} for i, n in zip(ids, "ab", strict=True)}
    manifest = {"task": "tiny", "version": "1", "hash": "abc", "train": [], "test": ids, "per_case": per_case}
    (folder / "manifest_test.json").write_text(json.dumps(manifest))
    (folder / "task.yaml").write_text("canonical_labels: {organ: [1]}\nlabel_remap: {SET: {5: 1}}\n")
    (folder / "eval_spec.yaml").write_text("eval_regions: {organ: [1]}\nmetrics: [dice, hd95]\nmain_region: organ\n")
    return tmp_path


# ---------------------------------------------------------------- numbers and pictures


def test_a_path_a_bundle_and_an_open_source_give_the_same_score(bundle: Path) -> None:
    model = bundle / "model"
    opened = open_source(bundle, predictions=model)
    scores = [
        score_case(bundle, "SET/0001", model),
        score_case(str(bundle), "SET/0001", str(model)),
        score_case(Bundle(bundle / "bundle"), "SET/0001", model),
        score_case(opened, "SET/0001"),
        score_case(open_source(bundle), "SET/0001", model),
    ]
    assert {score.regions["organ"].metrics["dice"].value for score in scores} == {2 * 3 / (4 + 3)}
    assert scores[0].status == "scored"


def test_the_metrics_are_those_that_were_asked_for(bundle: Path) -> None:
    score = score_case(bundle, "SET/0001", bundle / "model", metrics=["iou"])
    assert {name: value.value for name, value in score.regions["organ"].metrics.items()} == {"iou": 0.75}


def test_a_case_without_prediction_says_so_or_counts_as_empty(bundle: Path) -> None:
    assert score_case(bundle, "SET/0002", bundle / "model").status == "missing_prediction"
    empty = score_case(bundle, "SET/0002", bundle / "model", missing="empty", metrics=["dice"])
    assert empty.regions["organ"].metrics["dice"].value == 0


def test_a_score_is_a_table_with_one_row_for_each_region_and_metric(bundle: Path) -> None:
    frame = score_case(bundle, "SET/0001", bundle / "model").to_dataframe()
    assert list(frame["metric"]) == ["dice", "hd95"]
    assert frame.loc[0, "value"] == pytest.approx(6 / 7)
    assert (frame.loc[0, "gt_voxels"], frame.loc[0, "pred_voxels"], frame.loc[0, "intersection"]) == (4, 3, 3)


def test_a_whole_split_is_scored_and_reported(bundle: Path) -> None:
    told = []
    report = score_bundle(bundle, bundle / "model", progress=lambda done, total, score: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    assert (report.complete, report.model, report.aggregate.headline.n) == (False, "model", 1)
    assert report.aggregate.headline.value == pytest.approx(6 / 7)
    html = report._repr_html_()
    assert "1 scored, 1 missing prediction" in html
    assert "0.857 (n=1)" in html
    assert "SET/0002: case SET/0002: no prediction found" in html


@pytest.mark.parametrize("remap", ["identity", "table"])
def test_a_report_is_that_of_the_command_line(bundle: Path, remap: str) -> None:
    if remap == "table":
        remap = str(bundle / "remap.yaml")
        (bundle / "remap.yaml").write_text("SET: {5: 1}\n")
    words = ["--predictions", bundle / "model", "--pattern", "{case_id}.nii.gz", "--remap", remap]
    file = bundle / "scores.json"
    main(["score", str(bundle / "bundle"), *map(str, words), "--resample-prediction", "--json", str(file)])
    report = score_bundle(
        bundle / "bundle", bundle / "model", pattern="{case_id}.nii.gz", remap=remap, resample_prediction=True
    )
    assert report.to_dict() == json.loads(file.read_text())
    assert report.definitions["predictions"] == str(bundle / "model")
    assert report.definitions["user_remap"]["source"] == remap


def test_a_split_without_cases_is_the_error_of_the_command(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BundleError, match=r"no case in split 'train' \(2 in test, 0 in train\)") as caught:
        score_bundle(bundle, bundle / "model", split="train")
    capsys.readouterr()
    words = [str(bundle), "--predictions", str(bundle / "model"), "--split", "train"]
    assert main(["score", *words]) == 1
    assert str(caught.value) in capsys.readouterr().err


def test_a_picture_takes_the_window_that_suits_the_modality_of_the_task(bundle: Path) -> None:
    grid = Grid((4, 4, 4), np.diag([1.0, 1.0, 2.0, 1.0]))
    image = np.linspace(-120, 900, 64).reshape(grid.shape).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(image, grid.affine), bundle / "data" / "image.nii.gz")
    manifest = bundle / "bundle" / "manifest_test.json"
    content = json.loads(manifest.read_text())
    content["per_case"]["SET/0001"]["image"] = "image.nii.gz"
    manifest.write_text(json.dumps(content))
    task = bundle / "bundle" / "task.yaml"
    plain = task.read_text()
    for modality, is_soft_tissue in (("CT", True), ("MRI", False)):
        task.write_text(f"task: {{id: t, modality: {modality}}}\n{plain}")
        assert open_source(bundle).modality == modality
        drawn = plot_case(bundle, "SET/0001").axes[0].images[0].get_clim()
        assert (drawn == (-160, 240)) is is_soft_tissue
    task.write_text(plain)
    assert open_source(bundle).modality is None


def test_a_picture_needs_no_display(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    figure = plot_case(bundle, "SET/0001", bundle / "model")
    assert len(figure.axes) == 3
    assert png_of(figure).startswith(PNG)


def test_a_cell_shows_the_picture_without_pyplot(bundle: Path) -> None:
    code = f"""
        import sys
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        from medotter_viewer import plot_case
        figure = plot_case({str(bundle)!r}, "SET/0001")
        data, _ = shell.display_formatter.format(figure)
        assert data["image/png"].startswith({PNG!r}), list(data)
        assert not [name for name in sys.modules if name in ("matplotlib.pyplot", "napari", "qtpy")]
    """
    lines = "\n".join(line[8:] for line in code.splitlines())
    environment = {**os.environ, "IPYTHONDIR": str(bundle / "ipython")}
    done = subprocess.run([sys.executable, "-c", lines], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- refusals


def test_an_unknown_case_is_refused_with_the_nearest_ids(bundle: Path) -> None:
    for call in (score_case, plot_case):
        with pytest.raises(CaseNotFoundError, match=r"no case 'SET/001' among 2; nearest are SET/0001"):
            call(bundle, "SET/001")
    with pytest.raises(CaseNotFoundError, match="nearest are"):
        view(bundle, case="completely different")
    with pytest.raises(UsageError, match="'liver', expected one of organ"):
        view(bundle, region="liver")


def test_an_unknown_option_is_refused_and_an_open_source_takes_none(bundle: Path) -> None:
    with pytest.raises(UsageError, match="colour: no such option"):
        score_case(bundle, "SET/0001", colour="red")
    with pytest.raises(UsageError, match="remap: the source is open already"):
        score_case(open_source(bundle), "SET/0001", remap="identity")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there always is a screen")
def test_what_cannot_predict_is_refused_before_a_window_opens(bundle: Path) -> None:
    with pytest.raises(UsageError, match="expected an object with predict"):
        view(bundle, predictor=3)
    with pytest.raises(UsageError, match="the class Path"):
        view(bundle, predictor=Path)


def test_a_window_without_a_display_is_refused_before_qt_is_asked(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    with pytest.raises(MissingDisplayError, match=r"neither DISPLAY nor WAYLAND_DISPLAY is set; plot_case\(...\)"):
        view(bundle, case="SET/0001")
    monkeypatch.setenv("DISPLAY", ":64999")
    with pytest.raises(MissingDisplayError, match="nothing answers at DISPLAY=:64999"):
        view(bundle)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    with pytest.raises(MissingDisplayError, match="QT_QPA_PLATFORM=offscreen draws no canvas"):
        view(bundle)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there always is a screen")
def test_a_display_that_answers_is_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind("\0/tmp/.X11-unix/X64998")
        server.listen()
        monkeypatch.setenv("DISPLAY", ":64998.0")
        assert no_display() is None
    monkeypatch.setenv("DISPLAY", "nonsense")
    assert no_display() is not None
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert no_display() is None


def test_a_view_is_shown_as_the_picture_of_its_window() -> None:
    taken = []

    def screenshot(**options: bool) -> np.ndarray:
        taken.append(options)
        return np.zeros((3, 4, 4), dtype=np.uint8)

    closed = []
    viewer = SimpleNamespace(screenshot=screenshot, close=lambda: closed.append("viewer"))
    window = SimpleNamespace(viewer=viewer, session="the session", close=lambda: closed.append("review"))
    shown = View(window)
    assert shown._repr_png_().startswith(PNG)
    assert taken == [{"canvas_only": False, "flash": False}]
    assert shown.session == "the session"
    shown.close()
    assert closed == ["review", "viewer"]


# ---------------------------------------------------------------- words in tables


@pytest.mark.parametrize(
    ("metric", "value", "words"),
    [
        ("dice", MetricValue(0.98765), "0.988"),
        ("hd95", MetricValue(3.14159), "3.14"),
        ("hd95", MetricValue(373.13, "cap", "gt_nonempty_pred_empty"), "cap 373.13 (spec)"),
        ("hd95", MetricValue(812.5, "cap", "image_diagonal"), "cap 812.5 (image diagonal)"),
        ("dice", MetricValue(1.0, "absent", "both_empty"), "absent in both"),
        ("dice", MetricValue(None, "not_labelled"), "not labelled"),
        ("dice", MetricValue(None, "error"), "error"),
    ],
)
def test_a_number_that_was_not_computed_is_never_bare(metric: str, value: MetricValue, words: str) -> None:
    assert metric_text(metric, value) == words
    assert words in CaseScore("c", "scored", regions={"r": RegionScore({metric: value})})._repr_html_()
    assert metric_header("hd95") == "hd95 (mm)"


def test_what_comes_from_a_file_is_escaped() -> None:
    evil = "<script>x</script>"
    note = Finding("warning", "w", evil)
    entry = CaseEntry(evil, dataset=evil, tier=evil, remap=Remap(None, "none", evil))
    pages = [
        Case(entry, findings=(note,))._repr_html_(),
        CaseScore(evil, "error", evil, notes=(note,))._repr_html_(),
        CaseScore(evil, "scored", regions={evil: RegionScore({evil: MetricValue(1.0)})}, notes=(note,))._repr_html_(),
        html_table([evil], [[evil]], evil, [evil]),
        html_pairs({evil: evil}, evil, [evil]),
    ]
    assert [page for page in pages if "<script" in page or "&lt;script" not in page] == []


def test_a_case_says_what_it_has(bundle: Path) -> None:
    html = open_source(bundle).load("SET/0001")._repr_html_()
    assert "4 x 4 x 4 voxels of 1 x 1 x 2 mm, RAS" in html
    assert "1 native ids listed" in html
    assert "not there" in html


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb")), ids=lambda p: p.name
)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
