"""Evaluators, the registry that names them, and the verdict on their results."""
