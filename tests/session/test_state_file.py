"""A review in a file: what comes back, relative paths, another bundle, and files that are none."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.core.windows import BY_NAME, Window
from medotter_viewer.errors import ReadError, SavedReviewError, WriteError
from medotter_viewer.session.resuming import fitting, source_again, with_options
from medotter_viewer.session.state_file import ReviewState, SavedView, missing_paths, read_state, write_state
from medotter_viewer.sources.opened_as import opened_as
from medotter_viewer.sources.opening import open_source


@pytest.fixture
def state(tiny: Any, tmp_path: Path) -> ReviewState:
    """A review of a bundle with nothing left at its default."""
    return ReviewState(
        source={
            "target": str(tiny.bundle),
            "predictions": str(tiny.predictions),
            "model_name": "unet",
            "remap": "identity",
            "resample_prediction": True,
        },
        hash="0123456789ab",
        name="tiny",
        split="test",
        case_id="A/bad",
        region="one",
        view=SavedView((-12.5, 33.25, 88.0), "sagittal", 2.5, (3.0, 4.0, 5.0)),
        mode="error",
        native=True,
        window=BY_NAME["lung"],
        limits=(-1350.0, 150.0),
        channel="image",
        filter="dataset:A",
        worst_first="dice",
        verdicts=tmp_path / "tiny.reviews.jsonl",
    )


def content(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def change(path: Path, **keys: Any) -> None:
    """Replace keys of a file."""
    path.write_text(json.dumps({**content(path), **keys}), encoding="utf-8")


class TestRoundTrip:
    def test_everything_comes_back(self, state: ReviewState, tmp_path: Path) -> None:
        write_state(tmp_path / "a.review.json", state)
        assert read_state(tmp_path / "a.review.json") == state

    def test_so_does_a_review_of_which_nothing_is_known(self, tmp_path: Path) -> None:
        bare = ReviewState(source={"gt": str(tmp_path / "labels")})
        write_state(tmp_path / "a.review.json", bare)
        assert read_state(tmp_path / "a.review.json") == bare

    def test_a_window_of_one_s_own_has_no_name(self, state: ReviewState, tmp_path: Path) -> None:
        write_state(tmp_path / "a.review.json", replace(state, window=Window("", 12.5, 333.0)))
        assert read_state(tmp_path / "a.review.json").window == Window("", 12.5, 333.0)

    def test_paths_are_relative_to_the_file_and_it_moves_along_with_them(
        self, state: ReviewState, tiny: Any, tmp_path: Path
    ) -> None:
        folder = tiny.bundle.parent
        (folder / "saved").mkdir()
        write_state(folder / "saved" / "a.review.json", state)
        told = content(folder / "saved" / "a.review.json")["source"]
        assert told["target"] == f"../{tiny.bundle.name}"
        assert told["predictions"] == f"../{tiny.predictions.name}"
        assert told["remap"] == "identity"
        assert str(tmp_path) not in (folder / "saved" / "a.review.json").read_text()
        moved = tmp_path.parent / f"{tmp_path.name}_moved"
        shutil.copytree(folder, moved)
        again = read_state(moved / "saved" / "a.review.json")
        assert again.source["target"] == str(moved / tiny.bundle.name)
        assert again.source["remap"] == "identity"

    def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(
        self, state: ReviewState, tmp_path: Path
    ) -> None:
        with pytest.raises(WriteError, match=r"a\.review\.json"):
            write_state(tmp_path / "nowhere" / "a.review.json", state)
        (tmp_path / "folder.review.json").mkdir()
        with pytest.raises(WriteError, match=r"folder\.review\.json"):
            write_state(tmp_path / "folder.review.json", state)
        assert not list(tmp_path.glob(".*part*"))


class TestFilesThatAreNone:
    @pytest.mark.parametrize(
        ("keys", "said"),
        [
            ({"format": "something"}, "no saved review"),
            ({"version": 2}, "another version"),
            ({"version": True}, "another version"),
            ({"source": {}}, "target"),
            ({"source": {"target": 7}}, "target"),
            ({"source": {"target": "a\0b"}}, "target"),
            ({"source": "x"}, "source"),
            ({"split": "val"}, "split"),
            ({"case": 3}, "case"),
            ({"view": {"position_mm": [1, 2]}}, "position_mm"),
            ({"view": {"position_mm": [1, 2, "3"]}}, "position_mm"),
            ({"view": {"position_mm": [1, 2, 3], "frame": "LPS"}}, "frame"),
            ({"view": {"position_mm": [1, 2, 3], "plane": "oblique"}}, "plane"),
            ({"view": {"position_mm": [1, 2, 3], "zoom": 0}}, "zoom"),
            ({"view": {"position_mm": [1, 2, 1e300], "zoom": 1}}, "position_mm"),
            ({"view": {"mode": "loud"}}, "mode"),
            ({"view": {"window": {"level": 40, "width": 0}}}, "width"),
            ({"view": {"limits": [1]}}, "limits"),
        ],
    )
    def test_the_key_and_the_file_are_named(
        self, state: ReviewState, tmp_path: Path, keys: dict[str, Any], said: str
    ) -> None:
        path = tmp_path / "a.review.json"
        write_state(path, state)
        change(path, **keys)
        with pytest.raises(SavedReviewError, match=said) as caught:
            read_state(path)
        assert str(path) in str(caught.value)

    def test_keys_of_later_versions_are_left_alone(self, state: ReviewState, tmp_path: Path) -> None:
        write_state(tmp_path / "a.review.json", state)
        change(tmp_path / "a.review.json", later=[1])
        assert read_state(tmp_path / "a.review.json") == state

    def test_no_json_no_object_and_no_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.review.json"
        for text in ("not json", "[1]", "NaN", '{"format": 1, "format": 2}'):
            path.write_text(text)
            with pytest.raises(SavedReviewError, match=r"a\.review\.json"):
                read_state(path)
        with pytest.raises(ReadError, match=r"none\.json"):
            read_state(tmp_path / "none.json")

    def test_a_huge_file_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "a.review.json"
        with path.open("wb") as file:
            file.truncate(2 << 20)
        with pytest.raises(SavedReviewError, match="MiB"):
            read_state(path)


class TestOpeningItAgain:
    def test_the_same_bundle_opens_with_its_predictions(self, state: ReviewState) -> None:
        source, said = source_again(state, "a.review.json")
        assert said == []
        assert (source.hash, source.model) == ("0123456789ab", "unet")
        assert source.resample_prediction

    def test_another_hash_is_refused_by_both_their_names_unless_forced(self, state: ReviewState) -> None:
        other = replace(state, hash="ffffffffffff")
        with pytest.raises(SavedReviewError, match=r"ffffffffffff.*0123456789ab.*--force-session"):
            source_again(other, "a.review.json")
        source, said = source_again(other, "a.review.json", force=True)
        assert source.hash == "0123456789ab"
        assert len(said) == 1
        assert "ffffffffffff" in said[0]

    def test_none_is_another_hash_too(self, state: ReviewState) -> None:
        with pytest.raises(SavedReviewError, match="no hash"):
            source_again(replace(state, hash=None), "a.review.json")

    def test_everything_that_is_missing_is_named(self, state: ReviewState, tiny: Any) -> None:
        shutil.rmtree(tiny.bundle)
        shutil.rmtree(tiny.predictions)
        assert missing_paths(state) == [f"target: {tiny.bundle}", f"predictions: {tiny.predictions}"]
        with pytest.raises(SavedReviewError, match=f"{tiny.bundle}.*{tiny.predictions}"):
            source_again(state, "a.review.json")

    def test_a_bundle_elsewhere_can_be_named(self, state: ReviewState, tiny: Any, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        tiny.bundle.rename(elsewhere)
        moved = with_options(state, {"target": elsewhere, "predictions": None, "instances": False})
        assert moved.source == {**state.source, "target": str(elsewhere)}
        moved = with_options(moved, {"data_root": str(tiny.data)})
        assert source_again(moved, "a.review.json")[0].target == str(elsewhere)

    def test_a_target_stands_in_place_of_folders_and_the_other_way_round(self, tmp_path: Path) -> None:
        folders = ReviewState(source={"gt": "g", "pred": "p", "image": "i", "labels": "l"})
        assert with_options(folders, {"target": "t"}).source == {"target": "t"}
        bundle = ReviewState(source={"target": "t", "resample_prediction": True})
        assert with_options(bundle, {"gt": "g"}).source == {"gt": "g", "resample_prediction": True}

    def test_a_case_and_a_region_that_have_gone_are_said(self, state: ReviewState) -> None:
        gone = replace(state, case_id="A/gone", region="lost")
        source, said = source_again(gone, "a.review.json")
        assert ["A/gone" in said[0], "lost" in said[1]] == [True, True]
        kept = fitting(gone, source)
        assert (kept.case_id, kept.view, kept.region) == (None, None, None)
        assert fitting(state, source) == state

    def test_how_a_source_was_opened_is_known(self, tiny: Any) -> None:
        source = open_source(tiny.bundle, predictions=tiny.predictions, model_name="m")
        assert opened_as(source) == {"target": tiny.bundle, "predictions": tiny.predictions, "model_name": "m"}
