"""The facts of a volume: where it lies, its values, and which ids occur where they are whole numbers."""

from __future__ import annotations

from pathlib import Path

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.segments import Segments
from medotter_viewer.errors import LabelError
from medotter_viewer.formats import registry
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.sources.info.facts import Facts, facts, grid_facts, grid_notes, value_range


def volume_facts(path: Path) -> Facts:
    """Return the facts of one image or label map."""
    readers = registry.format_of(path)
    volume, notes = registry.read_volume(path)
    labels: dict[str, int] | None = None
    try:
        label_map, more = registry.read_labels(path)  # of colours too: a palette's indices are ids
        notes = notes + [n for n in more if n not in notes]
        labels = {str(i): n for i, n in label_voxels(label_map.data).items()}
        del label_map
    except LabelError as error:
        notes = [*notes, Finding("info", "not-a-label-map", str(error), file=str(path))]
    return {
        **facts(path, readers.NAME, notes=notes + grid_notes(volume.grid, path)),
        **grid_facts(volume.grid),
        "dtype": str(volume.data.dtype),
        "unit": volume.unit or None,
        "labels": labels,
        "channels": ["red", "green", "blue"] if volume.rgb else [],
        "range": value_range(volume),
    }


def segment_facts(path: Path, kind: str, segments: Segments, notes: list[Finding]) -> Facts:
    """Return the facts of a file of named segments: its grid, and voxels for each name."""
    counts = label_voxels(segments.codes)
    names = segments.names
    items = [
        {
            "kind": "segment",
            "number": segment.number,
            "name": names[segment.number],
            "voxels": sum(counts.get(code, 0) for code, of in segments.members.items() if segment.number in of),
        }
        for segment in segments.segments
    ]
    return {
        **facts(path, kind, items=items, notes=notes + grid_notes(segments.grid, path)),
        **grid_facts(segments.grid),
        "dtype": str(segments.codes.dtype),
        "labels": {str(item["number"]): item["voxels"] for item in items},
    }
