"""Everything that may be wrong with a bundle, found in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer import open_source
from medotter_viewer.checks.source import check_source
from medotter_viewer.core.findings import Finding

GT = np.zeros((4, 5, 6), dtype=np.uint8)
GT[1, 1, 1:4] = 1
GT[2, 2, 1:3] = 2


def check(tiny: Any, **options: Any) -> list[Finding]:
    return list(check_source(open_source(tiny.bundle, predictions=tiny.predictions, **options)))


def brief(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(f.severity, f.code, f.where) for f in findings]


def test_a_sound_bundle_has_no_findings(tmp_path: Path, write_bundle: Any) -> None:
    image = np.ones(GT.shape, dtype=np.int16)
    cases = {"A/1": {"gt": GT, "image": image}, "A/2": {"gt": GT, "image": image, "split": "train"}}
    assert check(write_bundle(tmp_path, cases, predictions={"A/1": GT})) == []


def test_a_broken_bundle_tells_all_its_faults_case_by_case(tmp_path: Path, write_bundle: Any) -> None:
    outside = GT.copy()
    outside[0, 0, :5] = 9
    shifted = np.diag([1.0, 1.0, 1.0, 1.0])
    shifted[0, 3] = 2
    tiny = write_bundle(
        tmp_path,
        {
            "A/ok": {"gt": GT},
            "A/no-file": {"seg": "none.nii.gz"},
            "A/no-gt": {"seg": None},
            "A/unsafe": {"seg": "../x.nii.gz"},
            "A/outside": {"gt": GT},
            "A/elsewhere": {"gt": GT},
            "A/no-pred": {"gt": GT},
            "A/train": {"gt": GT, "split": "train"},
        },
        eval_spec={
            "eval_regions": {"one": [1], "two": [2]},
            "metrics": ["dice"],
            "prediction_format": {"label_space": [0, 1, 2]},
        },
        predictions={
            "A/ok": GT,
            "A/no-file": (GT, np.eye(4)),
            "A/no-gt": (GT, np.eye(4)),
            "A/unsafe": (GT, np.eye(4)),
            "A/outside": outside,
            "A/elsewhere": (GT, shifted),
            "A/stray": (GT, np.eye(4)),
        },
    )
    findings = check(tiny)
    assert brief(findings) == [
        ("error", "missing-file", "A/no-file"),
        ("error", "no-ground-truth", "A/no-gt"),
        ("error", "unsafe-path", "A/unsafe"),
        ("error", "ids-outside-label-space", "A/outside"),
        ("error", "grid-mismatch", "A/elsewhere"),
        ("warning", "no-prediction", "A/no-pred"),
        ("warning", "unused-prediction", None),
    ]
    space = findings[3].message
    assert "9" in space
    assert "5" in space
    assert "[0, 1, 2]" in space
    assert findings[-1].file == str(tiny.predictions / "A" / "stray.nii.gz")


def test_negative_ids_are_outside_every_label_space(tmp_path: Path, write_bundle: Any) -> None:
    pred = GT.astype(np.int16)
    pred[0, 0, 0] = -1
    findings = check(write_bundle(tmp_path, {"A/1": {"gt": GT}}, predictions={"A/1": pred}))
    assert brief(findings) == [("error", "ids-outside-label-space", "A/1")]
    assert "-1" in findings[0].message


def test_orphans_of_both_kinds_and_a_clash_of_splits_are_found(tmp_path: Path, write_bundle: Any) -> None:
    cases = {"A/1": {"gt": GT}, "A/unlisted": {"gt": GT}}
    tiny = write_bundle(tmp_path, cases, manifest={"test": ["A/1", "A/2"], "train": ["A/1"]}, predictions={"A/1": GT})
    assert brief(check(tiny)) == [
        ("warning", "split-clash", "A/1"),
        ("warning", "no-prediction", "A/2"),
        ("error", "no-entry", "A/2"),
        ("warning", "unlisted-case", "A/unlisted"),
    ]


@pytest.mark.parametrize(
    ("files", "file", "message"),
    [
        ({"task": "a: ["}, "task.yaml", "line 1"),
        ({"task": "label_remap: {A: {x: 1}}\n"}, "task.yaml", "label_remap.A"),
        ({"eval_spec": "metrics: [dice, dice\n"}, "eval_spec.yaml", "not plain YAML"),
        ({"eval_spec": "partial_label: maybe\n"}, "eval_spec.yaml", "partial_label"),
        ({"eval_spec": "a: 1\na: 2\n"}, "eval_spec.yaml", "stands twice"),
    ],
)
def test_a_file_that_cannot_be_used_ends_the_check_with_its_name(
    tmp_path: Path, write_bundle: Any, files: Any, file: str, message: str
) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, **files)
    (finding,) = check(tiny)
    assert (finding.severity, finding.code) == ("error", "bad-configuration")
    assert finding.file == str(tiny.bundle / file)
    assert message in finding.message


@pytest.mark.parametrize(
    ("spec", "task", "expected"),
    [
        ({"task_type": "cls"}, {}, ("warning", "unsupported-task", "task_type")),
        ({"metrics": ["dice"]}, {}, ("error", "no-regions", "eval_regions")),
        ({"eval_regions": {"a": [1]}, "metrics": ["dice", "nsd"]}, {}, ("error", "unknown-metric", "metrics")),
        (
            {"eval_regions": {"a": [1]}, "metrics": ["dice"], "aggregation": {"headline": {"metric": "hd95"}}},
            {},
            ("warning", "headline-metric", "aggregation.headline"),
        ),
    ],
)
def test_a_specification_that_scores_nothing_or_too_little_is_found(
    tmp_path: Path, write_bundle: Any, spec: Any, task: Any, expected: tuple[str, str, str]
) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, task=task, eval_spec=spec, predictions={"A/1": GT})
    assert brief(check(tiny)) == [expected]


def test_a_case_whose_remap_is_unknown_is_found_and_a_users_remap_heals_it(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, task=None, predictions={"A/1": GT})
    assert brief(check(tiny)) == [("error", "no-remap", "A/1")]
    assert check(tiny, remap="identity") == []


def test_images_are_looked_at_by_their_header(tmp_path: Path, write_bundle: Any) -> None:
    chan = {"t1": np.ones(GT.shape, dtype=np.int16), "t2": np.ones((4, 5, 7), dtype=np.int16), "t3": None}
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT, "chan": chan}}, predictions={"A/1": GT})
    (tiny.data / "images" / "A" / "1_t1.nii.gz").write_bytes(b"damage")
    assert brief(check(tiny)) == [
        ("warning", "missing-file", "A/1"),
        ("warning", "unreadable-file", "A/1"),
        ("warning", "image-grid-differs", "A/1"),
    ]


def test_without_predictions_nothing_is_said_about_them(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}})
    assert list(check_source(open_source(tiny.bundle))) == []
