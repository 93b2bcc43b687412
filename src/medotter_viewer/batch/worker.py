"""The process that scores cases for `ProcessWorkers`: asked through standard input, answers through standard output.

It ends when its input does, in the midst of a case too: nothing is left behind when the run is killed.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import Any, BinaryIO

from medotter_viewer.batch.frames import read_packed, unpacked, write_frame
from medotter_viewer.engine import choice
from medotter_viewer.engine.threads import VARIABLE as THREADS
from medotter_viewer.errors import MedotterViewerError

READY = "ready"


def main() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    prepare_process()
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    write_frame(answers, READY)
    while True:
        task = tasks.get()
        load_kernels()
        answer = _answer(task)
        try:
            write_frame(answers, answer)
        except OSError:
            return  # nobody waits for it


def prepare_process() -> None:
    """Let the engine of this process use one thread, for other processes use the other cores."""
    os.environ[THREADS] = "1"
    choice.leave_compiling_to_others()
    load_kernels()


def load_kernels() -> None:
    """Load kernels that are compiled by now; nothing is compiled here."""
    try:
        choice.load_if_compiled()
    except Exception as error:  # noqa: BLE001 - a library's trouble: the plain engine gives the same numbers
        print(f"compiled kernels could not be loaded: {error}", file=sys.stderr)  # noqa: T201


def _listen(stream: BinaryIO, tasks: SimpleQueue[bytes]) -> None:
    while True:
        try:
            tasks.put(read_packed(stream))
        except (EOFError, OSError):
            os._exit(0)


def _answer(task: bytes) -> tuple[bool, Any]:
    """Whether it went well, and the result or the error."""
    try:
        function, arguments = unpacked(task)
        return True, function(*arguments)
    except Exception as error:  # noqa: BLE001 - handed to who asked
        if not isinstance(error, MedotterViewerError):
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making
        except Exception:  # noqa: BLE001 - an exception with arguments of its own kind
            return False, RuntimeError("".join(traceback.format_exception(error)))
        return False, error
