"""Runs tests in a private copy, reads their records, and recognises what the environment lacks."""
