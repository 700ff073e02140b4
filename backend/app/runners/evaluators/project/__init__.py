"""What a project says about its evaluators in `phaserunner.toml`."""
