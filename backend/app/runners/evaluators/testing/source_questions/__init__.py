"""Questions about new source code that tests alone cannot answer."""
