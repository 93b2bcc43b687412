"""docs/findings.md lists every code that the package can give, and no other."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "medotter_viewer"
SEVERITIES = {"error", "warning", "info"}
HYPHENATED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
# Words with hyphens that are no codes: encodings, distributions, commands, and what the fields of files hold.
OTHER_WORDS = {
    *("utf-8", "utf-8-sig", "latin-1", "pylibjpeg-openjpeg", "pylibjpeg-rle", "python-gdcm"),
    *("ground-truth", "medotter-viewer", "remap-audit"),
    *("right-anterior-superior", "left-anterior-superior", "left-posterior-superior"),
    *("covariant-vector", "rgb-color", "rgba-color"),
    *("app-model", "scikit-image", "medotter-viewer-predictor"),
}


@cache
def listed() -> set[str]:
    """Codes in the first column of a table."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    return {code for row in re.findall(r"^\| (`[^|]*)\|", page, re.M) for code in re.findall(r"`([^`]+)`", row)}


def words(node: ast.AST) -> set[str]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


@cache
def trees() -> dict[str, ast.Module]:
    paths = (path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py")))
    return {str(path): ast.parse((PACKAGE / path).read_text(encoding="utf-8")) for path in paths}


def codes(tree: ast.Module) -> set[str]:
    """Every word with a hyphen, and what stands behind a severity."""
    found = {word for word in words(tree) if HYPHENATED.fullmatch(word)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 3 or isinstance(node.args[0], ast.Call):
            continue
        if words(node.args[0]) <= SEVERITIES and words(node.args[0]) and ast.unparse(node.func) != "LayerSpec":
            found |= {word for word in words(node.args[1]) if re.fullmatch("[a-z][a-z0-9-]+", word)}
    return found - OTHER_WORDS


def test_every_code_is_listed() -> None:
    found = {code: name for name, tree in trees().items() for code in codes(tree)}
    assert {"uneven-slices", "contour-off-plane", "malformed-line", "wrong-suffix", "oblique"} <= set(found)
    assert {code: name for code, name in found.items() if code not in listed()} == {}


def test_every_listed_code_exists() -> None:
    assert listed() - {word for tree in trees().values() for word in words(tree)} == set()
