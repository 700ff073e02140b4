"""The calls in docs/rest.md are valid."""

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from app.schemas.api.sprints import SprintCreate
from app.schemas.workspaces import WorkspaceSource

PAGE = (Path(__file__).parents[4] / "docs" / "rest.md").read_text()
SOURCES = re.findall(r"^\| `(\{\"kind\".*?\})` \|", PAGE, re.MULTILINE)


def test_the_call_that_starts_a_sprint() -> None:
    body = re.findall(r"-d '(\{.*?\})'\n", PAGE, re.DOTALL)[0]
    sprint = SprintCreate.model_validate_json(body)
    assert sprint.policy is not None
    assert sprint.policy.attempts_per_phase == 5


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str) -> None:
    given = json.loads(source.replace('"https://…"', '"https://example.org/shop"').replace('"…"', '"AAAA"'))
    assert TypeAdapter(WorkspaceSource).validate_python(given).kind == given["kind"]


def test_all_kinds_of_sources_are_there() -> None:
    schema = TypeAdapter(WorkspaceSource).json_schema()
    assert {json.loads(each.replace("…", ""))["kind"] for each in SOURCES} == set(
        schema["discriminator"]["mapping"]
    )
