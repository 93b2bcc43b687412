"""The table of keys as a page of the documentation."""

from __future__ import annotations

from medotter_viewer.ui.actions import ACTIONS, GROUPS, MOUSE, SHARED, shown_key

_HEAD = """\
# Keys

`?` shows this table in the window. Everything here is also in the menu *Review* and in napari's command palette
(`Ctrl+Shift+P`, type what you are looking for). Keys work while the canvas has the keyboard; a click in a panel gives
it back, unless something is written there.

*This page is written by `scripts/write_keys_page.py` from the table in `ui/actions.py`.*
"""
_SHARED_HEAD = """
## Keys that layers have too

While you paint, or draw and edit contours with napari's own tools, these are the tools' own. Otherwise they do what the
table says.

| key | is also a key of |
|---|---|
"""


def keys_page() -> str:
    """Return the page in Markdown."""
    parts = [_HEAD]
    for group in GROUPS:
        actions = [action for action in ACTIONS if action.group == group]
        lines = [f"| {_code(action.key)} | {action.title} |" for action in actions]
        lines += [f"| {what} | {title} |" for what, title, of in MOUSE if of == group]
        if lines:
            parts.append(f"\n## {group.capitalize()}\n\n| key | does |\n|---|---|\n" + "\n".join(lines) + "\n")
    shared = [f"| {_code(key)} | {names} |" for key, names in SHARED.items() if any(a.key == key for a in ACTIONS)]
    if shared:
        parts.append(_SHARED_HEAD + "\n".join(shared) + "\n")
    return "".join(parts)


def _code(key: str) -> str:
    return f"`{shown_key(key)}`" if key else "(menu)"
