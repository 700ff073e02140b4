"""Protects the base's tests and settings from an attempt."""
