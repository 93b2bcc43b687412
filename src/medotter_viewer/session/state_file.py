"""A review as a small JSON file: what was opened, and where a person was in it. Values and a file; no window.

What such a file says is data: paths are opened as a target of the command line would be, nothing in it is executed, and
a predictor, which is code, is never named in it. Paths are written relative to the file where that is possible.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from medotter_viewer import __version__
from medotter_viewer.core.key_reader import KeyReader, is_number
from medotter_viewer.core.windows import Window
from medotter_viewer.errors import BundleError, SavedReviewError, WriteError
from medotter_viewer.export.replacing import unfinished
from medotter_viewer.formats.config_files import read_json

FORMAT, VERSION = "medotter-viewer review", 1
SUFFIX = ".review.json"
Plane = Literal["axial", "coronal", "sagittal"]
PLANES: tuple[Plane, ...] = get_args(Plane)
Mode = Literal["contour", "fill", "error", "off"]
MODES: tuple[Mode, ...] = get_args(Mode)
_MAX_BYTES = 1 << 20
_FAR_MM, _NEAREST = 1e9, 1e6

PATHS = ("target", "predictions", "data_root", "gt", "pred", "image", "labels", "remap", "second")
"""Options that are paths; a remap may be the word ``identity`` instead."""
_WORDS = ("model_name", "pattern", "series", "second_name")
_FLAGS = ("resample_prediction", "instances")
_IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class SavedView:
    """Where in a case somebody looks.

    Parameters
    ----------
    position_world : (3,) tuple of float, or None
        mm RAS+ of what is in the middle of the canvas, on the slice that is shown; None where an image lies nowhere
        in a patient.
    plane : {"axial", "coronal", "sagittal"}
        Which slice through it.
    zoom : float or None
        Pixels of the canvas for a mm; None leaves it as it is.
    position_voxel : (3,) tuple of float, or None
        The same place as an index in file-axis order, from 0; it counts where there is no world.
    """

    position_world: tuple[float, float, float] | None
    plane: Plane = "axial"
    zoom: float | None = None
    position_voxel: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class ReviewState:
    """A review as it can be taken up again.

    Parameters
    ----------
    source : mapping
        Options of `open_source`, and ``second`` and ``second_name`` for the model beside the first; paths are absolute.
    hash : str or None
        Of the bundle that was open; None where there is none.
    name : str
        What it is called, for messages.
    split : {"all", "test", "train"}
        Which cases are listed.
    case_id, region : str or None
        The open case, and the region that is looked at alone.
    view : SavedView or None
        Where in the case somebody looks.
    mode : {"contour", "fill", "error", "off"}
        How overlays are drawn.
    native : bool
        Whether ground truth is shown in native ids.
    window : Window or None
        The CT window.
    limits : tuple of float or None
        Limits of the shown channel that were set by hand.
    channel : str or None
        The shown channel.
    filter, worst_first : str, str or None
        Of the list of cases.
    verdicts : Path or None
        The file of verdicts.
    """

    source: Mapping[str, Any]
    hash: str | None = None
    name: str = ""
    split: Literal["all", "test", "train"] = "all"
    case_id: str | None = None
    region: str | None = None
    view: SavedView | None = None
    mode: Mode = "contour"
    native: bool = False
    window: Window | None = None
    limits: tuple[float, float] | None = None
    channel: str | None = None
    filter: str = ""
    worst_first: str | None = None
    verdicts: Path | None = field(default=None)

    def check_hash(self, found: str | None, where: str, *, force: bool = False) -> str:
        """Return a warning, empty where the bundle is the one that was saved.

        Parameters
        ----------
        found : str or None
            Hash of the bundle that is there now.
        where : str
            The file, for messages.
        force : bool
            Whether another bundle is taken, with the warning.

        Raises
        ------
        SavedReviewError
            If it is another; the message names both.
        """
        if found == self.hash:
            return ""
        saved, there = (f"hash {h}" if h else "no hash" for h in (self.hash, found))
        text = f"{where} was saved on {self.name or 'a bundle'} with {saved}, but what is there now has {there}"
        if not force:
            raise SavedReviewError(f"{text}; name the right bundle as TARGET, or open it anyway by --force-session")
        return text


def write_state(path: Path, state: ReviewState) -> None:
    """Write a review; the file takes its name when it is whole.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - links stay as they were named
    view: dict[str, Any] = {
        "mode": state.mode,
        "native": state.native,
        "window": None if state.window is None else _window_out(state.window),
        "limits": None if state.limits is None else list(state.limits),
        "channel": state.channel,
    }
    if (place := state.view) is not None:
        world, voxel = place.position_world, place.position_voxel
        view |= {
            "frame": "RAS+",
            "position_mm": None if world is None else list(world),
            "position_voxel": None if voxel is None else list(voxel),
            "plane": place.plane,
            "zoom": place.zoom,
        }
    content = {
        "format": FORMAT,
        "version": VERSION,
        "program": __version__,
        "name": state.name,
        "hash": state.hash,
        "source": _source_out(state.source, folder),
        "split": state.split,
        "case": state.case_id,
        "region": state.region,
        "list": {"filter": state.filter, "worst_first": state.worst_first},
        "view": view,
        "verdicts": None if state.verdicts is None else _path_out(state.verdicts, folder),
    }
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        with unfinished({"file": path}) as parts:
            parts["file"].write_text(text, encoding="utf-8")
            parts["file"].replace(path)
    except (OSError, ValueError) as error:
        raise WriteError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def read_state(path: Path) -> ReviewState:
    """Return the review that a file holds.

    Raises
    ------
    ReadError
        If the file cannot be read.
    SavedReviewError
        If it holds something else, or a key holds what cannot be used; keys that are not known are left alone.
    """
    if path.is_file() and path.stat().st_size > _MAX_BYTES:
        raise SavedReviewError(f"{path}: over {_MAX_BYTES >> 20} MiB, expected a saved review of a few kilobytes")
    try:
        return _state_in(path, KeyReader(read_json(path), str(path)))
    except BundleError as error:
        raise SavedReviewError(str(error)) from error


