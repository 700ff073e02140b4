"""Carries out the decisions on a run: agents work, evaluators judge, outcomes are recorded."""
