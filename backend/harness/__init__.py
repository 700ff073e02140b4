"""Runs worker processes under faults and checks what must hold afterwards, for fault tests and benchmarks."""
