"""The docs name only settings, commands and types of events that exist."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from app.api.document import openapi_document
from app.cli.main import build_app
from app.core.config import Settings
from app.core.websocket_events import SprintEventType

ROOT = Path(__file__).parents[4]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
OF_OTHERS = ("OLLAMA_", "UV_", "PIP_", "SSL_", "PYTEST_", "NPM_", "NODE_")
"""Variables of other programs begin like this."""
NO_SETTINGS = {"PHASERUNNER_BASE"}
"""What commands of projects are given."""
NO_EVENTS = {"agent.model"}
"""A field of requests."""
TOPICS = {each.value.partition(".")[0] for each in SprintEventType} - {"evaluation", "run"}
"""Words that name events only; a file or a field may be called `evaluation.success` or `run.py`."""


def code_of(page: Path) -> str:
    """The code of a page: fenced blocks and spans."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return "\n".join([*fenced, *spans])


def commands_in(text: str) -> Iterator[str]:
    """The first word after the program's name, where it begins a line, a pipe or a span."""
    yield from re.findall(r"^(?:\$ )?phaserunner ([a-z]+(?:-[a-z]+)*)\b", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_exist(page: Path) -> None:
    spans = re.findall(r"`([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)(?=[`=/])", page.read_text(encoding="utf-8"))
    named = {each for each in spans if not each.startswith(OF_OTHERS)} - NO_SETTINGS
    assert named - set(Settings.model_fields) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    known = set(build_app())
    assert set(commands_in(code_of(page))) - known == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_types_of_events_exist(page: Path) -> None:
    found = re.findall(r"`([a-z]+\.(?!py\b|md\b|toml\b)[a-z]+)`", page.read_text(encoding="utf-8"))
    named = {each for each in found if each.partition(".")[0] in TOPICS}
    assert named - {each.value for each in SprintEventType} - NO_EVENTS == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_of_the_api_exist(page: Path) -> None:
    """Paths of WebSockets are not part of OpenAPI; other tests connect to them."""
    found = re.findall(r"/api/v1/[\w/{}$-]*[\w}]", page.read_text(encoding="utf-8"))
    named = {re.sub(r"\{\w+\}|\$\w+", "{}", each) for each in found if not each.startswith("/api/v1/ws")}
    assert named - _paths() == set()


@cache
def _paths() -> frozenset[str]:
    """The paths of the API and their beginnings, with `{}` for each parameter."""
    names = (re.sub(r"\{\w+\}", "{}", path) for path in openapi_document()["paths"])
    return frozenset(
        "/".join(parts[:end]) for parts in (name.split("/") for name in names) for end in range(3, 9)
    )


def test_what_is_looked_for_is_found() -> None:
    guide = ROOT / "docs" / "guide.md"
    assert {"run", "evaluate", "fork"} <= set(commands_in(code_of(guide)))
