"""Tests with agents that are installed, at work without a key; `make test-agents` runs them."""
