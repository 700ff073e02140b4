"""Gates that run any command line."""