def missing_paths(state: ReviewState) -> list[str]:
    """Return what a review needs and is not there, as ``what: path``."""
    named = {key: state.source[key] for key in PATHS if state.source.get(key)}
    return [f"{key}: {path}" for key, path in named.items() if path != _IDENTITY and not os.path.lexists(path)]


def check_there(state: ReviewState, where: str) -> None:
    """Raise SavedReviewError naming everything that a review needs and is not there."""
    if missing := missing_paths(state):
        raise SavedReviewError(
            f"{where} names what is not there: {'; '.join(missing)}; move it back, or name its new place on the "
            "command line, as in: open TARGET --predictions DIR --session FILE"
        )


# ---------------------------------------------------------------- out


def _source_out(source: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in source.items():
        if value is None or value is False:
            continue
        is_path = key in PATHS and value != _IDENTITY
        found[key] = _path_out(Path(value), folder) if is_path else value if isinstance(value, bool) else str(value)
    return found


def _path_out(path: Path, folder: Path) -> str:
    """Relative to the file, with slashes; absolute where there is no way from the one to the other."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100
    try:
        return Path(os.path.relpath(whole, folder)).as_posix()
    except ValueError:  # another drive
        return whole.as_posix()


def _window_out(window: Window) -> dict[str, Any]:
    return {"name": window.name, "level": window.level, "width": window.width}


# ---------------------------------------------------------------- in


def _state_in(path: Path, read: KeyReader) -> ReviewState:
    if read.raw.get("format") != FORMAT:
        raise read.fail("format", f"{FORMAT!r}: this is no saved review")
    version = read.raw.get("version")
    if version != VERSION or isinstance(version, bool):
        raise read.fail("version", f"{VERSION}; it was written by another version of this program")
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - links stay as they were named
    view = KeyReader(read.mapping("view"), f"{path}: view")
    cases = KeyReader(read.mapping("list"), f"{path}: list")
    read.check_choices({"split": ("all", "test", "train")})
    view.check_choices({"mode": MODES, "plane": PLANES})
    verdicts = _text(read, "verdicts")
    return ReviewState(
        source=_source_in(KeyReader(read.mapping("source"), f"{path}: source"), folder),
        hash=_text(read, "hash"),
        name=read.word("name", ""),
        split=read.word("split", "all"),  # type: ignore[arg-type]
        case_id=_text(read, "case"),
        region=_text(read, "region"),
        view=_view_in(view),
        mode=view.word("mode", "contour"),  # type: ignore[arg-type]
        native=view.flag("native"),
        window=_window_in(view),
        limits=_numbers(view, "limits", 2),  # type: ignore[arg-type]
        channel=_text(view, "channel"),
        filter=cases.word("filter", ""),
        worst_first=_text(cases, "worst_first"),
        verdicts=None if verdicts is None else _path_in(read, "verdicts", verdicts, folder),
    )


def _source_in(read: KeyReader, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in (*PATHS, *_WORDS):
        text = _text(read, key)
        if text is not None:
            is_path = key in PATHS and text != _IDENTITY
            found[key] = str(_path_in(read, key, text, folder)) if is_path else text
    found.update({key: True for key in _FLAGS if read.flag(key)})
    if not any(found.get(key) for key in ("target", "gt", "pred", "image")):
        raise read.fail("target", "the folder that was open, or gt, pred or image")
    return found


def _path_in(read: KeyReader, key: str, text: str, folder: Path) -> Path:
    if "\0" in text:
        raise read.fail(key, "a path")
    return Path(os.path.normpath(folder / PurePosixPath(text)))


def _view_in(view: KeyReader) -> SavedView | None:
    world, voxel = (_numbers(view, key, 3) for key in ("position_mm", "position_voxel"))
    if world is None and voxel is None:
        return None
    view.check_choices({"frame": ("RAS+",)})
    zoom = view.raw.get("zoom")
    if zoom is not None and not (is_number(zoom) and 1 / _NEAREST < zoom < _NEAREST):
        raise view.fail("zoom", "pixels for a mm, or null")
    plane: Any = view.word("plane", "axial")
    return SavedView(world, plane, None if zoom is None else float(zoom), voxel)  # type: ignore[arg-type]


def _window_in(view: KeyReader) -> Window | None:
    if view.raw.get("window") is None:
        return None
    read = KeyReader(view.mapping("window"), f"{view.where}: window")
    level = read.number("level", 40.0, low=-_FAR_MM, high=_FAR_MM)
    return Window(read.word("name", ""), level, read.length_mm("width", 400.0, longest=_FAR_MM))


def _numbers(read: KeyReader, key: str, count: int) -> tuple[float, ...] | None:
    value = read.raw.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != count or not all(is_number(v) and abs(v) < _FAR_MM for v in value):
        raise read.fail(key, f"{count} numbers")
    return tuple(float(v) for v in value)


def _text(read: KeyReader, key: str) -> str | None:
    return read.word(key, "") or None
