"""Sorts failing tests: those that count, those that do not, and those that need a decision."""
