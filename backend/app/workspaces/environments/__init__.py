"""Environments: the interpreter, with the packages that a workspace says it needs, that judges it."""
