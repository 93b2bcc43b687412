"""The command line: parses, calls the same functions as window and notebook, prints.

Exit status 0 good; 1 something failed, is malformed or incomplete (after everything else has been done and written,
one line for each failure on stderr); 2 usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from medotter_viewer.cli.output import tolerate_letters
from medotter_viewer.cli.outputs import check_outputs
from medotter_viewer.cli.parser import build_parser
from medotter_viewer.cli.terminal import harmless_output
from medotter_viewer.errors import MedotterViewerError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.
    """
    tolerate_letters()
    parser = build_parser()
    options = parser.parse_args(argv)
    with harmless_output():
        return _run(options)


def _name(options: argparse.Namespace) -> str:
    """The command as it was typed, that of a group with its own name."""
    names = ("medotter-viewer", options.command, getattr(options, f"{options.command}_command", None))
    return " ".join(name for name in names if name is not None)


def _run(options: argparse.Namespace) -> int:
    """Run a command and say in one line what went wrong."""
    try:
        check_outputs(vars(options))
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"{_name(options)}: {error}", file=sys.stderr)
        return 2
    except MedotterViewerError as error:
        print(f"{_name(options)}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except OSError as error:  # standard output cannot be written
        print(f"{_name(options)}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
