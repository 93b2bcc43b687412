"""``landmarks``: compare the labelled points of two files; of a mask the centre of each vertebra is taken."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from medotter_viewer.cli.output import print_findings, print_table, write_json
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Candidates, Landmarks, Point
from medotter_viewer.core.reprs import NOTHING, number_text
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.errors import GridMismatchError, UsageError
from medotter_viewer.formats import registry
from medotter_viewer.formats.landmark_files import read_landmark_file
from medotter_viewer.formats.landmark_frame import LandmarkFile
from medotter_viewer.metrics.vertebrae import VertebraComparison, VertebraMatch, compare_vertebrae
from medotter_viewer.scoring.vertebra_points import derived_landmarks, derived_notes
from medotter_viewer.scoring.vertebrae import comparison_notes, comparison_scores


def run(options: argparse.Namespace) -> int:
    """Print which vertebrae are identified, and how far off they are."""
    (gt, pred), notes = _read(options.gt, options.pred, options.image, options.centroid_layout)
    found = compare_vertebrae(gt.points_world, pred.points_world, max_distance_mm=options.max_distance)
    notes += [*derived_notes(gt, pred), *comparison_notes(found)]
    candidates: Candidates = options.candidates
    values = {name: metric.value for name, metric in comparison_scores(found, candidates).items()}
    counts = {"n_gt": found.n_gt, "n_pred": found.n_pred, "n_hits": len(found.hits(candidates))}
    order = ("id_rate", "id_rate_official", "id_rate_all_gt", "d_mean", *counts, "n_missing", "n_extra")
    content = {
        **{name: {**values, **counts}[name] for name in order},
        "points": {str(label): _point(match, candidates) for label, match in found.matches.items()},
        "level_shift": found.level_shift,
        "notes": [note.to_dict() for note in notes],
    }
    write_json(options.json, content)
    if options.json != "-":
        _print(found, candidates, values, notes)
    return 0


def _read(gt: Path, pred: Path, image: Path | None, layout: str | None) -> tuple[Sequence[Landmarks], list[Finding]]:
    """Points of both files in one world."""
    notes: list[Finding] = []

    def note(findings: Sequence[Finding]) -> None:
        notes.extend(finding for finding in findings if finding not in notes)

    files: list[LandmarkFile | LabelMap] = []
    for path in (gt, pred):
        if _is_mask(path):
            labels, findings = registry.read_labels(path)
            note([replace(finding, file=finding.file or str(path)) for finding in findings])
            files.append(_placed_mask(path, labels))
        else:
            files.append(read_landmark_file(path, layout=layout))
    of_points = [file for file in files if isinstance(file, LandmarkFile) and file.points]
    grid = next((file.grid for file in files if isinstance(file, LabelMap)), None)
    if image is not None:
        grid, findings = registry.read_grid(image)
        note(findings)
    elif grid is None and any(file.grid is None for file in of_points):
        axes = {(file.axes, file.in_mm, file.grid is None) for file in of_points}
        if len(axes) > 1 or not all(file.in_mm for file in of_points):
            raise UsageError("the points are voxels of an image: give it, or a mask of it, by --image NIFTI")
    sides = []
    for file in files:
        if isinstance(file, LandmarkFile):
            points, findings = file.place(grid)
            note(findings)
        else:
            points = derived_landmarks(file)
        sides.append(points)
    return sides, notes


def _is_mask(path: Path) -> bool:
    """Whether a file is no JSON but something with voxels."""
    if path.suffix.lower() == ".json":
        return False
    return path.is_dir() or path.name.lower().endswith(registry.SUFFIXES)


def _placed_mask(path: Path, labels: LabelMap) -> LabelMap:
    if not labels.grid.has_world:
        raise GridMismatchError(
            f"{path}: the mask's orientation is unknown (no form codes), so its vertebrae have no place in mm; "
            "give a file that says how it lies"
        )
    return labels


def _point(match: VertebraMatch, candidates: Candidates) -> dict[str, object]:
    return {
        "name": vertebra_name(match.label),
        "gt_world": None if match.gt is None else list(match.gt),
        "pred_world": None if match.pred is None else list(match.pred),
        "distance_mm": match.distance_mm,
        "nearest": match.nearest[candidates],
        "hit": match.hit[candidates],
    }


def _print(
    found: VertebraComparison, candidates: Candidates, values: dict[str, float | None], notes: list[Finding]
) -> None:
    header = ("vertebra", "id", "gt (x y z mm)", "pred (x y z mm)", "distance (mm)", "nearest gt", "hit")
    print_table(header, [_row(match, candidates) for match in found.matches.values()])
    hits = f"{len(found.hits(candidates))} of {found.n_gt}"
    print(f"\nid_rate: {number_text('id_rate', values['id_rate'])} ({hits}, candidates {candidates})")
    for name in ("id_rate_official", "id_rate_all_gt"):
        print(f"{name}: {number_text(name, values[name])}")
    print(f"d_mean (mm): {number_text('d_mean', values['d_mean'])}")
    print(f"missed {len(found.missing)}, extra {len(found.extra)}")
    print_findings(notes)


def _row(match: VertebraMatch, candidates: Candidates) -> tuple[str, ...]:
    nearest = match.nearest[candidates]
    return (
        vertebra_name(match.label),
        str(match.label),
        _place(match.gt),
        _place(match.pred),
        NOTHING if match.distance_mm is None else f"{match.distance_mm:.2f}",
        NOTHING if nearest is None else vertebra_name(nearest),
        match.why_not(candidates) or "hit",
    )


def _place(point: Point | None) -> str:
    return NOTHING if point is None else " ".join(f"{v:.1f}" for v in point)
