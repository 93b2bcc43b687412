"""What of a case a person looks at, and how. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from medotter_viewer.core.windows import Window

OverlayMode = Literal["contour", "fill", "error", "off"]
MODES: tuple[OverlayMode, ...] = ("contour", "fill", "error", "off")
Compared = Literal["both", "b", "a"]
COMPARED: tuple[Compared, ...] = ("both", "b", "a")


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """What of a case is looked at, and how.

    Parameters
    ----------
    region : str or None
        The region that is shown alone; None (or ``macro_avg``) shows all.
    native : bool
        Ground truth in the dataset's own ids instead of after the remap.
    mode : {"contour", "fill", "error", "off"}
        Ground truth outlined in its labels' colours under the prediction in orange, whatever the label; ground truth
        filled under outlines, both in their labels' colours; where the prediction is wrong; the image alone.
    hidden : frozenset of str
        Of ``gt``, ``pred`` and ``error`` those that are not drawn for the moment.
    joined : bool
        Whether a region of several ids is outlined as one, without the edges inside it. The prediction cannot be
        painted on meanwhile, for what is shown are not its ids.
    window : Window or None
        A CT preset, for images that have HU.
    limits : tuple of float or None
        The user's own limits for the shown channel: they win over a preset.
    relative : mapping of str to tuple of float
        Channel without HU to the limits that a person has set, as parts of the range that an image is shown in by
        default: 0 is its lower end, 1 its upper one.
    channel : str or None
        Channel that is visible; None, or one this case lacks, is the first.
    modality : str or None
        What the task says its images are.
    others : bool
        Whether contours of structures that are not scored are drawn, thin and grey.
    editing : bool
        Whether predicted contours or points are being changed: then they are drawn over the errors, too.
    second : {"both", "b", "a"}
        With a second model: whether both predictions are looked at, or one of them. With ``b`` the errors are its own.
    contour_width : int
        Of the ground truth's outlines, by the user's preference; those of the prediction are half as wide.
    """

    region: str | None = None
    native: bool = False
    mode: OverlayMode = "contour"
    hidden: frozenset[str] = frozenset()
    joined: bool = True
    window: Window | None = None
    limits: tuple[float, float] | None = None
    relative: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    channel: str | None = None
    modality: str | None = None
    others: bool = False
    editing: bool = False
    second: Compared = "both"
    contour_width: int = 2

    @property
    def of_second(self) -> bool:
        """Whether the second model is looked at alone."""
        return self.second == "b"
