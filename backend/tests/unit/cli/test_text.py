"""What agents wrote must not steer a terminal."""

import pytest

from app.cli.view.text import first_lines, harmless, one_line
from app.cli.view.words import duration


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param("plain ASCII\n\tindented", "plain ASCII\n\tindented", id="plain"),
        pytest.param("größer ✓ 日本語", "größer ✓ 日本語", id="other scripts stay"),
        pytest.param("\x1b[31mred\x1b[0m", "red", id="colours"),
        pytest.param("\x1b[2J\x1b[1;1Hgone", "gone", id="clear screen"),
        pytest.param("\x1b]0;title\x07text", "text", id="window title"),
        pytest.param("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink"),
        pytest.param("\x1b]52;c;c3RvbGVu", "", id="an unfinished clipboard sequence takes the rest"),
        pytest.param("+# \x1b]\n+import os\nend", "+# \n+import os\nend", id="but not the lines after it"),
        pytest.param("\x9b31mred", "red", id="C1 introducer"),
        pytest.param("over\rwritten", "over<U+000D>written", id="carriage return"),
        pytest.param("a\r\nb", "a\nb", id="Windows line end"),
        pytest.param("back\x08\x07\x00", "back<U+0008><U+0007><U+0000>", id="controls"),
        pytest.param("x\u202etxt.exe", "x<U+202E>txt.exe", id="bidi override"),
        pytest.param("a\u2066b\u2069", "a<U+2066>b<U+2069>", id="bidi isolate"),
        pytest.param("a\u200bb\ufeff", "a<U+200B>b<U+FEFF>", id="invisible"),
        pytest.param("a\ud800b", "a<U+D800>b", id="lone surrogate"),
        pytest.param("👩\u200d🔬", "👩\u200d🔬", id="emoji joiner stays"),
        pytest.param("[red]not markup[/red]", "[red]not markup[/red]", id="markup is text"),
    ],
)
def test_harmless(given: str, shown: str) -> None:
    assert harmless(given) == shown


def test_one_line_joins_and_cuts() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"


def test_first_lines_counts_the_rest() -> None:
    assert first_lines("a\n\nb\nc\nd", 2) == ("a", "b", "… 2 more lines")
    assert first_lines("\n \n", 2) == ()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3.0, "0 s"),
        (7, "7 s"),
        (0.034, "0.03 s"),
        (4.2, "4.2 s"),
        (42.0, "42 s"),
        (187.0, "3:07"),
        (3723.0, "1:02:03"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words
