"""What people read of runs: one run, lists of runs, and their views."""
