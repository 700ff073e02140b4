"""What a goal says about tests."""

import pytest

from app.runners.evaluators.testing.sorting.goal import Goal


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ("Implement what the tests describe", True),
        ("Turn the suite green", True),
        ("Get the failing build to work", True),
        ("Fix the test", True),
        ("Complete the code. The tests tell what it should do.", True),
        ("Fail early on unknown keys", False),
        ("Adjust `--fail-on-flaky` behavior", False),
        ("Merge pull request #1 from them/asgi-compat-tests", False),
        ("ci: add Python 3.15 to the test matrix", False),
        ("Raise a proper error when parsing fails", False),
    ],
)
def test_which_goals_are_about_tests(words: str, about: bool) -> None:
    assert Goal(words=words).is_about_tests is about
