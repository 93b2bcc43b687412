"""From cases to files that others read."""
