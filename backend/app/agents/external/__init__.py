"""Coding agents that are installed on the machine, each described by a profile and driven as it talks."""
