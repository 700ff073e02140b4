"""The default figures and names of settings, policies, evaluators and memory; each is defined only here."""

MAX_ATTEMPTS = 3
"""Attempts that a phase may use before a person is asked."""

PASS_THRESHOLD = 0.7
"""The score in [0, 1] from which an evaluator that asks a model passes."""

BLOCKING_THRESHOLD = 0.5
"""The score in [0, 1] below which a failed criterion blocks, whatever the mean."""

MODEL = "anthropic:claude-sonnet-4-20250514"
"""The model that works and judges, as `provider:model`."""
