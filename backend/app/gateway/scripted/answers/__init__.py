"""Writes the scripted model's output as a whole answer or a stream, with one module for each dialect."""
