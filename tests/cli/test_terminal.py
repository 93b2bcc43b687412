"""Letters out of strangers' files are shown, never obeyed."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer.cli.terminal import harmless, harmless_output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tumour Ödem 腫瘍 🧠", "tumour Ödem 腫瘍 🧠"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb", r"a\rb"),
        ("a\nerror: b", r"a\nerror: b"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\tb", "a\tb"),
        ("\nheadline\n", "\nheadline\n"),
        ("\rscored 1/2", "\rscored 1/2"),
        ("\n", "\n"),
        ("", ""),
    ],
)
def test_commands_to_a_terminal_become_their_codes(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_streams_are_wrapped_for_as_long_as_a_command_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    with harmless_output():
        print("Ödem\x1b[31m", "a\nb")  # noqa: T201
    assert sys.stdout is stream
    print("after")  # noqa: T201
    stream.flush()
    assert raw.getvalue() == rb"\xd6dem\x1b[31m a\nb" + b"\nafter\n"


def test_json_has_codes_for_what_json_would_let_through(cli: Any, tmp_path: Path) -> None:
    name = "a\x9b2J\u202e.nii"
    result = cli("info", tmp_path / name, "--json", "-")
    assert result.code == 1
    (tmp_path / name).write_bytes(b"")
    import numpy as np

    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    (tmp_path / "x.npy").rename(tmp_path / name)
    result = cli("info", tmp_path / name, "--json", "-")
    assert result.data["path"] == str(tmp_path / name)
    assert r"a\u009b2J\u202e.nii" in result.out
