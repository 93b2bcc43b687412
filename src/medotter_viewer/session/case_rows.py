"""The list of cases of a review: which there are, what each scores, how they are filtered and sorted."""

from __future__ import annotations

from collections.abc import Iterable

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.session.case_list import CaseRow, arrange, case_row


class CaseRows:
    """The cases of a review.

    Parameters
    ----------
    entries : iterable of CaseEntry
        All cases, in the order of the source.
    spec : EvalSpec
        Names the headline.
    metrics : tuple of str
        Metrics that a line shows.

    Attributes
    ----------
    shown : list of CaseRow
        The listed cases, filtered and sorted.
    scores : dict of str to CaseScore
        What is known so far, by case id: the numbers of the files.
    worst_first : str or None
        Metric that the list is sorted by, or None for the order of the source.
    """

    def __init__(self, entries: Iterable[CaseEntry], spec: EvalSpec, metrics: tuple[str, ...]) -> None:
        self._entries = {entry.case_id: entry for entry in entries}
        self._spec, self._metrics = spec, metrics
        self._filter = ""
        self.scores: dict[str, CaseScore] = {}
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

    def row(self, case_id: str) -> CaseRow:
        """Return the line of one case, listed or not."""
        return case_row(self._entries[case_id], self.scores.get(case_id), self._spec, self._metrics)

    def set_filter(self, text: str) -> None:
        """List only the cases that match."""
        self._filter = text
        self.rearrange()

    def sort_worst_first(self, metric: str | None) -> None:
        """Sort by a metric, or (None) as the source does."""
        self.worst_first = metric
        self.rearrange()

    def store(self, score: CaseScore) -> None:
        """Keep a score; rows do not move before `rearrange`, while they are looked at."""
        self.scores[score.case_id] = score
        for place, row in enumerate(self.shown):
            if row.case_id == score.case_id:
                self.shown[place] = self.row(score.case_id)
                break

    def rearrange(self) -> None:
        """Filter and sort by the scores there are."""
        rows = (self.row(case_id) for case_id in self._entries)
        self.shown = arrange(rows, text=self._filter, worst_first=self.worst_first)
