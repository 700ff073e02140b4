"""Questions in a terminal."""

from app.cli.view.questions import question_lines
from app.schemas.questions import Question, QuestionKind


def lines(**sides: str) -> list[str]:
    question = Question.about("a.py", QuestionKind.WEAKER, "Is it right?", why="It asks for less.", **sides)
    return [text for text, _ in question_lines(question)]


def test_two_versions_look_like_a_diff() -> None:
    assert lines(before="assert a == 1\nassert b", after="assert b") == [
        "? Is it right?",
        "  It asks for less.",
        "  - assert a == 1",
        "    assert b",
    ]
    assert lines(before="a\nx\nb", after="a\ny\nb")[2:] == ["    a", "  - x", "  + y", "    b"]


def test_other_sides_have_headings() -> None:
    question = Question.about(
        "roman.to_roman",
        QuestionKind.DOUBTFUL,
        "Does it only know the tests?",
        before="to_roman(1) -> 'I'",
        after="to_roman(2) -> KeyError",
        headings=("The tests ask", "Other inputs"),
    )
    assert [text for text, _ in question_lines(question)] == [
        "? Does it only know the tests?",
        "  The tests ask:",
        "    to_roman(1) -> 'I'",
        "  Other inputs:",
        "    to_roman(2) -> KeyError",
    ]


def test_a_long_side_is_cut() -> None:
    shown = lines(after="\n".join(map(str, range(90))))
    assert shown[-1] == "    … 10 more lines"
    assert len(shown) == 2 + 80 + 1
