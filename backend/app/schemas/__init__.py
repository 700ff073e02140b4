"""Vocabulary: the models and enumerations that every other layer speaks."""
