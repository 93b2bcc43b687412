"""Whatever a stranger's file holds: a value, or an error of ours that names the file, at a bounded cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fuzzing.contract import MAX_INPUT, hold
from fuzzing.edits import KINDS, Edit, change
from fuzzing.targets import TARGETS, Target
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

REGRESSIONS = sorted(Path(__file__).with_name("regressions").glob("*/*"))
# The same inputs every time: the search for others is that of make fuzz. No shrinking: it would take minutes.
CALM = settings(
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)


def edits(kinds: tuple[str, ...]) -> st.SearchStrategy[list[Edit]]:
    places = st.floats(0, 1, width=32)
    return st.lists(
        st.builds(Edit, st.sampled_from(kinds), places, places, st.integers(0, 65535)), min_size=1, max_size=4
    )


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    """Damaged files, such whose values are strange, and anything else."""
    seeds = st.sampled_from(target.seeds())
    damaged = st.builds(change, seeds, edits(KINDS), st.just(target.tokens), is_tree=st.just(target.is_tree))
    strange = st.builds(change, seeds, edits(("tree",)), is_tree=st.just(True))
    words = st.lists(st.sampled_from([*target.tokens, *TARGETS["json"].tokens, b"0", b"\n"]), max_size=30).map(b"".join)
    others = st.one_of(st.binary(max_size=200), words)
    return st.one_of(damaged, strange, others) if target.is_tree else st.one_of(damaged, damaged, others)


Held = Callable[[bytes], str]


@pytest.fixture
def held(target: Target, tmp_path: Path) -> Iterator[Held]:
    """What holds one input against the contract; libraries are loaded: that is not the first input's cost."""
    read = target.prepare(tmp_path)
    list(read(target.seeds()[0]))
    return lambda data: hold(read, data[:MAX_INPUT], tmp_path, silent=target.silent)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_valid_file_is_read_or_refused_by_name(target: Target, held: Held) -> None:
    outcomes = [held(data) for data in target.seeds()]
    assert outcomes[0] == "read", "else what is changed is mostly what is not read anyway"


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_no_input_makes_a_reader_fail_in_another_way_or_cost_without_bound(target: Target, held: Held) -> None:
    @settings(CALM, max_examples=target.examples)
    @given(inputs(target))
    def hold_each(data: bytes) -> None:
        held(data)

    hold_each()


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_input_that_once_broke_a_reader_no_longer_does(path: Path, tmp_path: Path) -> None:
    target = TARGETS[path.parent.name]
    hold(target.prepare(tmp_path), path.read_bytes(), tmp_path, silent=target.silent)
