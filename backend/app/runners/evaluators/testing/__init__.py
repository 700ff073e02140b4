"""The test gate: pytest, run by a runner of our own."""
