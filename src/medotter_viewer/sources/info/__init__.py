"""What is in a path: the facts of one file, or what a folder holds."""

from medotter_viewer.sources.info.dispatch import path_info

__all__ = ["path_info"]
