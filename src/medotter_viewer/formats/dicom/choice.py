"""Which one of several image series of a folder is meant: what a person named, else what segments were drawn on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.files import SeriesFiles, dicom_files, kind_of, read_header
from medotter_viewer.formats.dicom.values import Header

LEAST_ENDING = 4
"""Characters of a UID's ending that name a series, unless they are whole components."""
HOW = "choose one by --series, or put its files into a folder of their own"
_SHOWN = 12  # characters of a UID's ending
_KEYWORDS = (
    "SOPClassUID", "Modality", "Rows", "Columns", "ReferencedFrameOfReferenceSequence", "ReferencedSeriesSequence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SeriesChoice:
    """Which series of a folder to take where it holds several.

    Parameters
    ----------
    named : str, optional
        What a person gave: a Series Instance UID or its ending, a Series Number, or a Series Description. It must fit
        a single series, and also where the folder holds no other.
    drawn_on_it : tuple of Path
        RTSTRUCTs and SEGs (or folders with one) that belong to the series: without `named`, a series that they refer
        to is taken. They are opened only where there are several.
    """

    named: str | None = None
    drawn_on_it: tuple[Path, ...] = ()

    def pick(self, series: Sequence[SeriesFiles], folder: Path) -> tuple[SeriesFiles, list[Finding]]:
        """Return the series that is meant, and a finding where nobody named it.

        Parameters
        ----------
        series : sequence of SeriesFiles
            All of the folder, at least one.
        folder : Path
            For messages.

        Raises
        ------
        ReadError
            If no series is meant, or several may be; the message lists them and what to type for each.
        """
        if self.named is not None:
            found = [one for one in series if one.uid == self.named] or [one for one in series if fits(one, self.named)]
            if len(found) == 1:
                return found[0], []
            got = f"--series {self.named!r} fits {len(found) or 'none'} of {len(series)} image series, expected one"
            raise ReadError(f"{folder}: {got}: {listed(series)}")
        if len(series) == 1:
            return series[0], []
        referenced = frozenset[str]().union(*map(referenced_series, self.drawn_on_it))
        found = [one for one in series if one.uid and one.uid in referenced]
        if len(found) == 1:
            message = (
                f"{len(series)} image series: {found[0].describe()} is taken, which the segments say they belong to; "
                "--series takes another"
            )
            return found[0], [Finding("info", "series-chosen", message, file=str(folder))]
        several = f"; the segments refer to {len(found)} of them" if found else ""
        raise ReadError(f"{folder}: {len(series)} image series, expected one{several}; {HOW}: {listed(series)}")


ANY = SeriesChoice()
"""No choice: right for a folder with one series."""


def fits(series: SeriesFiles, text: str) -> bool:
    """Tell whether a text names a series: by UID or its ending, number, or whole description.

    Examples
    --------
    >>> one = SeriesFiles("1.2.840.77.12345", "CT", "Thorax 2.0", 4, ())
    >>> [text for text in ("12345", "345", "2345", "77.12345", "4", "Thorax 2.0", "Thorax", "5") if fits(one, text)]
    ['12345', '2345', '77.12345', '4', 'Thorax 2.0']
    """
    wanted = " ".join(text.split())
    if not wanted:
        return False
    is_ending = series.uid.endswith(wanted) and (
        len(wanted) >= LEAST_ENDING or series.uid == wanted or series.uid[: -len(wanted)].endswith(".")
    )
    return is_ending or wanted == series.description or (series.number is not None and wanted == str(series.number))


def word_for(series: SeriesFiles, all_series: Sequence[SeriesFiles]) -> str | None:
    """Return the shortest text that names this series and no other; None where nothing does."""
    words = ("" if series.number is None else str(series.number), series.uid[-_SHOWN:], series.uid, series.description)
    return next((word for word in words if word and [one for one in all_series if fits(one, word)] == [series]), None)


def quoted(word: str) -> str:
    """Return a text as it is typed: in quotation marks where a command line would part it."""
    return f"'{word}'" if " " in word else word


def listed(series: Sequence[SeriesFiles]) -> str:
    """Return all series and what to type for each, for messages."""
    return "; ".join(f"{one.describe()}{_to_type(one, series)}" for one in series)


def referenced_series(path: Path) -> frozenset[str]:
    """Return the UIDs of the series that an RTSTRUCT or SEG, or those in a folder, refer to.

    What cannot be read refers to nothing here: whoever reads its structures says what is wrong with it.
    """
    found: set[str] = set()
    try:
        for file in dicom_files(path) if path.is_dir() else (path,):
            found.update(_references(file))
    except ReadError:
        pass
    return frozenset(found)


def _references(file: Path) -> set[str]:
    try:
        header = read_header(file, _KEYWORDS)
        kind = kind_of(header)
        if kind == "seg":
            return _uids(header.items("ReferencedSeriesSequence"))
        if kind != "rtstruct":
            return set()
        studies = [
            study
            for frame in header.items("ReferencedFrameOfReferenceSequence")
            for study in frame.items("RTReferencedStudySequence")
        ]
        return set().union(*(_uids(study.items("RTReferencedSeriesSequence")) for study in studies))
    except ReadError:
        return set()


def _uids(items: list[Header]) -> set[str]:
    return {uid for item in items if (uid := item.text("SeriesInstanceUID"))}


def _to_type(one: SeriesFiles, series: Sequence[SeriesFiles]) -> str:
    word = word_for(one, series)
    if word is None:
        return " (nothing tells it from the others: put its files into a folder of their own)"
    return f" (--series {quoted(word)})"
