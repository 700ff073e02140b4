"""Builds the compiled parts of a project, and lays them into copies of its tree."""
