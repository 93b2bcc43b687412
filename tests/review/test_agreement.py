"""Two readers side by side: kappa by hand, and which files are not compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import BundleError
from medotter_viewer.review.agreement import cohen_kappa, compare_readers
from medotter_viewer.review.reading import ReviewFile
from medotter_viewer.review.records import Place, Record, Subject

SUBJECT = Subject("torso", "1.0", "0123", "mixed")
WORDS = st.sampled_from(["fine", "model error", "gt error"])


def pairs_of(table: Sequence[Sequence[int]], words: str = "abcdef") -> list[tuple[str, str]]:
    """Pairs of verdicts from a table of counts: rows are the first reader's."""
    return [(words[i], words[j]) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def verdicts(reader: str, said: dict[str, str], subject: Subject = SUBJECT) -> list[Record]:
    return [Record("verdict", reader, subject, case_id, verdict=word) for case_id, word in said.items()]


def file_of(records: Sequence[Record], name: str = "a") -> ReviewFile:
    return ReviewFile(Path(f"{name}.reviews.jsonl"), tuple(records))


class TestKappa:
    @pytest.mark.parametrize(
        ("table", "kappa"),
        [
            # po 35/50, pe (25 30 + 25 20) / 2500 = 1/2: kappa = (0.7 - 0.5) / 0.5
            ([[20, 5], [10, 15]], Fraction(2, 5)),
            # po 60/100; pe (60 70 + 40 30) / 10000 = 0.54: 0.06 / 0.46
            ([[45, 15], [25, 15]], Fraction(6, 46)),
            # po 60/100; pe (60 30 + 40 70) / 10000 = 0.46: 0.14 / 0.54
            ([[25, 35], [5, 35]], Fraction(14, 54)),
            ([[2, 0], [0, 3]], Fraction(1)),
            # po 20/30; rows 10 10 10, columns 12 9 9: pe 300/900: (2/3 - 1/3) / (2/3)
            ([[8, 1, 1], [2, 6, 2], [2, 2, 6]], Fraction(1, 2)),
            ([[0, 2], [2, 0]], Fraction(-1)),
            # one reader gives one verdict only: no better than chance, but defined
            ([[3, 2], [0, 0]], Fraction(0)),
        ],
    )
    def test_against_numbers_by_hand(self, table: list[list[int]], kappa: Fraction) -> None:
        assert cohen_kappa(pairs_of(table)) == pytest.approx(float(kappa), abs=1e-15)

    def test_one_verdict_on_both_sides_has_no_kappa(self) -> None:
        assert cohen_kappa([("a", "a")] * 5) is None
        assert cohen_kappa([]) is None

    @given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=40))
    def test_the_sides_may_be_exchanged_and_the_definition_holds(self, pairs: list[tuple[str, str]]) -> None:
        found = cohen_kappa(pairs)
        assert found == cohen_kappa([(b, a) for a, b in pairs])
        n = len(pairs)
        observed = Fraction(sum(a == b for a, b in pairs), n)
        expected = sum(
            Fraction(sum(a == w for a, _ in pairs), n) * Fraction(sum(b == w for _, b in pairs), n)
            for w in {w for pair in pairs for w in pair}
        )
        if expected == 1:
            assert found is None
        else:
            assert found == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)
            assert found <= 1


