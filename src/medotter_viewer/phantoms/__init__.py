"""Made-up cases whose truth is known: bodies, brains, markers, and predictions that are wrong in a known way.

For samples, tests and tutorials. Everything follows from a seed; nothing here reads or writes a file.
"""

from medotter_viewer.phantoms.brain import BRAIN_NAMES, brain_phantom
from medotter_viewer.phantoms.chest_scans import ChestScan, Tumour, chest_scan, rasterised
from medotter_viewer.phantoms.markers import marker_phantom, reoriented
from medotter_viewer.phantoms.paint import Phantom
from medotter_viewer.phantoms.perturb import (
    dilated,
    eroded,
    mirrored,
    removed,
    roughened,
    shifted,
    swapped,
    with_blob,
)
from medotter_viewer.phantoms.spine import SpinePhantom, spine_phantom
from medotter_viewer.phantoms.torso import TORSO_NAMES, torso_phantom

__all__ = [
    "BRAIN_NAMES",
    "TORSO_NAMES",
    "ChestScan",
    "Phantom",
    "SpinePhantom",
    "Tumour",
    "brain_phantom",
    "chest_scan",
    "dilated",
    "eroded",
    "marker_phantom",
    "mirrored",
    "rasterised",
    "removed",
    "reoriented",
    "roughened",
    "shifted",
    "spine_phantom",
    "swapped",
    "torso_phantom",
    "with_blob",
]
