"""The only place that joins a case, its specification and the metrics; one adapter for each task type."""
