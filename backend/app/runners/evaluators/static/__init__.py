"""The gates that read code without running it: lint and types."""
