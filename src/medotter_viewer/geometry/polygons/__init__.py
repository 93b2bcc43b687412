"""Rings to masks and masks to rings, in index coordinates: x is the column, y the row, pixel centres at integers.

World positions are turned into indices before, and indices into world positions after; nothing here knows a grid.
"""

from medotter_viewer.geometry.polygons.areas import combined_area, drawable, even_odd_area, overlap_areas
from medotter_viewer.geometry.polygons.filling import FILL_RULES, FillRule, fill
from medotter_viewer.geometry.polygons.keyholes import keyhole
from medotter_viewer.geometry.polygons.nesting import CrossingRingsError, even_odd_polygons, union_polygons
from medotter_viewer.geometry.polygons.rings import Ring, as_ring, shoelace
from medotter_viewer.geometry.polygons.tracing import TracedPolygon, TracedSlices, trace, trace_slices

__all__ = [
    "FILL_RULES",
    "CrossingRingsError",
    "FillRule",
    "Ring",
    "TracedPolygon",
    "TracedSlices",
    "as_ring",
    "combined_area",
    "drawable",
    "even_odd_area",
    "even_odd_polygons",
    "fill",
    "keyhole",
    "overlap_areas",
    "shoelace",
    "trace",
    "trace_slices",
    "union_polygons",
]
