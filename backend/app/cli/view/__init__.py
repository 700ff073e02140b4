"""The terminal's views: a pure state derived from events, and the ways to render it."""
