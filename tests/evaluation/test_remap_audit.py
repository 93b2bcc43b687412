"""What a remap does to the ids that occur, counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.remap_audit import NativeRow, RemapAudit, audit_remaps, native_rows

SPEC = EvalSpec.from_mapping({"eval_regions": {"one": [1], "two": [2], "onetwo": [1, 2]}, "partial_label": True})
# 1 and 4 merge into 1; 5 is dropped on purpose; 6 does not occur; 9 becomes what no region holds; 7 is not listed.
REMAP = Remap({1: 1, 4: 1, 5: 0, 6: 2, 9: 3}, "dict")


def case_of(case_id: str, ids: list[int] | None, remap: Remap | None = REMAP, *findings: Finding) -> Case:
    native = None
    if ids is not None:
        data = np.array(ids, dtype=np.int16).reshape(-1, 1, 1)
        native = LabelMap(data, Grid(data.shape, np.eye(4)))
    return Case(CaseEntry(case_id, dataset=case_id.split("/")[0], remap=remap), gt_native=native, findings=findings)


def audit_of(*cases: Case, spec: EvalSpec = SPEC) -> RemapAudit:
    return audit_remaps(iter(cases), spec, target="t")


@pytest.fixture
def audit() -> RemapAudit:
    return audit_of(case_of("D/1", [0, 1, 1, 4, 5, 7, 7, 7]), case_of("D/2", [1, 9, 9, 0]))


class TestRows:
    def test_each_native_id_that_occurs_or_is_listed(self) -> None:
        rows = native_rows({0: 10, 1: 3, 4: 1, 5: 1, 7: 3, 9: 2}, REMAP, SPEC)
        assert rows == [
            NativeRow(1, 3, 1, "mapped", ("one", "onetwo"), (4,)),
            NativeRow(4, 1, 1, "mapped", ("one", "onetwo"), (1,)),
            NativeRow(5, 1, 0, "dropped"),
            NativeRow(6, 0, 2, "not_seen", ("two", "onetwo")),
            NativeRow(7, 3, 0, "not_listed"),
            NativeRow(9, 2, 3, "mapped"),
        ]

    def test_the_identity_maps_every_id_to_itself(self) -> None:
        for remap in (Remap(None, "none"), None):
            assert [(r.native, r.canonical, r.status) for r in native_rows({1: 2, 8: 1}, remap, SPEC)] == [
                (1, 1, "mapped"),
                (8, 8, "mapped"),
            ]


class TestAudit:
    def test_voxels_and_cases_of_each_id(self, audit: RemapAudit) -> None:
        assert audit.to_dict()["datasets"]["D"]["native"] == {
            "1": {"cases": 2, "voxels": 3, "canonical": 1, "status": "mapped"},
            "4": {"cases": 1, "voxels": 1, "canonical": 1, "status": "mapped"},
            "5": {"cases": 1, "voxels": 1, "canonical": 0, "status": "dropped"},
            "7": {"cases": 1, "voxels": 3, "canonical": 0, "status": "dropped"},
            "9": {"cases": 1, "voxels": 2, "canonical": 3, "status": "mapped"},
        }

    def test_form_map_and_what_was_never_seen(self, audit: RemapAudit) -> None:
        dataset = audit.to_dict()["datasets"]["D"]
        assert set(dataset) == {"form", "map", "native", "listed_never_seen", "regions_not_labelled"}
        assert dataset["form"] == "dict"
        assert dataset["map"] == {"1": 1, "4": 1, "5": 0, "6": 2, "9": 3}
        assert dataset["listed_never_seen"] == [6]
        assert dataset["regions_not_labelled"] == []

    def test_findings_name_what_needs_a_decision(self, audit: RemapAudit) -> None:
        found = {(f.severity, f.code, f.message.split("native id ")[1].split()[0]) for f in audit.findings}
        assert found == {
            ("warning", "native-id-not-listed", "7"),
            ("info", "native-id-not-seen", "6"),
            ("warning", "canonical-id-unused", "9"),
        }
        (undecided,) = audit.undecided
        assert "7 (3 voxels)" in undecided.message

    def test_regions_a_dataset_cannot_label(self) -> None:
        audit = audit_of(case_of("D/1", [1], Remap({1: 1}, "dict")))
        assert audit.datasets["D"].regions_not_labelled == ["two", "onetwo"]

    def test_without_partial_labels_every_region_counts(self) -> None:
        spec = EvalSpec.from_mapping({"eval_regions": {"one": [1], "two": [2]}})
        audit = audit_of(case_of("D/1", [1], Remap({1: 1}, "dict")), spec=spec)
        assert audit.datasets["D"].regions_not_labelled == []

    def test_datasets_are_kept_apart(self) -> None:
        audit = audit_of(case_of("D/1", [1, 1]), case_of("E/1", [1], Remap(None, "list")))
        assert {name: d.voxels for name, d in audit.datasets.items()} == {"D": {1: 2}, "E": {1: 1}}
        assert audit.datasets["E"].form == "list"
        assert audit.to_dict()["datasets"]["E"]["map"] == {}

    def test_a_cases_own_remap_is_reported_by_itself(self) -> None:
        own = Remap({1: 2}, "per_case")
        audit = audit_of(case_of("D/1", [1, 1]), case_of("D/2", [1], own))
        assert {name: d.voxels for name, d in audit.datasets.items()} == {"D": {1: 2}, "D (D/2)": {1: 1}}
        assert audit.to_dict()["datasets"]["D (D/2)"]["map"] == {"1": 2}

    def test_a_case_with_an_unusable_remap_of_its_own_does_not_hide_its_datasets(self) -> None:
        bad = case_of("D/1", [1, 8], None, Finding("error", "bad-remap", "native id 'x'", where="D/1"))
        audit = audit_of(bad, case_of("D/2", [1, 1]))
        dataset: dict[str, Any] = audit.to_dict()["datasets"]["D"]
        assert dataset["form"] == "dict"
        assert dataset["native"] == {"1": {"cases": 1, "voxels": 2, "canonical": 1, "status": "mapped"}}
        assert "bad-remap" in {f.code for f in audit.findings}

    def test_a_case_that_cannot_be_read_is_an_error_and_the_others_count(self) -> None:
        damaged = case_of("D/1", None, REMAP, Finding("error", "unreadable-file", "damaged"))
        audit = audit_of(damaged, case_of("D/2", [1]))
        assert audit.datasets["D"].voxels == {1: 1}
        assert [f.message for f in audit.findings if f.severity == "error"] == ["damaged"]

    def test_a_missing_image_is_none_of_its_business(self) -> None:
        audit = audit_of(case_of("D/1", [1], Remap({1: 1}, "dict"), Finding("warning", "missing-file", "no image")))
        assert audit.findings == ()

    def test_negative_ids_are_an_error(self) -> None:
        audit = audit_of(case_of("D/1", [-1, -1, 1], Remap({1: 1}, "dict")))
        (error,) = [f for f in audit.findings if f.severity == "error"]
        assert error.code == "negative-id"
        assert "-1 (2 voxels)" in error.message
