"""What a question shows of long sources."""

import pytest

from app.schemas.questions import MAX_TESTS, Question, QuestionKind

LINES = [f"line {number} of the file" for number in range(2000)]


def asked(before: list[str], after: list[str]) -> Question:
    return Question.about(
        "a.py", QuestionKind.DIFFERENT, "?", before="\n".join(before), after="\n".join(after)
    )


def test_of_a_long_source_only_the_differences_are_shown() -> None:
    after = [*LINES[:1500], "a new line", *LINES[1500:]]
    after[20] = "another line"
    question = asked(LINES, after)
    assert question.before.splitlines() == [*LINES[17:24], "…", *LINES[1497:1503]]
    assert question.after.splitlines() == [
        *LINES[17:20],
        "another line",
        *LINES[21:24],
        "…",
        *LINES[1497:1500],
        "a new line",
        *LINES[1500:1503],
    ]


def test_the_key_covers_what_is_not_shown() -> None:
    after = ["first", *LINES[1:]]
    one, other = asked(LINES, after), asked([*LINES, "last"], [*after, "last"])
    assert (one.before, one.after) == (other.before, other.after)
    assert one.key != other.key


@pytest.mark.parametrize(
    ("before", "after"),
    [(LINES, LINES), (LINES, []), ([], LINES), (LINES * 3, LINES[::-1] * 3)],
    ids=["the same", "removed", "added", "very long"],
)
def test_other_long_sources_show_their_beginning(before: list[str], after: list[str]) -> None:
    question = asked(before, after)
    for given, shown in ((before, question.before), (after, question.after)):
        assert shown == ("\n".join(given)[:6000] + "\n…" if given else "")


def test_short_sources_are_shown_whole() -> None:
    question = asked(LINES[:9], LINES[1:9])
    assert question.before.splitlines() == LINES[:9]


def test_a_question_names_few_enough_tests() -> None:
    question = asked([], [])
    assert len(question.about_tests(["t"] * MAX_TESTS).tests) == MAX_TESTS
    assert question.about_tests(["t"] * (MAX_TESTS + 1)).tests == ()
