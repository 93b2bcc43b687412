"""Arrays and affines in, arrays and affines out: reordering axes and resampling. No files, no cases."""
