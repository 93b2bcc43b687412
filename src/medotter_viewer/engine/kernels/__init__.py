"""The kernels: importing this compiles them, or loads them from the cache folder; see `medotter_viewer.engine.choice`.

They take flat arrays in memory order and check nothing; who calls them has checked.
"""

from medotter_viewer.engine.kernels.filling import fill_rings
from medotter_viewer.engine.kernels.instances import add_id_pairs, count_id_pairs
from medotter_viewer.engine.kernels.lut import look_up
from medotter_viewer.engine.kernels.nearest import (
    compared_voxels,
    far_voxels,
    nearest_voxels,
    row_range,
    row_starts,
    slice_boxes,
)
from medotter_viewer.engine.kernels.slices import count_pairs_by_slice
from medotter_viewer.engine.kernels.surfaces import count_by_region, sort_by_region, surface_voxels
from medotter_viewer.engine.kernels.surfels import mark_rows, surface_corners
from medotter_viewer.engine.kernels.tables import count_pairs
from medotter_viewer.engine.kernels.tracing import trace_planes
from medotter_viewer.engine.kernels.words import BLOCK_BITS as BLOCK_BITS

__all__ = [
    "add_id_pairs",
    "compared_voxels",
    "count_by_region",
    "count_id_pairs",
    "count_pairs",
    "count_pairs_by_slice",
    "far_voxels",
    "fill_rings",
    "look_up",
    "mark_rows",
    "nearest_voxels",
    "row_range",
    "row_starts",
    "slice_boxes",
    "sort_by_region",
    "surface_corners",
    "surface_voxels",
    "trace_planes",
]
