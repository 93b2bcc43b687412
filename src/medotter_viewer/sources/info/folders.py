"""The facts of a folder that holds cases: which ones."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.sources.bundle import Bundle
from medotter_viewer.sources.info.facts import Facts, facts
from medotter_viewer.sources.nnunet import is_nnunet
from medotter_viewer.sources.opening import open_source


def bundle_facts(path: Path, bundle: Bundle) -> Facts:
    """Return the identity of a bundle and its cases."""
    items = [
        {"kind": "case", "id": case_id, "split": split}
        for split, ids in (("train", bundle.train), ("test", bundle.test))
        for case_id in ids
    ]
    identity = {"task": bundle.task, "version": bundle.version, "hash": bundle.hash}
    return {**facts(path, "bundle", items=items), **identity}


def cases_facts(path: Path) -> Facts:
    """Return the cases of a dataset of nnU-Net or of scans of VerSe, and what was noticed about it."""
    source = open_source(path)
    items = [{"kind": "case", "id": entry.case_id, "split": entry.split} for entry in source.entries()]
    return facts(path, "nnunet" if is_nnunet(path) else "verse", items=items, notes=source.check())
