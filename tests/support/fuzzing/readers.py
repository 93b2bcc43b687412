"""How each reader is called in a run of fuzzing: bytes go into a file, findings come out."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from fuzzing import seeds

Read = Callable[[bytes], Iterable[object]]
Pack = Callable[[bytes], bytes]


def as_is(data: bytes) -> bytes:
    """Return the bytes."""
    return data


def gzipped(data: bytes) -> bytes:
    """Return the bytes packed by gzip, so that changes reach what is inside."""
    return gzip.compress(data, 1, mtime=0)


def zipped(name: str) -> Pack:
    """Return what packs bytes as the one member of a zip archive."""

    def pack(data: bytes) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return file.getvalue()

    return pack


def with_png_sums(data: bytes) -> bytes:
    """Return a PNG with the checksum of every chunk set right, as far as its chunks can be followed."""
    parts, at = [data[:8]], 8
    while at + 8 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        body = data[at + 4 : at + 8 + length]
        parts += [data[at : at + 4], body]
        at += 8 + length
        if at + 4 > len(data):
            break
        parts.append(struct.pack(">I", zlib.crc32(body)))
        at += 4
    return b"".join([*parts, data[at:]])


def in_turn(*calls: Callable[[], Any]) -> list[object]:
    """Make every call though some raise errors of ours; return findings and errors, or raise where all failed."""
    from medotter_viewer.errors import MedotterViewerError

    found: list[object] = []
    failed = 0
    for call in calls:
        try:
            found += findings_in(call())
        except MedotterViewerError as error:
            failed += 1
            if failed == len(calls):
                raise
            found.append(error)
    return found


def findings_in(value: Any) -> list[object]:
    """Return the findings of what a reader returned: a list, or a tuple that ends with one."""
    if isinstance(value, tuple) and value and isinstance(value[-1], list):
        return list(value[-1])
    return list(value) if isinstance(value, list | tuple) else []


# ---------------------------------------------------------------- text


def json_file(folder: Path) -> Read:
    """`read_json`."""
    from medotter_viewer.formats.config_files import read_json

    return _of_file(folder / "x.json", lambda path: (read_json(path), read_json(path, nan=True), [])[2:])


def yaml_file(folder: Path) -> Read:
    """`read_yaml`."""
    from medotter_viewer.formats.config_files import read_yaml

    return _of_file(folder / "x.yaml", lambda path: (read_yaml(path), [])[1:])


def manifest(folder: Path) -> Read:
    """A bundle's manifest: its cases, what is shown of it, and what check says."""
    return _bundle(folder, "manifest_test.json", score=False)


def task(folder: Path) -> Read:
    """A bundle's task.yaml, down to the scores."""
    return _bundle(folder, "task.yaml", score=True)


def eval_spec(folder: Path) -> Read:
    """A bundle's eval_spec.yaml, down to the scores."""
    return _bundle(folder, "eval_spec.yaml", score=True)


def _bundle(folder: Path, name: str, *, score: bool) -> Read:
    from medotter_viewer.batch import score_entries
    from medotter_viewer.checks.source import check_source
    from medotter_viewer.evaluation.report import report_on
    from medotter_viewer.scoring.options import ScoreOptions
    from medotter_viewer.sources.opening import open_source

    bundle = folder / "bundle"
    for part in ("bundle", "data", "predictions"):
        (folder / part).mkdir()
    (bundle / "manifest_test.json").write_bytes(seeds.manifests()[0])
    (bundle / "task.yaml").write_bytes(seeds.tasks()[0])
    (bundle / "eval_spec.yaml").write_bytes(seeds.specs()[0])
    seeds.write_tiny_volumes(folder / "data", folder / "predictions")

    def read(data: bytes) -> list[object]:
        (bundle / name).write_bytes(data)
        source = open_source(bundle, predictions=folder / "predictions")
        findings: list[object] = [f for entry in source.entries() for f in entry.findings]
        source.bundle._repr_html_()  # type: ignore[attr-defined]
        findings += check_source(source)
        if score:
            options = ScoreOptions()
            entries = list(source.entries("test"))
            scores = score_entries(entries, source.spec, options)
            report = report_on(source, scores, options, "test")
            json.dumps(report.to_dict(), allow_nan=False)
            report.rows()
            report._repr_html_()
            findings += [note for one in scores for note in one.notes]
        else:
            json.dumps(source.record(), allow_nan=False)
        return findings

    return read


def user_remap(folder: Path) -> Read:
    """The file of ``--remap``."""
    from medotter_viewer.sources.user_remap import load_user_remap

    def read(path: Path) -> list[object]:
        json.dumps(load_user_remap(str(path)).record(), allow_nan=False)
        return []

    return in_turn_of(_of_file(folder / "x.yaml", read), _of_file(folder / "x.json", read))


def pattern(folder: Path) -> Read:
    """The template of ``--pattern``; its messages name the option, not a file."""
    from medotter_viewer.core.case import CaseEntry
    from medotter_viewer.errors import UsageError
    from medotter_viewer.sources.predictions import PredictionFolder

    entry = CaseEntry("A/1", dataset="A", split="test")

    def read(data: bytes) -> list[object]:
        try:
            predictions = PredictionFolder(folder, "m", data.decode("utf-8", "surrogateescape"))
        except UsageError:
            return []
        return [*predictions.find(entry)[1], *predictions.find_landmarks(entry, ".json")[1]]

    return read


