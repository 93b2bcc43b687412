"""Find a model that a person named: code on the command line, or what an installed package registers.

Nothing that a bundle, a case or a saved review says comes here: such files never name code.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from medotter_viewer.errors import PredictorError, UsageError
from medotter_viewer.evaluation.sample import check_model

GROUP = "medotter_viewer.predictors"
"""Entry points under which predictors register, to be named without a module."""
_LONGEST = 300  # letters of what foreign code says


def load_predictor(name: str) -> Any:
    """Return the object that a person named.

    Parameters
    ----------
    name : str
        ``package.module:object``, where the object may have dots; modules are looked for where Python looks, then in
        the current folder, which is only asked while this one module is imported. Without a colon: the name of an
        entry point of the group ``medotter_viewer.predictors``.

    Raises
    ------
    UsageError
        If the name has neither form, nothing has it, or the object cannot predict.
    PredictorError
        If its code fails while it is imported; the message has its last line.
    """
    module_name, colon, path = name.partition(":")
    if not colon:
        found = _registered(name)
    elif not module_name or not path:
        raise UsageError(f"predictor {name!r}: expected PKG.MOD:OBJ, e.g. my_package.models:unet")
    else:
        found = _imported(name, module_name, path)
    check_model(found)
    return found


def name_of(model: Any) -> str:
    """Return what to call a model that was given as an object: its own ``name``, else that of its function or class."""
    for one in (getattr(model, "name", None), getattr(model, "__name__", None)):
        if isinstance(one, str) and one:
            return one
    return type(model).__name__


def last_line(error: BaseException) -> str:
    """Return in one line what foreign code failed with, and where.

    Examples
    --------
    >>> last_line(ValueError("no weights"))
    'ValueError: no weights'
    """
    try:
        said = " ".join("".join(traceback.format_exception_only(error)).split())
    except Exception:  # noqa: BLE001 - foreign code in __str__
        said = type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return (said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…") + where


def _registered(name: str) -> Any:
    points = {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        raise UsageError(f"predictor {name!r}: expected PKG.MOD:OBJ, or a registered name (registered: {known})")
    try:
        return points[name].load()
    except Exception as error:
        raise PredictorError(f"predictor {name}: {points[name].value} cannot be loaded: {last_line(error)}") from error


def _imported(name: str, module_name: str, path: str) -> Any:
    with _current_folder_too():
        try:
            found: Any = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
                raise UsageError(
                    f"predictor {name!r}: no module {error.name!r}; it is looked for where Python looks "
                    "(PYTHONPATH), then in the current folder"
                ) from error
            raise PredictorError(f"predictor {name}: {module_name} cannot be imported: {last_line(error)}") from error
        except (Exception, SystemExit) as error:
            raise PredictorError(f"predictor {name}: {module_name} cannot be imported: {last_line(error)}") from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise UsageError(f"predictor {name!r}: {module_name} has no {path!r}") from error
    return found


@contextlib.contextmanager
def _current_folder_too() -> Iterator[None]:
    """Let modules of the current folder be found, last, for as long as one is imported.

    Not longer: the folder may be anybody's, and what is merely tried to be imported later must not be found there.
    """
    folder = os.getcwd()  # noqa: PTH109
    if folder in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
