"""Compiled kernels for what costs time: which engine is in force, and the threads it runs on.

Every kernel has a plain counterpart (numpy, scipy) where it is called, which is the reference: both give equal results.
"""
