"""Requests about runs: start, pause, resume, fork and cancel."""
