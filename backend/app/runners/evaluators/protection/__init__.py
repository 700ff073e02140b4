"""The guard of the base's tests and settings."""
