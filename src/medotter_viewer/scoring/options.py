"""What a person may choose when scoring, beyond what the specification fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from medotter_viewer.core.spec import HD95_NAMES, Hd95Name
from medotter_viewer.errors import UsageError

Missing = Literal["skip", "empty"]


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Choices for one run.

    Parameters
    ----------
    metrics : tuple of str or None
        None takes the specification's.
    hd95 : {"directed_max", "pooled", "mean", "surfel"}
        Which of the quantities called HD95.
    missing : {"skip", "empty"}
        A case without prediction is left out, or scored as an empty prediction.

    Raises
    ------
    UsageError
        For an unknown name.
    """

    metrics: tuple[str, ...] | None = None
    hd95: Hd95Name = "directed_max"
    missing: Missing = "skip"

    def __post_init__(self) -> None:
        if self.hd95 not in HD95_NAMES:
            raise UsageError(f"hd95: got {self.hd95!r}, expected one of {', '.join(HD95_NAMES)}")
        if self.missing not in ("skip", "empty"):
            raise UsageError(f"missing: got {self.missing!r}, expected skip or empty")
