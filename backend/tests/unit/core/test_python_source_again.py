"""Parsing that another thread disturbed is tried again, and not for ever."""

import pytest

from app.core.python_source import undisturbed

DISTURBED = SystemError("AST constructor recursion depth mismatch (before=48, after=70)")


class Parser:
    """Fails a number of times, then parses."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise DISTURBED
        return "parsed"


def test_what_another_thread_disturbed_is_parsed_again() -> None:
    assert undisturbed(Parser(3)) == "parsed"


def test_there_is_an_end_to_it() -> None:
    with pytest.raises(SystemError, match="mismatch"):
        undisturbed(Parser(100))
