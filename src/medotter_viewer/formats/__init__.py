"""One module per file format: bytes in, values of `core` out. No module here knows a benchmark's layout."""
