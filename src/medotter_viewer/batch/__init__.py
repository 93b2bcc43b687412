"""Score many cases, here or on any concurrent.futures executor; the numbers are those of the window."""

from medotter_viewer.batch.run import Progress, score_entries

__all__ = ["Progress", "score_entries"]
