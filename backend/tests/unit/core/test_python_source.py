"""Sources are parsed once, and what another thread disturbed is tried again, but not for ever."""

import pytest

from app.core import python_source
from app.core.python_source import parse_module, parse_to_change, undisturbed

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


def test_a_module_is_parsed_once_and_callers_that_change_it_get_another_one() -> None:
    text = "shop = 1\n"
    assert parse_module(text) is parse_module(text)
    assert parse_to_change(text) is not parse_module(text)
    assert parse_module(text.encode()) is not parse_module(text)


def test_only_the_latest_sources_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_source, "_REMEMBERED_SIZE", 20)
    first = parse_module("a_first_one = 1\n")
    again = parse_module("a_first_one = 1\n")
    parse_module("another_one_of_more_than_twenty = 1\n")
    assert again is first
    assert parse_module("a_first_one = 1\n") is not first
