"""What whoever works here is called by the system."""

from __future__ import annotations

import getpass


def login_name(otherwise: str) -> str:
    """Return the user's name at the system; `otherwise` where there is none, as in a container without an entry."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return otherwise