def landmarks(folder: Path) -> Read:
    """Centroid files of every layout, with and without an image's grid."""
    import numpy as np

    from medotter_viewer.core.grid import Grid
    from medotter_viewer.formats.landmark_files import read_landmarks

    grid = Grid((4, 5, 6), np.diag([-1.0, 2.0, 3.0, 1.0]))

    def read(path: Path) -> list[object]:
        return in_turn(
            lambda: read_landmarks(path, grid),
            lambda: read_landmarks(path, None),
            lambda: read_landmarks(path, grid, layout="miccai19"),
            lambda: read_landmarks(path, None, layout="miccai20"),
        )

    return _of_file(folder / "x_ctd.json", read)


def submission(suffix: str, *, pack: Pack = as_is) -> Callable[[Path], Read]:
    """A submission of contours, strictly and as the contest takes it."""

    def prepare(folder: Path) -> Read:
        from medotter_viewer.formats.polygon_csv import read_submission

        known = {"1": {1, 2, 3}, "2": {5}}

        def read(path: Path) -> list[object]:
            found: list[object] = []
            for contest in (False, True):
                for slices in (None, known):
                    result = read_submission(path, slices=slices, contest_reader=contest)
                    for scan in result.rings.values():
                        list(scan.values())
                    found += result.findings
            return found

        return _of_file(folder / f"x{suffix}", read, pack)

    return prepare


# ---------------------------------------------------------------- volumes


def volume(suffix: str, *, pack: Pack = as_is) -> Callable[[Path], Read]:
    """A file of any format, as grid, as labels, as image, and its facts."""

    def prepare(folder: Path) -> Read:
        from medotter_viewer.formats import registry
        from medotter_viewer.sources.info import path_info

        def read(path: Path) -> list[object]:
            def facts() -> list[object]:
                json.dumps(path_info(path), allow_nan=False)
                return []

            return in_turn(
                lambda: registry.read_grid(path),
                lambda: registry.read_labels(path),
                lambda: registry.read_volume(path),
                facts,
            )

        return _of_file(folder / f"x{suffix}", read, pack)

    return prepare


def module(name: str, suffix: str, *calls: str, pack: Pack = as_is) -> Callable[[Path], Read]:
    """Functions of one module of `formats`, each on the same file; by default those of a volume."""

    def prepare(folder: Path) -> Read:
        readers = import_module(f"medotter_viewer.formats.{name}")
        functions = [getattr(readers, call) for call in calls or ("read_grid", "read_labels", "read_volume")]

        def read(path: Path) -> list[object]:
            return in_turn(*(lambda one=one: one(path) for one in functions))  # type: ignore[misc]

        return _of_file(folder / f"x{suffix}", read, pack)

    return prepare


# ---------------------------------------------------------------- folders


def dicom_series(pack: Pack = as_is) -> Callable[[Path], Read]:
    """One file of a DICOM series between two good ones, and the series' facts."""

    def prepare(folder: Path) -> Read:
        from medotter_viewer.formats.dicom import series
        from medotter_viewer.sources.info import path_info

        inside = folder / "series"
        seeds.write_series(inside)

        def read(path: Path) -> list[object]:
            def facts() -> list[object]:
                json.dumps(path_info(inside), allow_nan=False)
                return []

            return in_turn(
                lambda: series.read_stack(inside),
                lambda: series.read_grid(inside),
                lambda: series.read_volume(inside),
                lambda: series.read_labels(inside),
                facts,
            )

        return _of_file(inside / "1.dcm", read, pack)

    return prepare


def scan(name: str) -> Callable[[Path], Read]:
    """One file of a scan folder, read with the scan it belongs to."""

    def prepare(folder: Path) -> Read:
        from medotter_viewer.sources import scans
        from medotter_viewer.sources.info import path_info

        inside = seeds.write_scan(folder)

        def read(path: Path) -> list[object]:
            def facts() -> list[object]:
                json.dumps(path_info(inside), allow_nan=False)
                return []

            def whole() -> list[object]:
                found, findings = scans.read_scan(inside)
                list(found.findings)
                return [*found.findings, *findings]

            return in_turn(whole, lambda: scans.read_scan_volume(inside), facts)

        return _of_file(inside / name, read)

    return prepare


def nnunet(folder: Path) -> Read:
    """A dataset.json of nnU-Net, down to the rules that are made of it."""
    from medotter_viewer.sources.nnunet_dataset import read_dataset_file
    from medotter_viewer.sources.opening import open_source

    place = folder / "Dataset001_x"
    seeds.write_nnunet(place)

    def read(path: Path) -> list[object]:
        def opened() -> list[object]:
            source = open_source(place)
            source.spec.regions.items()
            json.dumps(source.record(), allow_nan=False, default=str)
            return [*(f for entry in source.entries() for f in entry.findings), *source.check()]

        return in_turn(lambda: (read_dataset_file(path), [])[1:], opened)

    return _of_file(place / "dataset.json", read)


def in_turn_of(*reads: Read) -> Read:
    """Return what gives the same bytes to several readers."""
    return lambda data: in_turn(*(lambda read=read: list(read(data)) for read in reads))  # type: ignore[misc]


def _of_file(path: Path, read: Callable[[Path], Iterable[object]], pack: Pack = as_is) -> Read:
    def run(data: bytes) -> Iterable[object]:
        path.write_bytes(pack(data))
        return read(path)

    return run
