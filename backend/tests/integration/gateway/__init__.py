"""Tests of the model gateway, against the scripted model server."""
