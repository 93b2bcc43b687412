"""The napari skin: what a case looks like, the window around it, and nothing that a library user would miss.

The only package that imports napari and Qt. `layers`, `colors`, `windows` and `letters` are pure and need neither.
"""

from medotter_viewer.ui.plain_napari import keep_shapes_plain

keep_shapes_plain()
