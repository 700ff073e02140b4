"""A project's settings for its evaluators in `phaserunner.toml`."""
