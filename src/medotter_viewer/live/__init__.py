"""What follows from tables without reading a voxel: a case while it is painted on, and what-ifs over many cases."""
