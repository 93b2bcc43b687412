"""Where verdicts are written, and what a reader chose."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.errors import WriteError
from medotter_viewer.review.choices import (
    VERDICTS,
    Choices,
    keep_choices,
    named_reader,
    read_choices,
    reader_name,
    verdict_list,
)
from medotter_viewer.review.places import choose_place, file_name, harmless_name, name_start, reviews_folder
from medotter_viewer.review.records import Subject

SUBJECT = Subject("torso ct", "1.0", "0123456789ab", "mixed")


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder."""
    monkeypatch.setenv("MEDOTTER_VIEWER_REVIEWS", str(tmp_path / "own"))
    monkeypatch.delenv("MEDOTTER_VIEWER_READER", raising=False)
    return tmp_path / "own"


class TestNames:
    def test_the_name_tells_target_hash_model_and_reader(self) -> None:
        name = file_name(replace(SUBJECT, target="torso"), "x", "anna")
        assert name == "torso-01234567.mixed.anna.reviews.jsonl"

    def test_without_a_hash_the_folder_tells_two_of_one_name_apart(self, tmp_path: Path) -> None:
        subject = Subject("labels", model="m")
        names = {file_name(subject, str(tmp_path / folder), "anna") for folder in ("a", "b")}
        assert len(names) == 2
        assert all(name.startswith("labels-") and name.endswith(".m.anna.reviews.jsonl") for name in names)

    def test_without_predictions_no_model_is_named(self) -> None:
        assert file_name(Subject("t", None, "0123"), "x", "anna") == "t-0123.anna.reviews.jsonl"

    @given(st.text(), st.text())
    def test_no_reader_leaves_the_folder_or_shares_a_file_with_another(self, one: str, other: str) -> None:
        name, folder = file_name(SUBJECT, "x", one), Path("/folder")
        assert (folder / name).parent == folder
        assert name.startswith(name_start(SUBJECT, "x"))
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert len(name) < 180
        if one != other:
            assert name != file_name(SUBJECT, "x", other)

    @pytest.mark.parametrize("text", ["", "..", "/", "a/b", "CON.txt", "x" * 500, "a b", "\u202eanna"])
    def test_a_name_is_never_empty_never_hidden_and_marked_where_it_was_changed(self, text: str) -> None:
        name = harmless_name(text)
        assert name
        assert name != text
        assert not name.startswith((".", "-"))

    def test_letters_of_all_languages_stay(self) -> None:
        assert harmless_name("Jörg") == "Jörg"


class TestPlace:
    def test_beside_the_predictions_where_that_can_be_written(self, tmp_path: Path, own: Path) -> None:
        (tmp_path / "model").mkdir()
        place = choose_place(tmp_path / "model", "n.reviews.jsonl")
        assert (place.path, place.why) == (tmp_path / "model" / "n.reviews.jsonl", "beside the predictions")
        assert list((tmp_path / "model").iterdir()) == []
        assert not own.exists()

    def test_beside_a_single_file_of_predictions(self, tmp_path: Path) -> None:
        (tmp_path / "pred.nii").touch()
        assert choose_place(tmp_path / "pred.nii", "n.reviews.jsonl").path == tmp_path / "n.reviews.jsonl"

    def test_without_predictions_in_the_users_folder(self, own: Path) -> None:
        place = choose_place(None, "n.reviews.jsonl")
        assert place.path == own / "n.reviews.jsonl"
        assert "no predictions" in place.why

    def test_a_read_only_folder_is_named_and_not_used(
        self, tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "model"
        folder.mkdir()
        access = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder and access(path, mode))
        place = choose_place(folder, "n.reviews.jsonl")
        assert place.path == own / "n.reviews.jsonl"
        assert place.why == f"in your own folder: {folder} is read-only"

    @pytest.mark.skipif(os.name == "nt", reason="of POSIX")
    def test_a_link_that_came_with_the_predictions_is_not_used(self, tmp_path: Path, own: Path) -> None:
        (tmp_path / "n.reviews.jsonl").symlink_to("/etc/passwd")
        assert choose_place(tmp_path, "n.reviews.jsonl").path == own / "n.reviews.jsonl"

    def test_the_users_data_folder_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from platformdirs import user_data_path

        monkeypatch.delenv("MEDOTTER_VIEWER_REVIEWS")
        assert reviews_folder() == user_data_path("medotter_viewer") / "reviews"


class TestChoices:
    def test_what_was_kept_is_there_the_next_time(self) -> None:
        chosen = Choices("Jörg", ("bad", "good"), blinded=True)
        keep_choices(chosen)
        assert read_choices() == chosen

    def test_without_any_the_usual_list_and_no_name(self) -> None:
        assert read_choices() == Choices("", VERDICTS, blinded=False)
        assert VERDICTS == ("model error", "gt error", "remap error", "geometry", "artefact", "ambiguous", "fine")

    def test_no_name_is_that_of_the_login(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("getpass.getuser", lambda: "login")
        assert reader_name(" ") == "login"

    def test_a_user_without_a_name_is_a_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody() -> str:
            raise KeyError("uid not found")

        monkeypatch.setattr("getpass.getuser", nobody)
        assert reader_name("") == "reader"

    def test_the_variable_names_a_reader_and_is_no_choice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert named_reader() == ""
        keep_choices(Choices("anna"))
        monkeypatch.setenv("MEDOTTER_VIEWER_READER", " bert\n")
        assert named_reader() == "bert"
        assert read_choices().reader == "anna"

    @pytest.mark.parametrize(
        "content", ["", "[]", "nonsense", '{"reader": 5, "verdicts": {"a": 1}, "blinded": "yes"}', "\0"]
    )
    def test_a_damaged_file_is_as_none(self, own: Path, content: str) -> None:
        own.mkdir()
        (own / "choices.json").write_text(content)
        found = read_choices()
        assert found.verdicts == VERDICTS
        assert found.reader == ""
        assert not found.blinded

    def test_what_cannot_be_kept_is_said(self, own: Path) -> None:
        own.write_text("a file where the folder should be")
        with pytest.raises(WriteError, match="not kept for the next review"):
            keep_choices(Choices("anna"))

    def test_a_list_has_each_verdict_once_and_is_never_empty(self) -> None:
        assert verdict_list(["Bad", "", "  ", "bad ", "So  so"]) == ("bad", "so so")
        assert verdict_list([]) == VERDICTS
        assert len(verdict_list(str(n) for n in range(1000))) == 30

    def test_a_name_is_one_line(self) -> None:
        assert reader_name(" Anna\n B. ") == "Anna B."

    def test_nothing_half_written_is_left(self, own: Path) -> None:
        keep_choices(Choices("anna"))
        assert [path.name for path in own.iterdir()] == ["choices.json"]
        assert json.loads((own / "choices.json").read_text())["reader"] == "anna"
