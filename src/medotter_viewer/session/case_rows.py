"""The list of cases of a review: which there are, what each scores, how they are filtered and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.evaluation.loss import Losses, losses
from medotter_viewer.session.case_list import (
    LOSS,
    WORST_FOR_A,
    WORST_FOR_B,
    CaseRow,
    arrange,
    case_row,
    is_to_be_scored,
    listed_metrics,
    second_values,
)

_TEST = "test"


class CaseRows:
    """The cases of a review.

    Parameters
    ----------
    entries : iterable of CaseEntry
        All cases, in the order of the source.
    spec : EvalSpec
        Names the headline.
    verdict_of : callable
        Takes a case id and returns the reader's verdict, empty without any.

    Attributes
    ----------
    metrics : tuple of str
        Metrics that a line shows.
    shown : list of CaseRow
        The listed cases, filtered and sorted.
    scores : dict of str to CaseScore
        What is known so far, by case id: the numbers of the files.
    losses : Losses
        What cases cost the headline, counted when rows were last arranged, or by `count_losses`.
    worst_first : str or None
        What the list is sorted by, or None for the order of the source.
    """

    def __init__(
        self,
        entries: Iterable[CaseEntry],
        spec: EvalSpec,
        verdict_of: Callable[[str], str] = lambda _: "",
    ) -> None:
        self._entries = {entry.case_id: entry for entry in entries}
        self.metrics = listed_metrics(spec)
        self._spec, self._verdict_of = spec, verdict_of
        self.filter = ""
        self._kept: set[str] = set()  # scores of which the cache holds the counts, not only those of having been open
        self._own: dict[str, CaseRow] = {}  # lines without what depends on other cases or another model
        self._places: dict[str, int] = {}
        self._second: Mapping[str, CaseScore] | None = None
        of_test = {case_id for case_id, entry in self._entries.items() if entry.split == _TEST}
        self._counted = of_test or set(self._entries)  # whose headline it is
        self.scores: dict[str, CaseScore] = {}
        self.losses = Losses()
        self.worst_first: str | None = None
        self.shown: list[CaseRow] = []
        self.rearrange()

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def shown_ids(self) -> list[str]:
        """Ids of the listed cases."""
        return [row.case_id for row in self.shown]

    def place(self, case_id: str | None) -> int | None:
        """Return where a case is listed; None where it is not."""
        return self._places.get(case_id) if case_id is not None else None

    def beside(self, case_id: str | None, by: int) -> str | None:
        """Return the case `by` lines further; the first where the case is not listed, None beyond either end."""
        here = self.place(case_id)
        place = 0 if here is None else here + by
        return self.shown[place].case_id if 0 <= place < len(self.shown) else None

    def after(self, case_id: str | None) -> list[str]:
        """Return the cases that are listed after one; none where it is not listed."""
        here = self.place(case_id)
        return [] if here is None else self.shown_ids[here + 1 :]

    def row(self, case_id: str) -> CaseRow:
        """Return the line of one case, listed or not."""
        score = self.scores.get(case_id)
        own = self._own.get(case_id)
        if own is None or own.score is not score:
            own = self._own[case_id] = case_row(self._entries[case_id], score, self._spec, self.metrics)
        values = {**own.values, LOSS: self.losses.by_case.get(case_id)}
        if self._second is not None:
            values.update(second_values(score, self._second.get(case_id), self._spec))
        return replace(own, values=values, verdict=self._verdict_of(case_id))

    def set_filter(self, text: str) -> None:
        """List only the cases that match."""
        self.filter = text
        self.rearrange()

    def sort_worst_first(self, key: str | None) -> None:
        """Sort by a metric or another value, or (None) as the source does."""
        self.worst_first = key
        self.rearrange()

    def set_second(self, scores: Mapping[str, CaseScore] | None) -> None:
        """Compare with a second model's numbers, which are looked up as they come; None ends it."""
        self._second = scores
        if scores is None and self.worst_first in (WORST_FOR_A, WORST_FOR_B):
            self.worst_first = None
        self.rearrange()

    def store(self, score: CaseScore, *, with_counts: bool = False) -> None:
        """Keep a score; rows do not move before `rearrange`, while they are looked at.

        Parameters
        ----------
        score : CaseScore
            Of one case.
        with_counts : bool
            Whether the cache holds what it was counted from: what-ifs over all cases need that.
        """
        self.scores[score.case_id] = score
        if with_counts and not is_to_be_scored(score):
            self._kept.add(score.case_id)
        self.renew(score.case_id)

    def without_counts(self) -> list[CaseEntry]:
        """Return the listed cases that are still to be scored, or whose counts are not in the cache."""
        return [row.entry for row in self.shown if row.case_id not in self._kept]

    def renew(self, case_id: str) -> None:
        """Make the line of a case anew, in its place."""
        if (place := self._places.get(case_id)) is not None:
            self.shown[place] = self.row(case_id)

    def count_losses(self) -> None:
        """Count what each case costs by the scores there are; lines stay in their places."""
        self._count()
        self.shown = [self.row(row.case_id) for row in self.shown]

    def rearrange(self) -> None:
        """Filter and sort by the scores there are."""
        self._count()
        rows = (self.row(case_id) for case_id in self._entries)
        self.shown = arrange(rows, text=self.filter, worst_first=self.worst_first)
        self._places = {row.case_id: place for place, row in enumerate(self.shown)}

    def _count(self) -> None:
        self.losses = losses((score for i, score in self.scores.items() if i in self._counted), self._spec)
