"""How far two readers agree: Cohen's kappa over the cases that both judged, and where they differ.

Definitions. Of n cases with a verdict of both readers, m have the same verdict. Observed agreement is p_o = m / n.
With a_v and b_v the numbers of cases to which the first and the second reader give verdict v, agreement by chance is
p_e = sum of a_v b_v / n^2. Cohen's kappa, unweighted, is (p_o - p_e) / (1 - p_e) = (m n - s) / (n^2 - s) with
s = sum of a_v b_v. Where both readers give one and the same verdict to all cases it is 0 / 0: no value, with a rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import BundleError
from medotter_viewer.review.reading import ReviewFile
from medotter_viewer.review.records import FRAME, Record, Subject
from medotter_viewer.review.standing import Standing, standings

ONE_CATEGORY = "one_category"
"""Rule of a kappa without value: both readers gave the same single verdict to every case."""
NO_COMMON_CASE = "no_common_case"
"""Rule of a kappa without value: no case was judged by both."""


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case that at least one of the two said something of.

    Parameters
    ----------
    case_id : str
        Full id.
    first, second : str or None
        The verdict of each reader that holds; None without any.
    first_comments, second_comments : tuple of Record
        What each wrote.
    """

    case_id: str
    first: str | None
    second: str | None
    first_comments: tuple[Record, ...] = ()
    second_comments: tuple[Record, ...] = ()

    @property
    def is_common(self) -> bool:
        """Whether both gave a verdict."""
        return self.first is not None and self.second is not None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two readers, side by side.

    Parameters
    ----------
    subject : Subject
        What the first one judged.
    readers : tuple of str
        Names of the first and the second.
    cases : tuple of JudgedCase
        In the order in which the first, then the second one came to them.
    findings : tuple of Finding
        Of both files and of their comparison.
    """

    subject: Subject
    readers: tuple[str, str]
    cases: tuple[JudgedCase, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Verdicts of the cases that both judged."""
        return [(c.first, c.second) for c in self.cases if c.first is not None and c.second is not None]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Every verdict of these cases, by name."""
        return tuple(sorted({verdict for pair in self.pairs for verdict in pair}))

    @property
    def table(self) -> dict[str, dict[str, int]]:
        """How often a verdict of the first reader (row) met one of the second (column)."""
        counts = Counter(self.pairs)
        return {row: {column: counts[row, column] for column in self.verdicts} for row in self.verdicts}

    @property
    def observed(self) -> float | None:
        """Share of the common cases with the same verdict; None without any."""
        pairs = self.pairs
        return sum(a == b for a, b in pairs) / len(pairs) if pairs else None

    @property
    def expected(self) -> float | None:
        """Agreement by chance, of the readers' own frequencies; None without a common case."""
        n = len(self.pairs)
        return _by_chance(self.pairs) / n**2 if n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa, unweighted; None where it is not defined, see `kappa_rule`."""
        return cohen_kappa(self.pairs)

    @property
    def kappa_rule(self) -> str | None:
        """Why there is no kappa."""
        if self.kappa is not None:
            return None
        return ONE_CATEGORY if self.pairs else NO_COMMON_CASE

    @property
    def differing(self) -> tuple[JudgedCase, ...]:
        """Cases to which the two gave different verdicts."""
        return tuple(case for case in self.cases if case.is_common and case.first != case.second)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; no value is null, never NaN."""
        first = [c.case_id for c in self.cases if c.first is not None and c.second is None]
        second = [c.case_id for c in self.cases if c.second is not None and c.first is None]
        return {
            "target": self.subject.target,
            "version": self.subject.version,
            "hash": self.subject.hash,
            "model": self.subject.model,
            "readers": list(self.readers),
            "n_common": len(self.pairs),
            "observed_agreement": self.observed,
            "expected_agreement": self.expected,
            "kappa": {
                "value": self.kappa,
                "status": "ok" if self.kappa_rule is None else "undefined",
                "rule": self.kappa_rule,
            },
            "verdicts": list(self.verdicts),
            "table": self.table,
            "cases": {case.case_id: _case_dict(case) for case in self.cases},
            "differing": [case.case_id for case in self.differing],
            "only_first": first,
            "only_second": second,
            "notes": [finding.to_dict() for finding in self.findings],
        }


