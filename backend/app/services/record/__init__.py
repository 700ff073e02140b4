"""Records runs: writes rows and events in the caller's transaction."""
