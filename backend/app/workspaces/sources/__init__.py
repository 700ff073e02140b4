"""The sources of a run's files, and the way back to them."""
