"""One remark about data: what was noticed, where, and how bad it is.

The same value serves the notes of a score, the banner of the window and the output of `check`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A remark about data.

    Parameters
    ----------
    severity : {"error", "warning", "info"}
        An error keeps a case from being scored; a warning is about a number that deserves a second look.
    code : str
        Stable word in kebab case, listed in ``docs/findings.md``.
    message : str
        What was got, what was expected, what to do.
    file : str, optional
        The file concerned.
    where : str, optional
        Line, key, slice or case.
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    where: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return the five fields by name, for JSON."""
        return {
            "severity": self.severity,
            "code": self.code,
            "file": self.file,
            "where": self.where,
            "message": self.message,
        }


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return those findings that are errors, in order."""
    return [f for f in findings if f.severity == "error"]
