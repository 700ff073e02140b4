"""Reading runs: one run, lists of runs, and their views."""
