"""Vocabulary: the models and enumerations that all other packages share.

Models that the command line imports build their validators on first use (`defer_build`),
so that it starts quickly.
"""