def cohen_kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa, unweighted, of pairs of verdicts; None where it is not defined.

    Examples
    --------
    >>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    >>> cohen_kappa([("a", "a"), ("a", "a")]) is None
    True
    """
    n, same, chance = len(pairs), sum(a == b for a, b in pairs), _by_chance(pairs)
    return None if chance == n**2 else (same * n - chance) / (n**2 - chance)


def compare_readers(first: ReviewFile, second: ReviewFile, *, force: bool = False) -> Agreement:
    """Return two readers' files side by side.

    Parameters
    ----------
    first, second : ReviewFile
        One file for each reader.
    force : bool
        Compare also what was said of other targets, hashes or models.

    Raises
    ------
    BundleError
        If a file holds no record, or, unless forced, the records are not all about one target, hash and model.
    """
    for one in (first, second):
        if not one.records:
            raise BundleError(f"{one.path}: holds no verdict and no comment; expected what a reader recorded")
    found = [*first.findings, *second.findings]
    subjects = {r.subject.identity: (one.path, r.subject) for one in (first, second) for r in one.records}
    if len(subjects) > 1:
        said = "; ".join(f"{path.name}: {subject.describe()}" for path, subject in subjects.values())
        if not force:
            raise BundleError(f"these verdicts are not about the same thing: {said}. Compare them anyway with --force")
        found.append(Finding("warning", "other-subject", f"compared though they are not about the same thing: {said}"))
    names = tuple(_readers(one, found) for one in (first, second))
    if names[0] == names[1]:
        message = f"both files are of reader {names[0]!r}: agreement with oneself is not that of two readers"
        found.append(Finding("warning", "same-reader", message))
    a, b = standings(first.records), standings(second.records)
    cases = tuple(_judged(case_id, a, b) for case_id in dict.fromkeys([*a, *b]))
    return Agreement(first.records[0].subject, (names[0], names[1]), cases, tuple(found))


def _by_chance(pairs: list[tuple[str, str]]) -> int:
    """Sum over verdicts of how often each reader gave them, multiplied."""
    a, b = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    return sum(count * b[verdict] for verdict, count in a.items())


def _readers(file: ReviewFile, found: list[Finding]) -> str:
    """Name of a file's reader; of several, all names, and a finding."""
    names = list(dict.fromkeys(record.reader for record in file.records))
    if len(names) > 1:
        message = f"{file.path.name}: holds records of {', '.join(names)}: the last verdict of a case counts"
        found.append(Finding("warning", "several-readers", message, str(file.path)))
    return ", ".join(names)


def _judged(case_id: str, a: Mapping[str, Standing], b: Mapping[str, Standing]) -> JudgedCase:
    one, other = a.get(case_id, Standing()), b.get(case_id, Standing())
    first, second = (None if side.verdict is None else side.verdict.verdict for side in (one, other))
    return JudgedCase(case_id, first, second, one.comments, other.comments)


def _case_dict(case: JudgedCase) -> dict[str, Any]:
    return {
        "first": case.first,
        "second": case.second,
        "agree": case.first == case.second if case.is_common else None,
        "comments": {
            "first": [_comment_dict(record) for record in case.first_comments],
            "second": [_comment_dict(record) for record in case.second_comments],
        },
    }


def _comment_dict(record: Record) -> dict[str, Any]:
    world = record.place.position_world
    return {
        "reader": record.reader,
        "text": record.text,
        "position_world": None if world is None else list(world),
        "frame": None if world is None else FRAME,
        "time": record.time,
    }
