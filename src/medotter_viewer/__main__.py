"""``python -m medotter_viewer``: the command line."""

from medotter_viewer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
