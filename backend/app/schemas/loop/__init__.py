"""Vocabulary of director-evaluator loops."""
