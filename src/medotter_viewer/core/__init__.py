"""Values and pure functions on numpy alone: what a case, a grid, a remap, a specification and a score are.

Nothing here reads a file, knows a benchmark's folder layout, or computes a metric.
"""
