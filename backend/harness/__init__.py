"""Worker processes under faults, and what must hold afterwards: what fault tests and benchmarks share."""
