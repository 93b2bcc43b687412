"""What the scripts that write sample bundles share: packed images, manifests, rounded numbers."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.volume import Volume


def packed(image: Volume | LabelMap) -> bytes:
    """Return a NIfTI file: no time and no name in the gzip header, so that equal content gives equal bytes."""
    import nibabel

    nifti = nibabel.Nifti1Image(image.data, image.grid.affine, dtype=image.data.dtype)
    nifti.header.set_xyzt_units("mm")
    nifti.set_sform(image.grid.affine, code=1)
    nifti.set_qform(image.grid.affine, code=1)
    stream = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=9, mtime=0) as file:
        file.write(nifti.to_bytes())
    return stream.getvalue()


def manifest_of(name: str, per_case: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return manifest_test.json; the hash is taken over everything else in it."""
    content = {
        "task": name,
        "version": "1.0.0",
        "split_version": f"{name}/v1",
        "train": [case_id for case_id, case in per_case.items() if case["split"] == "train"],
        "test": [case_id for case_id, case in per_case.items() if case["split"] == "test"],
        "per_case": per_case,
        "skipped": [],
        "dropped_cross_split": [],
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    digest = hashlib.sha256(canonical).hexdigest()[:12]
    head = {key: content[key] for key in ("task", "version", "split_version")}
    return {**head, "hash": digest, **content}


def manifest_text(name: str, per_case: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the manifest as it is written."""
    return json.dumps(manifest_of(name, per_case), indent=2) + "\n"


def rounded(value: Any) -> Any:
    """Round every float to nine decimals: below any tolerance, above the noise of another machine."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    return value
