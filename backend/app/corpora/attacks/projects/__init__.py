"""Small projects in which the attempts are made, each with its tests and a finished solution."""
