"""Hooks of coding agents and git that evaluate work when it is called done."""
