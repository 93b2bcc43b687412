"""Changes of a valid file: what a damaged disk, a hasty script or somebody with bad intentions would do to it.

An edit is a small value, so that hypothesis can draw and shrink it and the long run can roll it; `change` applies it.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["set", "insert", "delete", "cut", "repeat", "number", "line", "field", "move", "tree"]
KINDS: tuple[Kind, ...] = ("set", "insert", "delete", "cut", "repeat", "number", "line", "field", "move", "tree")

INTEGERS = (
    *(0, 1, 2, 3, 7, 8, 16, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 1 << 24),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1),
)
NUMBERS = (
    *(b"0", b"-0", b"-1", b"1", b"2", b"0.5", b"1e308", b"1e-320", b"1e400", b"-1e400", b"nan", b"NaN", b"inf"),
    *(b"Infinity", b"1e5", b"65536", b"2147483648", b"-9223372036854775809", b"18446744073709551616", b"0x10"),
    *(b"010", b"1_000", b"1,5", b"1.", b".5", b"+1", b"--1", b"1e", b"", b"true", b"null", "\u0661".encode()),
    *(b"9" * 400, b"0." + b"1" * 400, b"9" * 5000),
)
TOKENS = (
    *(
        b"\0",
        b"\n",
        b"\r\n",
        b"\r",
        b"\t",
        b" ",
        b",",
        b";",
        b":",
        b"|",
        b"=",
        b"\\",
        b"/",
        b"..",
        b"../x",
        b"/dev/zero",
    ),
    *(b'"', b"'", b"{", b"}", b"[", b"]", b"[[", b"&a ", b"*a", b"!!python/object:x", b"? ", b"- ", b"<<: ", b"#"),
    *(b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b"\x1f\x8b", b"PK\x03\x04", b"%s%n", b"{0}"),
    *(b"a" * 300, b"[" * 2000, b'{"a":' * 500, "\u202e".encode(), "\U0001f9e0".encode()),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 95, 0.5, -0.0, 1e308, -1e308, 1e-320, 2**31, 2**63, -(2**63) - 1, 10**30),
    *(
        "",
        " ",
        "x",
        "0",
        "1",
        "-1",
        "nan",
        "inf",
        "\0",
        "\n",
        "\x1b[31m",
        "..",
        "../x",
        "/etc/passwd",
        "/dev/zero",
        "C:\\x",
    ),
    *(
        "a" * 300,
        "dice",
        "hd95",
        "f1",
        "identity",
        "macro",
        "test",
        "\ud800",
        "\u0661",
        "yes",
        "2020-01-01",
        "0x1F",
        "1e3",
    ),
    *(
        [],
        {},
        [[]],
        [None],
        [1],
        [1, 1],
        [0],
        [-1],
        ["x"],
        {"": None},
        {"1": 1},
        {"1": [1, 2]},
        {"note": "x"},
        {"x": {}},
    ),
    *({"1": "x"}, {"-1": 0}, {"1.5": 2}, {"1": -5}, {"1": 1e300}, {"gt_nonempty_pred_empty": None}, [[1, 2], [3, 4]]),
    *(list(range(50)), {str(i): i for i in range(50)}),
)

_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change.

    Parameters
    ----------
    kind : str
        What is done.
    at, other : float
        Where, as fractions of the length from 0 to 1; `other` is a second place, a length or an amount.
    pick : int
        Index into the table of what is put there.
    """

    kind: Kind
    at: float
    other: float
    pick: int


def roll(rng: random.Random, *, is_tree: bool = False) -> list[Edit]:
    """Return a few edits; of trees mostly such that leave them well-formed, so that what they say is tried."""
    kinds: tuple[Kind, ...] = ("tree",) if is_tree and rng.random() < 0.75 else KINDS
    return [
        Edit(rng.choice(kinds), rng.random(), rng.random(), rng.randrange(1 << 16)) for _ in range(rng.randint(1, 4))
    ]


def change(data: bytes, edits: Sequence[Edit], tokens: Sequence[bytes] = (), *, is_tree: bool = False) -> bytes:
    """Return bytes after some edits.

    Parameters
    ----------
    data : bytes
        A file.
    edits : sequence of Edit
        Applied one after the other.
    tokens : sequence of bytes
        Words of the format, put in beside the general ones.
    is_tree : bool
        Whether the file is JSON whose values are exchanged; otherwise an edit of a tree is one of bytes.
    """
    for edit in edits:
        data = _change(data, edit, (*tokens, *TOKENS), is_tree=is_tree)
    return data


def _change(data: bytes, edit: Edit, tokens: Sequence[bytes], *, is_tree: bool) -> bytes:
    size, kind = len(data), edit.kind
    at = min(size, int(edit.at * (size + 1)))
    token = tokens[edit.pick % len(tokens)]
    if kind == "tree":
        changed = _change_tree(data, edit) if is_tree else None
        return data[:at] + bytes([edit.pick & 255]) + data[at + 1 :] if changed is None else changed
    if kind == "set":
        return data[:at] + token + data[at + len(token) :]
    if kind == "insert":
        return data[:at] + token + data[at:]
    if kind == "delete":
        return data[:at] + data[at + 1 + int(edit.other**4 * size) :]
    if kind == "cut":
        return data[:at]
    if kind == "repeat":
        piece = data[at : at + 1 + int(edit.other**3 * 64)]
        return data[:at] + piece * (2 + edit.pick % 64) + data[at:]
    if kind == "number":
        found = _NUMBER.search(data, at) or _NUMBER.search(data)
        return (
            data if found is None else data[: found.start()] + NUMBERS[edit.pick % len(NUMBERS)] + data[found.end() :]
        )
    if kind == "line":
        lines = data.split(b"\n")
        here, there = int(edit.at * (len(lines) - 1)), int(edit.other * (len(lines) - 1))
        lines.insert(there, lines[here] if edit.pick % 2 else lines.pop(here))
        return b"\n".join(lines)
    if kind == "field":
        width, order = (1, 2, 4, 8)[edit.pick % 4], ("little", "big")[edit.pick // 4 % 2]
        value = INTEGERS[edit.pick // 8 % len(INTEGERS)] % (1 << 8 * width)
        at -= at % width if edit.other < 0.7 else 0
        return data[:at] + value.to_bytes(width, order) + data[at + width :]  # type: ignore[arg-type]
    there = int(edit.other * size)
    return data[:at] + data[there : there + 1 + edit.pick % 200] + data[at:]


def _change_tree(data: bytes, edit: Edit) -> bytes | None:
    """Exchange, remove or add one value of JSON; None where the bytes are none any more."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return None
    places: list[tuple[Any, Any]] = []
    _collect(tree, places)
    if not places:
        return None
    holder, key = places[min(len(places) - 1, int(edit.at * len(places)))]
    value = copy.deepcopy(VALUES[edit.pick % len(VALUES)])
    action = int(edit.other * 6)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        name = value if isinstance(value, str) else json.dumps(value)
        holder[name] = holder.pop(key)
    elif action == 2 and isinstance(holder, list):
        holder.insert(key, value)
    else:
        holder[key] = value
    return json.dumps(tree, ensure_ascii=bool(edit.pick % 16)).encode("utf-8", "surrogatepass")


def _collect(tree: Any, places: list[tuple[Any, Any]]) -> None:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        places.append((tree, key))
        _collect(value, places)
