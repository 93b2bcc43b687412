"""Pictures of a case by matplotlib alone: no display, no pyplot, no global state."""

from medotter_viewer.figures.cells import in_cell, show_in_cells
from medotter_viewer.figures.spine import spine_figure
from medotter_viewer.figures.triplet import triplet

__all__ = ["in_cell", "show_in_cells", "spine_figure", "triplet"]
