"""Evaluators, the registry that names them, and the verdict drawn from their results."""
