"""Docks of the window: each is a view over a table model, which reads a review session."""
