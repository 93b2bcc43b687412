"""The kernels: importing this compiles them, or loads them from the cache folder; see `medotter_viewer.engine.choice`.

They take flat arrays in memory order and check nothing; who calls them has checked.
"""

from medotter_viewer.engine.kernels.nearest import far_voxels, nearest_voxels, row_range, row_starts
from medotter_viewer.engine.kernels.surfaces import count_by_region, sort_by_region, surface_voxels
from medotter_viewer.engine.kernels.tables import count_pairs

__all__ = [
    "count_by_region",
    "count_pairs",
    "far_voxels",
    "nearest_voxels",
    "row_range",
    "row_starts",
    "sort_by_region",
    "surface_voxels",
]
