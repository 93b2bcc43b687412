"""Remember what is costly: of a pair of label maps its native overlap table and its surface distances, else the score.

Keys are the bytes of the files and the version of the engine, so that a changed file or engine is never answered from
memory. Of label maps native facts are kept: scores derive from them, from the remap and from the specification, so that
a remap what-if reads no voxel. Of other cases the score is kept, and all that it depends on is in the key. A damaged or
foreign file is put aside and rebuilt, never trusted; several processes may use one file at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medotter_viewer.cache.looks import Looks
from medotter_viewer.errors import UsageError

ENGINE_VERSION = "4"
"""Raise it whenever a number of the engine may change."""
CACHE_VARIABLE = "MEDOTTER_VIEWER_CACHE"
_APPLICATION_ID = 0x4D4F5456  # "MOTV"
_SCHEMA = 1
_TIMEOUT_S = 30.0
_CHUNK = 1 << 20
_KEYS_AT_ONCE = 500  # SQLite takes at least 999


def default_cache_path() -> Path:
    """Return the cache file: that of the variable ``MEDOTTER_VIEWER_CACHE``, else one in the user's cache folder.

    Raises
    ------
    UsageError
        If the variable names a folder, a device or the like.
    """
    if named := os.environ.get(CACHE_VARIABLE):
        path = Path(named)
        if path.exists() and not path.is_file():
            what = "is a folder" if path.is_dir() else "is no regular file"
            raise UsageError(
                f"{CACHE_VARIABLE}: {named} {what}, expected the name of a file, there or not: {named}/FILE"
            )
        return path
    from platformdirs import user_cache_path

    return user_cache_path("medotter_viewer") / "scores.sqlite"


def content_key(*paths: Path, looks: Looks | None = None, **settings: object) -> str:
    """Return a key for the bytes of some files, in order, with the engine's version and further settings.

    Parameters
    ----------
    paths : Path
        The files.
    looks : Looks, optional
        What was seen of them just now: a file that was read whole is not read again.
    settings : object
        What else belongs to the key, as JSON can hold it.

    Raises
    ------
    OSError
        If a file cannot be read.
    """
    digest = hashlib.sha256(json.dumps([ENGINE_VERSION, sorted(settings.items())], default=str).encode())
    for path in paths:
        size, start = (looks or Looks()).start(path)
        digest.update(f"|{size}|".encode())
        digest.update(start)
        if len(start) == size:
            continue
        with path.open("rb") as file:
            file.seek(len(start))
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class FactCache:
    """Facts about pairs of label maps, and scores of other cases, in a SQLite file.

    Nothing is held open between two calls, so that it can be used by many threads and processes and sent to others.

    Parameters
    ----------
    path : Path
        The file; made with its folder when it is first written.
    """

    path: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the facts stored under a key; None when there are none, or they are damaged."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the facts stored under some keys, by key; a key without facts, or with damaged ones, is not there."""
        wanted, found = list(dict.fromkeys(keys)), {}
        with self._connected() as connection:
            for start in range(0, len(wanted) if connection is not None else 0, _KEYS_AT_ONCE):
                some = wanted[start : start + _KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = connection.execute(  # type: ignore[union-attr]
                    f"SELECT key, body, checksum FROM facts WHERE key IN ({marks})",  # noqa: S608 - marks alone
                    some,
                )
                found.update({key: facts for key, *stored in rows if (facts := _facts(key, *stored)) is not None})
        return found

    def put(self, key: str, facts: dict[str, Any]) -> None:
        """Store facts under a key; see `put_many`."""
        self.put_many({key: facts})

    def put_many(self, facts: Mapping[str, dict[str, Any]]) -> None:
        """Store facts by key, all in one step; what was stored before under a key is merged, newer values win.

        A cache that cannot be written is no error, nor are facts that have no JSON form: they are computed again.
        """
        if not facts:
            return
        with self._connected() as connection:
            if connection is None:
                return
            connection.execute("BEGIN IMMEDIATE")  # another process may be merging the same keys
            for key, new in facts.items():
                row = connection.execute("SELECT body, checksum FROM facts WHERE key = ?", (key,)).fetchone()
                old = (_facts(key, *row) if row else None) or {}
                merged = {**old, **new}
                if isinstance(old.get("distances"), dict) and isinstance(new.get("distances"), dict):
                    merged["distances"] = {**old["distances"], **new["distances"]}
                try:
                    body = json.dumps(merged, allow_nan=False)
                except (TypeError, ValueError):
                    continue
                connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", (key, body, _checksum(key, body)))
            connection.execute("COMMIT")

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection | None]:
        """A connection to a file that is ours, rebuilt if need be; None where there can be none."""
        connection = None
        try:
            try:
                connection = self._open()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError) and not str(error).startswith("no such"):
                    raise  # it is in use, or cannot be opened at all: that says nothing of what is in it
                self._put_aside()
                connection = self._open()
        except (sqlite3.Error, OSError):
            connection = None
        if connection is None:
            yield None
            return
        try:
            yield connection
        except sqlite3.DatabaseError:
            with contextlib.suppress(sqlite3.Error):
                connection.rollback()
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_TIMEOUT_S, isolation_level=None)
        try:
            # One look at all three: between two looks another process may have made the file ours.
            connection.execute("BEGIN")
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute("COMMIT")
            if tables == 0:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS facts "
                    "(key TEXT PRIMARY KEY, body TEXT NOT NULL, checksum TEXT NOT NULL)"
                )
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {_SCHEMA}")
                connection.execute("COMMIT")
            elif (application, schema) != (_APPLICATION_ID, _SCHEMA):
                raise sqlite3.DatabaseError("not a cache of this version")
            connection.execute("SELECT key, body, checksum FROM facts LIMIT 1").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _put_aside(self) -> None:
        """Keep a file that is not ours under another name: it may be somebody's, as may one that was kept before."""
        if not self.path.is_file():
            raise FileExistsError(f"{self.path}: no regular file")
        names = (f"{self.path.name}.put-aside{number}" for number in ("", *(f"-{n}" for n in range(2, 100))))
        free = next((place for name in names if not (place := self.path.with_name(name)).exists()), None)
        if free is None:
            raise FileExistsError(f"{self.path}: too many files were put aside")
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(free)


def _checksum(key: str, body: str) -> str:
    return hashlib.sha256(f"{key}\0{body}".encode()).hexdigest()


def _facts(key: str, body: str, checksum: str) -> dict[str, Any] | None:
    """Facts as stored; None for damaged ones."""
    if _checksum(key, body) != checksum:
        return None
    try:
        facts = json.loads(body)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None
