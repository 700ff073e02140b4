"""Tests of the parts of the gateway that do no I/O."""
