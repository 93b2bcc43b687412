"""Findings about a file of a million lines: the first of each kind are kept, the others counted."""

from __future__ import annotations

from medotter_viewer.core.findings import Finding, Severity

LISTED = 1000
"""How many findings of one code are listed."""


class FindingLog:
    """Collects findings about one file in bounded memory.

    Parameters
    ----------
    file : str
        The file concerned.
    listed : int
        How many findings of one code are kept.

    Examples
    --------
    >>> log = FindingLog("a.csv", listed=1)
    >>> log.add("error", "malformed-line", "line 1: no comma", line=1)
    >>> log.add("error", "malformed-line", "line 2: no comma", line=2)
    >>> [finding.message for finding in log.findings()]
    ['line 1: no comma', '1 more of this kind (malformed-line) are not listed']
    """

    def __init__(self, file: str, *, listed: int = LISTED) -> None:
        self._file, self._listed = file, listed
        self._kept: list[Finding] = []
        self._counts: dict[tuple[Severity, str], int] = {}

    def add(self, severity: Severity, code: str, message: str, *, line: int | None = None) -> None:
        """Keep one finding about a line (1-based) or the file, or count it where its kind is listed often enough."""
        if self.is_listing(severity, code):
            self._kept.append(Finding(severity, code, message, self._file, None if line is None else str(line)))
        self._counts[severity, code] = self._counts.get((severity, code), 0) + 1

    def count(self, severity: Severity, code: str, n: int) -> None:
        """Count findings for which no message is made."""
        self._counts[severity, code] = self._counts.get((severity, code), 0) + n

    def is_listing(self, severity: Severity, code: str) -> bool:
        """Tell whether the next finding of this kind will be listed: before a costly message is made."""
        return self._counts.get((severity, code), 0) < self._listed

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(severity == "error" and n for (severity, _), n in self._counts.items())

    def findings(self) -> list[Finding]:
        """Return what was kept in the order of lines, and for each kind how many were not."""
        kept: dict[tuple[Severity, str], int] = {}
        for finding in self._kept:
            kind = (finding.severity, finding.code)
            kept[kind] = kept.get(kind, 0) + 1
        rest = [(kind, n - kept.get(kind, 0)) for kind, n in self._counts.items()]
        return sorted(self._kept, key=lambda finding: int(finding.where or 0)) + [
            Finding(severity, code, f"{n} more of this kind ({code}) are not listed", self._file)
            for (severity, code), n in rest
            if n
        ]
