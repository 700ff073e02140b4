"""Reads runs: single runs, lists of runs, and their views."""
