"""What is recorded of a new run beside its files: its name and its source."""

import pytest

from app.schemas.workspaces import GitSource, SourceInfo
from app.services.control.intake import name_of, source_document

NAMES = {
    "short": ("Fix it", "Fix it"),
    "several lines": ("  Fix it \r\n now", "Fix it"),
    "long": ("x" * 200, "x" * 79 + "…"),
    "blank first line": ("\n\n Fix it", "Fix it"),
}


@pytest.mark.parametrize(("goal", "name"), NAMES.values(), ids=NAMES.keys())
def test_the_name_comes_from_the_goal(goal: str, name: str) -> None:
    assert name_of(goal) == name


def test_passwords_in_urls_are_not_kept() -> None:
    source = GitSource(url="https://ada:secret@example.org/a.git")
    info = SourceInfo(kind="git", location="https://***@example.org/a.git", pinned=source)
    assert "secret" not in str(source_document(info))
