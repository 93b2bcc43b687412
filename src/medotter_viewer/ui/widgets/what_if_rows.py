"""What a tried remap does, in words, and what may be chosen for a native id. Pure."""

from __future__ import annotations

from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.reprs import number_text
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.live.known_tables import NO_TABLE
from medotter_viewer.live.what_if import WhatIf
from medotter_viewer.session.what_if import RemapWhatIf
from medotter_viewer.ui.widgets.remap_rows import fate_text

DROP, UNLIST = "✕ background (listed as 0)", "not listed (background too)"
_NAMED = 3  # cases and ids that are named before they are counted


def choices(spec: EvalSpec, targets: set[int]) -> list[str]:
    """Return what may be chosen for a native id: ids of regions by name, ids that others become, background, unlisted.

    Parameters
    ----------
    spec : EvalSpec
        Names the regions.
    targets : set of int
        Canonical ids that native ids of this case become.
    """
    ids = {i for region in spec.regions.values() for i in region} | set(spec.label_space or ()) | targets
    names = {i: ", ".join(name for name, region in spec.regions.items() if i in region) for i in ids}
    return [*(f"{i}  {names[i]}".rstrip() for i in sorted(ids - {0})), DROP, UNLIST]


def parse_choice(text: str) -> int | None:
    """Return the canonical id of a choice, or of a number that was typed; 0 drops, None takes out of the list.

    Raises
    ------
    ValueError
        If the text begins with no id.

    Examples
    --------
    >>> parse_choice("2  spleen"), parse_choice("7"), parse_choice(DROP), parse_choice(UNLIST)
    (2, 7, 0, None)
    """
    if text == UNLIST:
        return None
    if text == DROP:
        return 0
    word = (text.split() or [""])[0]
    if not word.isascii() or not word.isdigit() or len(word) > 18:
        raise ValueError(f"got {text!r}, expected a canonical id")
    return int(word)


def banner_line(what_if: RemapWhatIf, entry: CaseEntry | None) -> str:
    """Return that another remap is tried on the open case; empty where none is."""
    if entry is None or not what_if.edits(entry):
        return ""
    edits = what_if.edits(entry)
    parts = [
        f"{native} → {'not listed' if to is None else to or 'background'} (was {fate_text(entry.remap, native)})"
        for native, to in sorted(edits.items())
    ]
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    whose = "this case" if entry.case_id in what_if.changes.own else entry.dataset or "all cases"
    return f"what if, nothing is saved: native id of {whose}: {', '.join(parts[:_NAMED])}{more}"


def overall_text(what_if: RemapWhatIf) -> str:
    """Return what the tried remap does to the headline over all cases with a remembered table."""
    if not what_if.is_on:
        return ""
    if what_if.overall is None:
        return "headline over all cases: computing…" if what_if.is_computing else ""
    found, again = what_if.overall, " · computing…" if what_if.is_computing else ""
    n, n_all = len(found.cases), len(found.cases) + len(found.apart) + len(found.unknown)
    if not n:
        return f"headline over all cases: not known{again}\n{left_out_text(found)}"
    before, after, metric = found.before.headline, found.after.headline, found.spec.headline.metric
    texts = [number_text(metric, mean.value) for mean in (before, after)]
    change = ""
    if before.value is not None and after.value is not None:
        by = number_text(metric, abs(after.value - before.value))
        change = f" ({'−' if after.value < before.value else '+'}{by})" if float(by) else " (no change)"
    lines = [
        f"headline, {metric} of {found.after.headline_region}: {texts[0]} → {texts[1]}{change}",
        f"over {n} of {n_all} cases of the {what_if.split} split{again}" if what_if.split != "all" else "",
        f"over {n} of {n_all} cases{again}" if what_if.split == "all" else "",
        _gap_text(found),
        left_out_text(found),
    ]
    return "\n".join(line for line in lines if line)


def left_out_text(found: WhatIf) -> str:
    """Return which cases are left out, and how they would not be."""
    tables = [case_id for case_id, why in found.unknown.items() if why == NO_TABLE]
    others = [case_id for case_id in (*found.unknown, *found.apart) if case_id not in tables]
    lines = []
    if tables:
        lines.append(f"no remembered table: {_some(tables)}; 'medotter-viewer score' remembers them")
    if others:
        lines.append(f"not scored: {_some(others)}")
    return "\n".join(lines)


def _gap_text(found: WhatIf) -> str:
    n = found.withheld_from_headline
    cases = f"{n} case{'s' * (n > 1)}"
    metric = found.spec.headline.metric
    return f"{metric} not computed in {cases} (no remembered distance): left out on both sides" * bool(n)


def _some(case_ids: list[str]) -> str:
    more = f" and {len(case_ids) - _NAMED} more" if len(case_ids) > _NAMED else ""
    return ", ".join(case_ids[:_NAMED]) + more
