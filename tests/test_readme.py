"""What the README shows runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)[1:]
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in (raw.removeprefix("$ ").partition(" #")[0] for raw in block.splitlines())
    if line.startswith("medotter-viewer")
]


@pytest.mark.parametrize("words", [w for w in COMMANDS if w[0] != "open"], ids=" ".join)
def test_every_command_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from medotter_viewer.cli import main

    monkeypatch.chdir(ROOT)
    words = [str(tmp_path / word) if word in ("scores.json", "submission.csv") else word for word in words]
    assert main(words) == 0, capsys.readouterr().err


def test_the_open_commands_name_cases_and_regions_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from medotter_viewer import open_source
    from medotter_viewer.cli.parser import build_parser

    monkeypatch.chdir(ROOT)
    shown = [build_parser().parse_args(words) for words in COMMANDS if words[0] == "open"]
    assert len(shown) == 4
    for options in shown:
        source = open_source(options.target, predictions=options.predictions)
        source.spec.check_region(options.region)
        assert options.case is None or source.entry(options.case)


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(block, names)  # noqa: S102 - our own README
    assert names["score"].case_id == "PHANTOM_A/0002"
    assert "dice" in capsys.readouterr().out


def test_every_file_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []
