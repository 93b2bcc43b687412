"""The tables that are remembered of the cases of a target: what a what-if over all of them follows from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from medotter_viewer.cache.facts import Facts, facts_key, parse_facts
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.engine.threads import in_threads
from medotter_viewer.errors import UnsupportedTaskError
from medotter_viewer.live.changes import NO_REMAP

NO_TABLE = "no remembered table"


@dataclass(frozen=True, slots=True, eq=False)
class KnownTables:
    """Cases and what is remembered of their files.

    Parameters
    ----------
    entries : mapping of str to CaseEntry
        Every case that was asked for, in order.
    facts : mapping of str to Facts
        Case id to what is remembered of its files.
    unknown : mapping of str to str
        Case id to why nothing is; `NO_TABLE` where scoring the case would change that.
    """

    entries: Mapping[str, CaseEntry]
    facts: Mapping[str, Facts]
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def without_table(self) -> list[str]:
        """Cases that could be scored and were not: scoring them makes their tables known."""
        return [case_id for case_id, why in self.unknown.items() if why == NO_TABLE]


def known_tables(
    entries: Sequence[CaseEntry],
    spec: EvalSpec,
    cache: FactCache,
    *,
    resample_prediction: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> KnownTables:
    """Return what is remembered of some cases; the bytes of their files are hashed, no voxel is read.

    Parameters
    ----------
    entries : sequence of CaseEntry
        Which cases.
    spec : EvalSpec
        How they are scored.
    cache : FactCache
        Where facts are kept.
    resample_prediction : bool
        As for `load_case`: what is remembered of a resampled prediction is another thing.
    cancelled : callable
        Asked before each file is hashed; once True, the rest counts as unknown.

    Raises
    ------
    UnsupportedTaskError
        If cases are not scored from their label maps region by region.
    """
    check_task(spec)
    asked = {entry.case_id: entry for entry in entries}
    why = {case_id: _why_not(entry) for case_id, entry in asked.items()}
    wanted = [_without_no_remap(entry) for case_id, entry in asked.items() if why[case_id] is None]

    def key_of(entry: CaseEntry) -> str | None:
        return None if cancelled() else facts_key(entry, spec, resample_prediction)

    keys = dict(zip((e.case_id for e in wanted), in_threads(key_of, wanted), strict=True))
    stored = cache.get_many(key for key in keys.values() if key is not None)
    facts: dict[str, Facts] = {}
    unknown: dict[str, str] = {}
    for case_id in asked:
        key = keys.get(case_id)
        if (reason := why[case_id]) is not None:
            unknown[case_id] = reason
        elif key is None:
            unknown[case_id] = "its files name their structures, or cannot be read: scored from the files alone"
        elif key not in stored:
            unknown[case_id] = NO_TABLE
        else:
            try:
                facts[case_id] = parse_facts(stored[key])
            except (KeyError, TypeError, ValueError):  # of another form: as good as none
                unknown[case_id] = NO_TABLE
    return KnownTables(asked, facts, unknown)


def check_task(spec: EvalSpec) -> None:
    """Raise UnsupportedTaskError unless cases are scored from their label maps region by region."""
    if spec.task_type != "seg":
        raise UnsupportedTaskError(
            f"task_type {spec.task_type!r}: a what-if over many cases works on tables of label maps (task_type 'seg')"
        )


def _why_not(entry: CaseEntry) -> str | None:
    """Why there can be nothing to remember of a case; None where there can."""
    errors = [f.message for f in errors_of(entry.findings) if f.code != NO_REMAP]
    if errors:
        return "; ".join(dict.fromkeys(errors))
    if entry.gt_path is None:
        return "no ground truth"
    return "no prediction" if entry.pred_path is None else None


def _without_no_remap(entry: CaseEntry) -> CaseEntry:
    """The same case as if its ids were canonical: what is remembered does not depend on a remap."""
    if entry.remap is not None:
        return entry
    findings = tuple(f for f in entry.findings if f.code != NO_REMAP)
    return replace(entry, remap=Remap(None, "none"), findings=findings)
