"""Environments: the interpreter that judges a workspace, with the packages that the workspace declares."""
