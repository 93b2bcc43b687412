"""The state of one review and its jobs: evented, without Qt."""
