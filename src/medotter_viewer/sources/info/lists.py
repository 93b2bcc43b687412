"""The facts of files that hold no voxels: labelled points, polygons, plain JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.errors import MedotterViewerError
from medotter_viewer.formats.config_files import read_json
from medotter_viewer.formats.landmark_files import parse_landmarks
from medotter_viewer.sources.info.facts import Facts, facts


def json_facts(path: Path) -> Facts:
    """Return the facts of a JSON file: of labelled points where it holds some, else that it is another file."""
    content = read_json(path, nan=True)
    if not _looks_like_points(content):
        message = "a JSON file that is no list of labelled points; name the folder it belongs to"
        return facts(path, "json", notes=[Finding("info", "not-a-case-file", message, file=str(path))])
    try:
        found = parse_landmarks(content, path)
    except MedotterViewerError as error:
        if "--centroid-layout" not in str(error):
            raise
        note = Finding("warning", "no-direction", str(error), file=str(path))
        points = [_point(entry["label"], None, None) for entry in content if "label" in entry]
        return facts(path, "centroids", items=points, notes=[note])
    notes = list(found.findings)
    world: dict[int, tuple[float, ...]] = {}
    if found.grid is not None:
        placed, more = found.place(None)
        world, notes = dict(placed.points_world), [*notes, *(n for n in more if n not in notes)]
    elif found.points:
        message = (
            "X, Y, Z are voxels along the file's own axes, of an image that it does not name: where they lie in the "
            "patient only 'landmarks GT PRED --image' can say"
        )
        notes.append(Finding("info", "landmark-needs-image", message, file=str(path)))
    if not found.points:
        notes.append(Finding("info", "no-points", "no point with numbers is in the file", file=str(path)))
    items = [_point(label, xyz, world.get(label)) for label, xyz in found.points.items()]
    return {**facts(path, "centroids", items=items, notes=notes), "axcodes": list(found.axes) or None}


def _looks_like_points(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(entry, dict) for entry in content)


def _point(label: Any, xyz: tuple[float, ...] | None, world: tuple[float, ...] | None) -> dict[str, Any]:
    name = vertebra_name(label) if isinstance(label, int) else str(label)
    places = {"file_xyz": xyz, "world": world}
    return {"kind": "point", "label": label, "name": name, **{k: v and list(v) for k, v in places.items()}}