class TestComparison:
    def test_only_cases_that_both_judged_count(self) -> None:
        a = verdicts("anna", {"1": "fine", "2": "fine", "3": "geometry", "4": "fine"})
        b = verdicts("bert", {"1": "fine", "2": "geometry", "3": "geometry", "5": "fine"})
        found = compare_readers(file_of(a), file_of(b, "b"))
        assert found.readers == ("anna", "bert")
        assert len(found.pairs) == 3
        assert found.observed == pytest.approx(2 / 3)
        # rows fine 2, geometry 1; columns fine 1, geometry 2: pe = (2 + 2) / 9; kappa = (6 - 4) / (9 - 4)
        assert found.expected == pytest.approx(4 / 9)
        assert found.kappa == pytest.approx(2 / 5)
        assert found.table == {"fine": {"fine": 1, "geometry": 1}, "geometry": {"fine": 0, "geometry": 1}}
        assert [case.case_id for case in found.differing] == ["2"]
        as_json = found.to_dict()
        assert (as_json["only_first"], as_json["only_second"]) == (["4"], ["5"])
        assert as_json["cases"]["4"]["agree"] is None
        assert as_json["kappa"] == {"value": pytest.approx(0.4), "status": "ok", "rule": None}

    def test_the_last_verdict_counts_and_one_taken_back_does_not(self) -> None:
        a = verdicts("anna", {"1": "fine"}) + verdicts("anna", {"1": "geometry", "2": "fine"})
        a.append(Record("undo", "anna", SUBJECT, "2", undoes=a[-1].record_id))
        b = verdicts("bert", {"1": "geometry", "2": "fine"})
        found = compare_readers(file_of(a), file_of(b, "b"))
        assert found.pairs == [("geometry", "geometry")]
        assert (found.kappa, found.kappa_rule) == (None, "one_category")
        assert found.observed == 1.0

    def test_without_a_common_case_there_is_no_number(self) -> None:
        found = compare_readers(file_of(verdicts("anna", {"1": "fine"})), file_of(verdicts("bert", {"2": "fine"}), "b"))
        values = found.to_dict()
        assert (found.observed, found.expected, found.kappa, found.kappa_rule) == (None, None, None, "no_common_case")
        assert values["kappa"] == {"value": None, "status": "undefined", "rule": "no_common_case"}
        json.dumps(values, allow_nan=False)

    def test_comments_stand_side_by_side_with_their_places(self) -> None:
        comment = Record("comment", "anna", SUBJECT, "1", text="leak", place=Place((1.0, 2.0, 3.0)))
        found = compare_readers(
            file_of([*verdicts("anna", {"1": "fine"}), comment]), file_of(verdicts("bert", {"1": "fine"}), "b")
        )
        said = found.to_dict()["cases"]["1"]["comments"]
        assert said["second"] == []
        (one,) = said["first"]
        assert (one["text"], one["position_world"], one["frame"]) == ("leak", [1.0, 2.0, 3.0], "RAS+ mm")

    @pytest.mark.parametrize(
        "other",
        [
            Subject("brain", "1.0", "0123", "mixed"),
            Subject("torso", "1.0", "4567", "mixed"),
            Subject("torso", "1.0", "0123", "good"),
        ],
    )
    def test_what_is_not_about_the_same_thing_is_refused_unless_forced(self, other: Subject) -> None:
        a, b = verdicts("anna", {"1": "fine"}), verdicts("bert", {"1": "fine"}, other)
        with pytest.raises(BundleError, match=r"not about the same thing.*--force"):
            compare_readers(file_of(a), file_of(b, "b"))
        forced = compare_readers(file_of(a), file_of(b, "b"), force=True)
        assert [f.code for f in forced.findings] == ["other-subject"]
        assert len(forced.pairs) == 1

    def test_a_file_that_mixes_two_models_is_refused(self) -> None:
        mixed = verdicts("anna", {"1": "fine"}) + verdicts("anna", {"1": "fine"}, Subject("torso", "1.0", "0123", "x"))
        with pytest.raises(BundleError, match="not about the same thing"):
            compare_readers(file_of(mixed), file_of(verdicts("bert", {"1": "fine"}), "b"))

    def test_a_file_without_records_is_refused(self) -> None:
        with pytest.raises(BundleError, match="holds no verdict"):
            compare_readers(file_of([]), file_of(verdicts("bert", {"1": "fine"}), "b"))

    def test_one_reader_twice_and_several_in_a_file_are_said(self) -> None:
        a = verdicts("anna", {"1": "fine"})
        assert [f.code for f in compare_readers(file_of(a), file_of(a)).findings] == ["same-reader"]
        both = a + verdicts("bert", {"1": "geometry"})
        found = compare_readers(file_of(both), file_of(verdicts("carl", {"1": "geometry"}), "b"))
        assert found.readers == ("anna, bert", "carl")
        assert [f.code for f in found.findings] == ["several-readers"]

    def test_findings_of_the_files_are_kept(self) -> None:
        noticed = Finding("warning", "torn-record", "line 3")
        a = ReviewFile(Path("a"), tuple(verdicts("anna", {"1": "fine"})), (noticed,))
        assert compare_readers(a, file_of(verdicts("bert", {"1": "fine"}))).findings == (noticed,)
