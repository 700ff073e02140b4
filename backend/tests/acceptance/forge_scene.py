"""A forge with one repository, the operator's file for it, and deliveries to a running service."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import httpx

from tests.acceptance.server import Service
from tests.forge_double import SECRET, GitHubDouble
from tests.git_http import TOKEN
from tests.patience import PATIENCE

T = TypeVar("T")

FAST_TAKEOVER = {
    "SHUTDOWN_GRACE_SECONDS": "0.2",
    "ENGINE_HEARTBEAT_SECONDS": "0.5",
    "ENGINE_STALLED_AFTER_SECONDS": "1.5",
}


@dataclass
class Scene:
    """A forge with one repository, and the settings of a service that knows it."""

    forge: GitHubDouble
    env: dict[str, str]


def operator_file(web: str, api: str, agent: Any, review: str = "") -> str:
    """Return the operator's file; `review` is the rest of the repository's entry."""
    return f"""
[credentials.acme]
env = "ACME_TOKEN"
urls = ["{web}/acme/"]

[forges.github]
api = "{api}"
web = "{web}"
credential = "acme"
webhook_secret = {{ env = "ACME_WEBHOOK_SECRET" }}

[[repositories]]
name = "acme/shares"
forge = "github"

[repositories.rules]
labels = ["phaserunner"]
commands = true
phases = ["coding"]
agent = {toml_value(agent)}
{review}
"""


def settings_for(file: str) -> dict[str, str]:
    """Return the settings of a service that reads the operator's file."""
    return {
        "FORGES_FILE": file,
        "ACME_TOKEN": TOKEN,
        "ACME_WEBHOOK_SECRET": SECRET,
        "WORKSPACE_ALLOW_PRIVATE_URLS": "true",
        **FAST_TAKEOVER,
    }


def deliver(service: Service, request: httpx.Request) -> tuple[int, str]:
    """Send a delivery to the service."""
    url = f"{service.url}{request.url.path}"
    headers = {name: value for name, value in request.headers.items() if name != "host"}
    answer = httpx.post(url, content=request.content, headers=headers, timeout=PATIENCE, verify=False)
    return answer.status_code, answer.json().get("status", "")


def until(look: Callable[[], T | None]) -> T:
    """Look again and again until something is there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it does not happen")


def toml_value(value: Any) -> str:
    """Write a value as an inline TOML value."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        items = [f"{name} = {toml_value(each)}" for name, each in table.items()]
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(each) for each in cast('list[Any]', value))}]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"' if isinstance(value, str) else text
