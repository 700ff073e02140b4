"""Records runs: rows and events, written in the caller's transaction."""
