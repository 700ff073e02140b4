"""Vocabulary: the models and enumerations that every other layer speaks.

Models that the command line imports build their validators at first use (`defer_build`): it starts quickly.
"""
