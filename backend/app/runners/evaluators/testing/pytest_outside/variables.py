"""The environment variables that the process of the candidate's code gets from the tests."""

from __future__ import annotations

import os
import re

_TEST = "PYTEST_CURRENT_TEST"
_PHASE = re.compile(r"\(\w+\)\Z")


def lent_variables() -> dict[str, str]:
    """Return the tests' variables. Code may ask whether a test runs, but not which.

    The id of a test with parameters often contains what the test expects.
    """
    variables = dict(os.environ)  # noqa: TID251 - tests set them
    if _TEST in variables:
        phase = _PHASE.search(variables[_TEST])
        variables[_TEST] = f"a test {phase.group()}" if phase else "a test"
    return variables
