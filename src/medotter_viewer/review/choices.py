"""What a reader chose for all reviews: name, list of verdicts, whether to be blinded. Kept in the user's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medotter_viewer.core.login import login_name
from medotter_viewer.errors import WriteError
from medotter_viewer.review.places import reviews_folder
from medotter_viewer.review.records import verdict_key

READER_VARIABLE = "MEDOTTER_VIEWER_READER"
VERDICTS = ("model error", "gt error", "remap error", "geometry", "artefact", "ambiguous", "fine")
"""The list of verdicts where no other was chosen; the first seven have the keys F1 to F7."""
_MOST = 30  # verdicts
_LONGEST = 60  # letters of a verdict or name


@dataclass(frozen=True, slots=True)
class Choices:
    """A reader's choices.

    Parameters
    ----------
    reader : str
        Name that records carry; empty stands for that of the login.
    verdicts : tuple of str
        Keys of verdicts, see `verdict_key`.
    blinded : bool
        Whether model, numbers and other readers are hidden until a case is judged.
    """

    reader: str
    verdicts: tuple[str, ...] = VERDICTS
    blinded: bool = False


def verdict_list(texts: Iterable[str]) -> tuple[str, ...]:
    """Return a list of verdicts: keys, each once, without empty ones; the usual list where nothing is left.

    Examples
    --------
    >>> verdict_list(["Fine", "", "fine", "no  idea"])
    ('fine', 'no idea')
    """
    keys = dict.fromkeys(verdict_key(text)[:_LONGEST].strip() for text in texts)
    return tuple(key for key in keys if key)[:_MOST] or VERDICTS


def reader_name(text: str) -> str:
    """Return a name of one line; that of the login where it is empty."""
    return _one_line(text) or login_name("reader")


def named_reader() -> str:
    """Return the reader that the environment names; empty where it names none.

    Whoever starts the program so is that reader for as long as it runs: the name is never kept as a choice.
    """
    return _one_line(os.environ.get(READER_VARIABLE, ""))


def read_choices() -> Choices:
    """Return the user's choices as they are kept; what is not there or cannot be used is as usual."""
    raw: Any = None
    try:
        raw = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):  # also where there is no home folder
        raw = None
    raw = raw if isinstance(raw, dict) else {}
    verdicts, reader = raw.get("verdicts"), raw.get("reader")
    texts = [text for text in verdicts if isinstance(text, str)] if isinstance(verdicts, list) else []
    kept = _one_line(reader) if isinstance(reader, str) else ""
    return Choices(kept, verdict_list(texts), raw.get("blinded") is True)


def keep_choices(choices: Choices) -> None:
    """Keep choices for the next review.

    Raises
    ------
    WriteError
        If they cannot be written.
    """
    try:
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.{os.getpid()}.part")
        part.write_text(json.dumps(asdict(choices), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(file)
    except (OSError, RuntimeError, UnicodeError) as error:
        raise WriteError(f"your choices are not kept for the next review: {error}") from error


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST].strip()


def _file() -> Path:
    return reviews_folder() / "choices.json"
