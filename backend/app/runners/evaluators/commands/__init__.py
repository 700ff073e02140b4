"""Gates that are any command line."""
