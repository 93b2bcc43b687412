"""``open --second``: what is checked before a window opens, and what the window gets."""

from __future__ import annotations

from typing import Any

import pytest

from medotter_viewer.sources.source import CaseSource


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What windows would be opened with."""
    calls: list[dict[str, Any]] = []

    def run(source: CaseSource, **options: Any) -> int:
        calls.append({"source": source, **options})
        return 0

    monkeypatch.setattr("medotter_viewer.ui.app.run_window", run)
    return calls


def test_the_second_model_has_the_same_cases_and_its_own_name(cli: Any, tiny: Any, opened: list[Any]) -> None:
    other = tiny.folder / "runs/model"
    (other / "A").mkdir(parents=True)
    (other / "A/1.nii.gz").write_bytes((tiny.predictions / "A/1.nii.gz").read_bytes())
    result = cli("open", tiny.bundle, "--predictions", tiny.predictions, "--second", other)
    assert (result.code, result.err) == (0, "")
    assert opened[0]["source"].model == "model"
    assert opened[0]["second"].model == "runs/model"  # told apart by the folder above
    assert opened[0]["second"].case_ids() == opened[0]["source"].case_ids()
    cli("open", tiny.bundle, "--predictions", tiny.predictions, "--second", other, "--second-name", "tuned")
    assert opened[1]["second"].model == "tuned"


def test_without_it_there_is_none(cli: Any, tiny: Any, opened: list[Any]) -> None:
    assert cli("open", tiny.bundle, "--predictions", tiny.predictions).code == 0
    assert opened[0]["second"] is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--second", "{folder}/nowhere"], "second prediction: no such folder"),
        (["--second", "{folder}/bundle"], "holds nothing for any of the 4 cases"),
        (["--second-name", "x"], "give --second DIR too"),
    ],
)
def test_what_cannot_be_used_is_said_before_a_window_opens(
    cli: Any, tiny: Any, opened: list[Any], words: list[str], reason: str
) -> None:
    told = [word.format(folder=tiny.folder) for word in words]
    result = cli("open", tiny.bundle, "--predictions", tiny.predictions, *told)
    assert result.code == 2
    assert reason in result.err
    assert opened == []


def test_a_second_model_needs_cases(cli: Any, tiny: Any, opened: list[Any]) -> None:
    result = cli("open", "--second", tiny.predictions)
    assert result.code == 2
    assert "name what to look at" in result.err
    assert opened == []
