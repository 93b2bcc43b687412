"""Write docs/keys.md from the table of keys."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.ui.key_page import keys_page

PAGE = Path(__file__).resolve().parents[1] / "docs" / "keys.md"

if __name__ == "__main__":
    PAGE.write_text(keys_page(), encoding="utf-8")
