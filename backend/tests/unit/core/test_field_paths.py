"""Which field a validation error is about."""

import pytest

from app.core.field_paths import field_path

SOURCE = {"source": {"kind": "local", "ref": 5}, "phases": ["coding", "x"], "edits": [{"kind": "write"}]}

PATHS: dict[str, tuple[tuple[int | str, ...], bool, str]] = {
    "a field": (("body", "phases"), False, "phases"),
    "an element": (("body", "phases", 1), False, "phases.1"),
    "a tag before a field": (("body", "source", "local", "ref"), False, "source.ref"),
    "a tag before a missing field": (("body", "source", "local", "path"), True, "source.path"),
    "a tag at the end": (("body", "source", "local"), False, "source"),
    "a tag in a list": (("body", "edits", 0, "write", "path"), True, "edits.0.path"),
    "a missing field": (("body", "goal"), True, "goal"),
    "the body itself": (("body",), False, "body"),
    "an element that is not there": (("body", "phases", 7), False, "phases.7"),
    "a query parameter": (("query", "limit"), False, "limit"),
    "a part of the path": (("path", "sprint_id"), False, "sprint_id"),
}


@pytest.mark.parametrize(("location", "missing", "path"), PATHS.values(), ids=PATHS.keys())
def test_paths_of_fields(location: tuple[int | str, ...], missing: bool, path: str) -> None:
    assert field_path(location, SOURCE, is_missing=missing) == path


def test_paths_in_a_body_that_is_no_object() -> None:
    assert field_path(("body", "goal"), None, is_missing=True) == "goal"
