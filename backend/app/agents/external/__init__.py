"""Installed coding agents: each has a profile, and a driver for the way in which it communicates."""
