"""Measures what the program adds to the work of agents and tools."""
