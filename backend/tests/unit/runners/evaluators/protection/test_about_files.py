"""One question about test files that load only in their changed versions."""

from app.runners.evaluators.protection.questions import about_files, folded
from app.schemas.questions import Question, QuestionKind


def of_file(name: str, after: str = "new") -> Question:
    return Question.about(
        name, QuestionKind.DIFFERENT, f"`{name}`?", why="it fails", before="old", after=after
    )


def test_what_changed_is_shown_or_else_the_files() -> None:
    files = [of_file("tests/test_a.py"), of_file("tests/test_b.py")]
    change = Question.about("tests/test_a.py::f", QuestionKind.WEAKER, "?", before="was", after="is")
    assert (about_files(files, [change]).before, about_files(files, [change]).after) == ("was", "is")
    assert (about_files(files, []).before, about_files(files, []).after) == ("old\n\nold", "new\n\nnew")


def test_an_acceptance_covers_exactly_these_files() -> None:
    files = [of_file("tests/test_a.py"), of_file("tests/test_b.py")]
    assert about_files(files, []).key == about_files(files[::-1], []).key
    assert about_files(files, []).key != about_files([files[0], of_file("tests/test_b.py", "newer")], []).key


def test_many_changes_of_one_file_are_named_for_what_they_are() -> None:
    names = [f"pyproject.toml::{number}" for number in range(2)]
    names += [f"tests/test_a.py::test_{number}" for number in range(4)]
    texts = [each.text for each in folded([of_file(name) for name in names])]
    assert texts == [
        "`pyproject.toml`: 2 of its settings were changed: does the goal say so?",
        "`tests/test_a.py`: 4 of its tests and helpers were changed: does the goal say so?",
    ]
