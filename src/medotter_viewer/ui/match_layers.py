"""How objects are drawn that were matched: in the colours of what became of them, the one looked at in a ring. Pure.

Works on descriptions of layers that `layers` made; nothing here knows napari.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.accents import FN_ACCENT, FP_ACCENT, TP_ACCENT, WRONG_ACCENT
from medotter_viewer.metrics.instances.rows import KINDS
from medotter_viewer.metrics.instances.table import MatchKind
from medotter_viewer.ui.colors import CLEAR, OTHER_ACCENT, ColorDict, Rgba, label_color, rgba
from medotter_viewer.ui.derived import CompactView
from medotter_viewer.ui.layers import LayerSpec
from medotter_viewer.ui.legend import Entry
from medotter_viewer.ui.match_views import INNER, OUTER, HaloView, KindView
from medotter_viewer.ui.options import ShowOptions

ROLE = "selected"
KIND_ACCENTS: Mapping[MatchKind, str] = {
    "tp": TP_ACCENT,
    "fn": FN_ACCENT,
    "split": "#7FD4FF",
    "fp": FP_ACCENT,
    "merge": WRONG_ACCENT,
}
"""In the order in which they are told."""
KIND_WORDS: Mapping[MatchKind, str] = {
    "tp": "match",
    "fn": "missed (FN)",
    "split": "split (FN)",
    "fp": "invented (FP)",
    "merge": "merge (FP)",
}
_MANY = 4096  # objects, above which each has no colour of its own in a table
_ALIKE = 0.3  # colours of objects that touch differ by more, in the channel that differs most
_CANDIDATES = range(1, 200)  # ids whose colours are taken instead
_HALO: ColorDict = {None: CLEAR, 0: CLEAR, INNER: rgba("#FFFFFF"), OUTER: rgba("#000000")}


@dataclass(frozen=True, slots=True, eq=False)
class MatchLook:
    """What of the matches is seen on the canvas.

    Parameters
    ----------
    kinds : (mapping of int to kind, mapping of int to kind) or None
        What became of the objects of ground truth and of the prediction, by id; None leaves them their colours.
    selected : (int or None, int or None)
        Ids of ground truth and prediction that are looked at.
    apart : mapping of int to int
        Ids of ground truth that have the colour of another id, as their own is too much like that of a neighbour.
    """

    kinds: tuple[Mapping[int, MatchKind], Mapping[int, MatchKind]] | None = None
    selected: tuple[int | None, int | None] = (None, None)
    apart: Mapping[int, int] = field(default_factory=dict)


def match_specs(specs: Sequence[LayerSpec], look: MatchLook | None, options: ShowOptions) -> list[LayerSpec]:
    """Return the layers of a case with their objects coloured, and one more for the ring around what is looked at.

    Parameters
    ----------
    specs : sequence of LayerSpec
        From `layers.specs`.
    look : MatchLook or None
        None changes nothing.
    options : ShowOptions
        How the case is looked at.
    """
    if look is None or options.native:
        return list(specs)
    found = [_colored(spec, look) if spec.role in ("gt", "pred") else spec for spec in specs]
    sides = {spec.role: spec for spec in specs}
    if look.selected != (None, None) and "gt" in sides and "pred" in sides:
        gt, pred = sides["gt"], sides["pred"]
        found.append(
            LayerSpec(
                ROLE,
                "selected object",
                HaloView(_raw(gt), _raw(pred), *look.selected),
                gt.scale,
                gt.translate,
                visible=options.mode != "off" and not {"gt", "pred"} <= options.hidden,
                color_dict=_HALO,
            )
        )
    return found


def match_legend(look: MatchLook | None, options: ShowOptions) -> list[Entry]:
    """Return what colours stand for while objects have those of what became of them; empty while they do not."""
    if look is None or look.kinds is None or options.mode not in ("contour", "fill"):
        return []
    there = {kind for side in look.kinds for kind in side.values()}
    shown: list[Entry] = [(KIND_WORDS[kind], color) for kind, color in KIND_ACCENTS.items() if kind in there]
    both = not options.hidden & {"gt", "pred"}
    wide = "filled" if options.mode == "fill" else "thick line"
    return [*shown, *[(f"{wide}: ground truth, thin: prediction", "")] * (both and bool(shown))]


def apart(touching: NDArray[np.int64]) -> dict[int, int]:
    """Return which ids take the colour of another id, so that no two that touch look alike.

    Parameters
    ----------
    touching : (n, 2) ndarray of int64
        Pairs of ids that touch.

    Examples
    --------
    >>> apart(np.array([[1, 2]]))
    {}
    """
    if not len(touching):
        return {}
    ids = np.unique(touching)
    own = np.array([label_color(i)[:3] for i in ids.tolist()])
    places = np.searchsorted(ids, touching)
    alike = np.abs(own[places[:, 0]] - own[places[:, 1]]).max(axis=1) <= _ALIKE
    both_ways = np.concatenate([places, places[:, ::-1]])
    both_ways = both_ways[np.argsort(both_ways[:, 0], kind="stable")]
    starts = np.searchsorted(both_ways[:, 0], np.arange(ids.size + 1))
    shown, taken = own.copy(), {}
    for place in np.unique(places[alike].max(axis=1)).tolist():  # the larger id of two takes another colour
        beside = shown[both_ways[starts[place] : starts[place + 1], 1]]
        for candidate in _CANDIDATES:
            color = np.array(label_color(candidate)[:3])
            if np.abs(beside - color).max(axis=1).min() > _ALIKE:
                shown[place], taken[int(ids[place])] = color, candidate
                break
    return taken


def _raw(spec: LayerSpec) -> Any:
    """The ids themselves, where a layer shows numbers for them."""
    return spec.data.data if isinstance(spec.data, CompactView) else spec.data


def _colored(spec: LayerSpec, look: MatchLook) -> LayerSpec:
    if look.kinds is not None:
        return _by_kind(spec, look.kinds[0 if spec.role == "gt" else 1])
    colors = spec.color_dict
    if not look.apart or colors is None or spec.role != "gt" or isinstance(spec.data, CompactView):
        return spec
    changed: dict[int | None, Rgba] = {i: label_color(other) for i, other in look.apart.items() if i in colors}
    return replace(spec, color_dict={**colors, **changed})


def _by_kind(spec: LayerSpec, kinds: Mapping[int, MatchKind]) -> LayerSpec:
    """A layer in which every object has the colour of what became of it; one that is not counted yet is grey."""
    colors: dict[int | None, Rgba] = {None: rgba(OTHER_ACCENT), 0: CLEAR}  # painted just now: not counted yet
    if len(kinds) <= _MANY and not isinstance(spec.data, CompactView):
        colors.update((i, rgba(KIND_ACCENTS[kind])) for i, kind in kinds.items())
        return replace(spec, color_dict=colors)
    ids = np.array(sorted(kinds), dtype=np.int64)
    codes = np.array([KINDS.index(kinds[i]) for i in ids.tolist()], dtype=np.int64)
    view = KindView(_raw(spec), ids, codes)
    colors.update((n, rgba(KIND_ACCENTS[KINDS[c]])) for c in range(len(KINDS)) for n in view.numbers_of(c))
    return replace(spec, data=view, editable=False, color_dict=colors, names={})
