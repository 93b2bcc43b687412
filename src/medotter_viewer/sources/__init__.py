"""From folders to cases: which files belong together, by which remap, on which grid."""
