"""Stores events with numbers and delivers each exactly once to every follower."""
