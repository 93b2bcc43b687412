"""What keeps a case from being scored is said in one line on stderr, and not again on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("command", ["score", "check"])
def test_a_message_is_printed_once(cli: Any, own: Any, command: str) -> None:
    (own.predictions / "A" / "1.nii.gz").write_bytes(b"nothing")
    outcome = cli(command, own.bundle, "--predictions", own.predictions, "--remap", "identity")
    assert outcome.code == 1
    (line,) = [line for line in outcome.lines if "A/1.nii.gz" in line]
    message = line.removeprefix("A/1: error: ")
    assert message not in outcome.out
    assert ("A/1: error" if command == "score" else "error: unreadable-file: A/1") in outcome.out.splitlines()


def test_a_missing_prediction_has_its_status_on_stdout(cli: Any, own: Any, tmp_path: Path) -> None:
    outcome = cli("score", own.bundle, "--predictions", own.predictions, "--case", "B/2")
    assert "B/2: missing_prediction" in outcome.out.splitlines()
    sought = f"looked for {own.predictions / 'B/2'} with a known suffix"
    assert outcome.lines[0] == f"B/2: missing_prediction: case B/2: no prediction found, {sought}"
