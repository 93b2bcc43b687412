"""Small text files are read strictly, and nothing but our own errors comes out."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from medotter_viewer.errors import BundleError, MedotterViewerError, ReadError
from medotter_viewer.formats import config_files
from medotter_viewer.formats.config_files import read_config, read_json, read_yaml


def write(folder: Path, content: str | bytes, name: str = "task.yaml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---------------------------------------------------------------- duplicate keys


def test_a_yaml_key_that_stands_twice_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "label_remap:\n  A:\n    4: 3\n    1: 1\n    4: 0\n")
    with pytest.raises(BundleError, match=r"task\.yaml: line 5: key .?4.? stands twice"):
        read_yaml(path)


def test_a_json_key_that_stands_twice_is_named_with_its_line(tmp_path: Path) -> None:
    text = '{\n "per_case": {\n  "A/1": {"seg": "a"},\n  "A/2": {},\n  "A/1": {"seg": "b"}\n }\n}'
    with pytest.raises(BundleError, match=r"m\.json: key 'A/1' stands twice \(line 5\)"):
        read_json(write(tmp_path, text, "m.json"))


def test_the_line_is_left_out_where_it_would_be_a_guess(tmp_path: Path) -> None:
    text = '{"a": {"k": 1},\n"b": {"k": 1,\n"k": 2}}'
    with pytest.raises(BundleError, match=r"key 'k' stands twice; keep one"):
        read_json(write(tmp_path, text, "m.json"))


def test_one_key_in_two_objects_is_no_duplicate(tmp_path: Path) -> None:
    assert read_json(write(tmp_path, '{"a": {"k": 1}, "b": {"k": 2}}')) == {"a": {"k": 1}, "b": {"k": 2}}
    assert read_yaml(write(tmp_path, "a: {k: 1}\nb: {k: 2}\n")) == {"a": {"k": 1}, "b": {"k": 2}}


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path, read: Any) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"task": "x",\r\n "version": "1"}\r\n')
    assert read(path) == {"task": "x", "version": "1"}


def test_yaml_blocks_with_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, b"\xef\xbb\xbftask: x\r\nids:\r\n  - 1\r\n  - 2\r\n")) == {
        "task": "x",
        "ids": [1, 2],
    }


@pytest.mark.parametrize("read", [read_json, read_yaml])
@pytest.mark.parametrize(("content", "byte"), [(b'{"a": "\xe4"}', 7), ("{}".encode("utf-16"), 0)])
def test_other_encodings_are_refused_with_the_byte(tmp_path: Path, read: Any, content: bytes, byte: int) -> None:
    with pytest.raises(ReadError, match=rf"byte {byte} is not UTF-8"):
        read(write(tmp_path, content))


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_a_missing_file_and_a_folder_are_read_errors(tmp_path: Path, read: Any) -> None:
    with pytest.raises(ReadError, match="No such file"):
        read(tmp_path / "none")
    with pytest.raises(ReadError):
        read(tmp_path)


@pytest.mark.parametrize(("read", "limit"), [(read_json, "MAX_BYTES"), (read_yaml, "MAX_YAML_BYTES")])
def test_a_file_over_the_limit_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Any, limit: str
) -> None:
    monkeypatch.setattr(config_files, limit, 3 << 20)
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(ReadError, match="5 MiB, expected a text of at most 3 MiB"):
        read(path)


def test_the_real_limits_are_256_and_1_mebibytes(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate((256 << 20) + 1)
    with pytest.raises(ReadError, match="at most 256 MiB"):
        read_json(path)
    with path.open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(ReadError, match="at most 1 MiB"):
        read_yaml(path)


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused_by_file_and_name(tmp_path: Path, token: str) -> None:
    with pytest.raises(BundleError, match=rf"m\.json: {token} is not JSON; use null"):
        read_json(write(tmp_path, f'{{"a": [{token}]}}', "m.json"))


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"m\.json: line 3: not JSON"):
        read_json(write(tmp_path, '{"a": 1,\n"b": 2,\n}', "m.json"))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "1" * 5000, "", "\0"])
def test_hostile_json_gives_our_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleError, match=r"m\.json"):
        read_json(write(tmp_path, text, "m.json"))


def test_the_order_of_keys_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, '{"t2f": 1, "t1c": 2, "t2w": 3, "t1n": 4}', "m.json")
    assert list(read_config(path)) == ["t2f", "t1c", "t2w", "t1n"]


# ---------------------------------------------------------------- YAML


def test_yaml_is_version_1_2_so_ids_and_words_are_as_written(tmp_path: Path) -> None:
    path = write(tmp_path, "010: no\n1: yes\nid: 0o17\nlist: [on, off, ~, 1.0]\n")
    assert read_yaml(path) == {10: "no", 1: "yes", "id": 15, "list": ["on", "off", None, 1.0]}


@pytest.mark.parametrize("suffix", ["yaml", "yml", "txt"])
def test_anything_not_named_json_is_yaml(tmp_path: Path, suffix: str) -> None:
    assert read_config(write(tmp_path, "1: 2\n", f"remap.{suffix}")) == {1: 2}
    with pytest.raises(BundleError, match="not JSON"):
        read_config(write(tmp_path, "1: 2\n", "remap.JSON"))


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:pathlib.Path.touch [%s]",
        "!!python/object/apply:os.system ['touch %s']",
        "!!python/object/new:os.system ['touch %s']",
        "!!python/name:os.system",
        "!!python/module:os",
        "!mine {a: 1}",
    ],
)
def test_tags_that_ask_for_objects_are_refused_and_never_run(tmp_path: Path, tag: str) -> None:
    ran = tmp_path / "ran"
    path = write(tmp_path, "a: " + tag.replace("%s", str(ran)) + "\n")
    with pytest.raises(BundleError, match=r"task\.yaml: line 1: not plain YAML: could not determine a constructor"):
        read_yaml(path)
    assert not ran.exists()


def laughs(levels: int, item: str) -> str:
    """Ten aliases of the level below on every level: 10**levels values."""
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{level}: &a{level} " + item % ",".join([f"*a{level - 1}"] * 10) for level in range(1, levels + 1)]
    return "\n".join(lines)


@pytest.mark.parametrize("item", ["[%s]", "{<<: [%s]}"])
def test_aliases_of_aliases_end_quickly(tmp_path: Path, item: str) -> None:
    started = time.process_time()
    with pytest.raises(BundleError, match=r"task\.yaml: aliases stand for over 1,000,000 values"):
        read_yaml(write(tmp_path, laughs(9, item)))
    assert time.process_time() - started < 2, "all values were made"


def test_a_value_that_holds_itself_is_refused(tmp_path: Path) -> None:
    for text in ("a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"):
        with pytest.raises(BundleError, match=r"task\.yaml"):
            read_yaml(write(tmp_path, text))


def test_an_anchor_may_be_given_twice(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, "a: &x 1\nb: &x 2\nc: *x\n")) == {"a": 1, "b": 2, "c": 2}


def test_an_alias_that_saves_typing_is_welcome(tmp_path: Path) -> None:
    path = write(tmp_path, "A: &same {1: 1, 2: 3}\nB: *same\nC: {<<: *same, 5: 6}\n")
    assert read_yaml(path) == {"A": {1: 1, 2: 3}, "B": {1: 1, 2: 3}, "C": {1: 1, 2: 3, 5: 6}}


@pytest.mark.parametrize("text", ["- " * 20_000, "{a: " * 1000, "[" * 400])
def test_deep_nesting_gives_our_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleError, match=r"task\.yaml"):
        read_yaml(write(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        *['!!int ""', '!!float ""', '"\\UFFFFFFFF"', "2001-13-45", "!!bool maybe", "? {a: b}\n: c", "a: b: c"],
        *["---\n---", "\x07", "%YAML 9.9\n---\na", "!!omap [a]", "=", "@", "*nowhere", "1" * 5000, "'", "a:\n\t- b"],
    ],
)
def test_odd_yaml_gives_our_error_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleError, match=r"task\.yaml: .*not plain YAML") as caught:
        read_yaml(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_an_empty_yaml_file_holds_nothing(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, "")) is None
    assert read_yaml(write(tmp_path, "# only a remark\n")) is None


# ---------------------------------------------------------------- anything at all

yaml_like = st.text(alphabet="ab01:-[]{}&*!?|>'\"%@#,.<~= \n\t\\", max_size=60).map(str.encode)


@settings(max_examples=80)
@given(st.one_of(st.binary(max_size=80), yaml_like, st.text(max_size=40).map(lambda t: t.encode("utf-8", "replace"))))
@example(b"!!int")
@example(b"!!timestamp x")
def test_any_bytes_give_plain_values_or_our_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for read in (read_json, read_yaml):
            path = write(Path(folder), content)
            with contextlib.suppress(MedotterViewerError):
                read(path)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_what_json_can_say_comes_back_as_the_standard_library_reads_it(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert read_json(write(Path(folder), json.dumps(value))) == value


@pytest.mark.parametrize("text", ["[" * 20_000, "{" * 20_000, "[[a," * 5_000, "[a, " * 5_000])
def test_brackets_within_brackets_are_refused_before_they_cost_seconds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    start = time.process_time()
    with pytest.raises(BundleError, match="nested too deeply"):
        read_yaml(path)
    assert time.process_time() - start < 2, "the scanner looks at all open brackets for every word: it took 4 s"
