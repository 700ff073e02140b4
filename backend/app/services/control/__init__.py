"""What people ask of runs: start, pause, resume, fork and cancel."""
