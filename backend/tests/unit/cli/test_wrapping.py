"""Long lines in a terminal."""

import io

import pytest
from rich.console import Console

from app.cli.terminal import Terminal
from app.cli.view.wrapping import hanging


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  goal    Round half up once", "  goal    Round half\n          up once"),
        ("    - Fix tests/test_a.py: no", "    - Fix\n      tests/test_a.py:\n      no"),
        ("  ✓ passed pytest in 3 seconds", "  ✓ passed pytest in\n    3 seconds"),
        ("two words that do not fit", "two words that do\nnot fit"),
        ("  日本語 日本語 日本語 日本語", "  日本語 日本語\n  日本語 日本語"),
        ("  as   it  is", "  as   it  is"),
    ],
    ids=["a label", "a long word stays whole", "a sign", "nothing before", "wide characters", "short"],
)
def test_lines_break_between_words_and_hang(line: str, shown: str) -> None:
    assert hanging(line, 20) == shown


def test_words_may_begin_at_a_column() -> None:
    assert hanging("✓ ok  git  2.39 or newer", 20, 11) == "✓ ok  git  2.39 or\n          newer"


def test_only_a_terminal_gets_short_lines() -> None:
    written: list[str] = []
    for is_terminal in (True, False):
        file = io.StringIO()
        console = Console(file=file, force_terminal=is_terminal, width=20, color_system=None)
        Terminal(console, console).prose("  goal    Round half up once")
        written.append(file.getvalue())
    assert written == ["  goal    Round half\n          up once\n", "  goal    Round half up once\n"]
