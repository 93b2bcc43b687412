"""DICOM files: series of slices, multi-frame images and what refers to them. LPS becomes RAS+ here, once."""
