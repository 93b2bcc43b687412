"""The facts of a folder that holds cases: which ones."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.sources.bundle import Bundle
from medotter_viewer.sources.info.facts import Facts, facts


def bundle_facts(path: Path, bundle: Bundle) -> Facts:
    """Return the identity of a bundle and its cases."""
    items = [
        {"kind": "case", "id": case_id, "split": split}
        for split, ids in (("train", bundle.train), ("test", bundle.test))
        for case_id in ids
    ]
    identity = {"task": bundle.task, "version": bundle.version, "hash": bundle.hash}
    return {**facts(path, "bundle", items=items), **identity}
