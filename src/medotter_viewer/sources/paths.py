"""Paths of bundles and folders, kept inside the folder they belong to: see `core.paths`."""

from __future__ import annotations

from medotter_viewer.core.paths import Confined, resolve_inside

__all__ = ["Confined", "resolve_inside"]
