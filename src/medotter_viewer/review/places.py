"""Where a reader's file of records lies: beside the predictions, else in the user's data folder."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.review.records import Subject
from medotter_viewer.sources.predictions import REVIEWS_SUFFIX

FOLDER_VARIABLE = "MEDOTTER_VIEWER_REVIEWS"
SUFFIX = REVIEWS_SUFFIX
_LONGEST = 40  # letters of a part of a name
_OTHERS = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class ReviewPlace:
    """A file of records, and why it is that one.

    Parameters
    ----------
    path : Path
        The file; it need not be there yet.
    why : str
        In words.
    """

    path: Path
    why: str


def reviews_folder() -> Path:
    """Return the user's folder: that of the variable ``MEDOTTER_VIEWER_REVIEWS``, else one in the user's data folder.

    Raises
    ------
    RuntimeError
        If the user has no home folder.
    """
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("medotter_viewer") / "reviews"


def harmless_name(text: str) -> str:
    """Return a text as a part of a file's name: letters, digits, ``-`` and ``_``; never empty, never a path.

    What had to be changed gets a few letters that differ for each text, so that two readers never share a file.

    Examples
    --------
    >>> harmless_name("Anna"), harmless_name("../x")
    ('Anna', 'x-d6b96a')
    """
    name = _OTHERS.sub("_", text).strip("_-")[:_LONGEST]
    if name and name == text:
        return name
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:6]
    return f"{name}-{digest}" if name else digest


def name_start(subject: Subject, target: str) -> str:
    """Return what the names of all readers' files begin with.

    Parameters
    ----------
    subject : Subject
        What is judged.
    target : str
        Where it is; used only where there is no hash to tell two of one name apart.
    """
    mark = subject.hash or hashlib.sha256(str(Path(target).absolute()).encode("utf-8", "backslashreplace")).hexdigest()
    named = f"{harmless_name(subject.target)}-{harmless_name(mark[:8])}."
    return named + (f"{harmless_name(subject.model)}." if subject.model else "")


def file_name(subject: Subject, target: str, reader: str) -> str:
    """Return the name of a reader's file."""
    return f"{name_start(subject, target)}{harmless_name(reader)}{SUFFIX}"


def choose_place(predictions: Path | None, name: str) -> ReviewPlace:
    """Return where the file lies; nothing is made or written.

    Parameters
    ----------
    predictions : Path or None
        The predictions' folder, or a file of predictions: then the folder it lies in.
    name : str
        Of the file.
    """
    own = reviews_folder() / name
    if predictions is None:
        return ReviewPlace(own, "in your own folder: there are no predictions to put it beside")
    folder = predictions if predictions.is_dir() else predictions.parent
    beside = folder / name
    if beside.is_symlink():
        return ReviewPlace(own, f"in your own folder: {beside} is a link, which is not followed")
    if not os.access(beside if beside.exists() else folder, os.W_OK):
        return ReviewPlace(own, f"in your own folder: {folder} is read-only")
    return ReviewPlace(beside, "beside the predictions")
