"""The journeys of an engineer, a reviewer and a lead, with the keyboard alone, at three widths."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.acceptance.projects import step, write
from tests.acceptance.server import Service
from tests.browser.conftest import NewPageOn
from tests.browser.keyboard import Keyboard
from tests.browser.sprints import escalate, resolve_all
from tests.browser.watched import Watched
from tests.patience import PATIENCE

SIZES = {1400: 900, 1024: 768, 390: 844}
QUIET_MS = 4_500
"""After a decision, single keys do nothing for four seconds."""

SCRIPT = {
    "title": "test",
    "phases": {
        "discovery": [
            step(f"No plan, try {number}. Discovery Complete", write(f"{number}.md", "x\n"))
            for number in range(6)
        ]
    },
}


@pytest.mark.parametrize("width", SIZES)
def test_all_journeys_with_the_keyboard_alone(
    guarded: tuple[Service, dict[str, str]], new_page_on: NewPageOn, repo: Path, width: int
) -> None:
    service, tokens = guarded
    watched = new_page_on(service.url)
    watched.page.set_viewport_size({"width": width, "height": SIZES[width]})
    keys = Keyboard(watched.page)
    headers = {"Authorization": f"Bearer {tokens['admin']}"}
    with service.client() as client:
        client.headers.update(headers)
        resolve_all(client)
        _log_in(watched, keys, tokens["admin"])
        _start_and_watch(watched, keys, repo)
        for name in ("To accept", "To reject"):
            escalate(client, repo, name=name)
        _decide(watched, keys)
        _mark(watched, keys)
        _read_figures(watched, keys)


def _stop(watched: Watched, name: str) -> None:
    """A stop on the way: nothing is cut, and there is a picture of it with its focus."""
    size = watched.page.viewport_size
    assert size is not None
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
    watched.shoot(f"journey-{name}-{size['width']}")


def _log_in(watched: Watched, keys: Keyboard, token: str) -> None:
    page = watched.page
    with watched.excused():  # the refusals are what is looked at
        watched.open("/metrics", heading="Metrics")
        keys.choose(page.get_by_role("alert").get_by_role("link", name="Enter a token").first)
        page.get_by_role("heading", level=1, name="Settings").wait_for()
        keys.reach(page.get_by_label("API token"))
        keys.type(token)
        _stop(watched, "login")
        keys.press("Enter")
        page.get_by_role("heading", level=1, name="Metrics").wait_for()
    expect(page).to_have_url(re.compile(r"/metrics$"))


def _start_and_watch(watched: Watched, keys: Keyboard, repo: Path) -> None:
    page = watched.page
    page.wait_for_timeout(QUIET_MS)
    keys.press("n")
    page.get_by_role("heading", level=1, name="New sprint").wait_for()
    keys.reach(page.get_by_label("Goal"))
    keys.type("Write a plan for `shares.py`.")
    keys.reach(page.get_by_label("Name"))
    keys.type("Started by keys")
    keys.reach(page.get_by_label("Path"))
    keys.type(str(repo))
    for phase in ("coding", "verification"):
        keys.reach(page.get_by_role("checkbox", name=phase))
        keys.press("Space")
    agent = page.get_by_role("region", name="Agent", exact=True)
    keys.choose(agent.locator("summary").first)
    keys.reach(agent.get_by_label("Agent", exact=True))
    keys.press("ArrowDown", "ArrowDown")
    expect(agent.get_by_label("Agent", exact=True)).to_have_value("scripted")
    keys.reach(agent.get_by_label("Script (TOML or JSON)"))
    keys.type(json.dumps(SCRIPT))
    _stop(watched, "start")
    keys.choose(page.get_by_role("button", name="Start the sprint"))
    page.get_by_role("heading", level=1, name="Started by keys").wait_for()
    decide = page.get_by_role("link", name="Decide")
    expect(decide).to_be_visible(timeout=PATIENCE * 1000)
    # The log, the timeline and the verdicts are reached on the way, and none of them keeps the focus.
    keys.reach(page.get_by_role("log"))
    _stop(watched, "watch")
    keys.choose(decide, back=True)
    page.get_by_role("heading", level=1, name="Started by keys").wait_for()
    expect(page).to_have_url(re.compile("/escalations/"))


def _decide(watched: Watched, keys: Keyboard) -> None:
    page = watched.page
    decided = page.get_by_role("region", name="Decision").get_by_text("decided by")
    page.locator(".diff-line").first.wait_for()
    keys.press("]")
    keys.press("c")
    expect(page.get_by_role("textbox", name="Comment on line")).to_be_focused()
    keys.see()
    keys.type("Not this file.")
    keys.press("Escape", "r")
    expect(page.get_by_role("textbox", name="Guidance for the next attempt")).to_be_focused()
    keys.see()
    keys.type("Write implementation_plan.md.")
    _stop(watched, "retry")
    keys.press("Control+Enter")
    expect(decided).to_be_visible()
    for name, key in (("To accept", "a"), ("To reject", "x")):
        expect(page.get_by_role("region", name="Decision")).to_be_focused()
        keys.choose(page.get_by_role("link", name=re.compile("Next of")))
        page.get_by_role("heading", level=1, name=name).wait_for()
        page.wait_for_timeout(QUIET_MS)
        keys.press(key)
        field = page.get_by_role("textbox", name="Reason (recorded)")
        expect(field).to_be_focused()
        keys.see()
        keys.type(f"Looked at: {name}.")
        keys.press("Control+Enter")
        expect(decided).to_be_visible()
    _stop(watched, "decided")


def _mark(watched: Watched, keys: Keyboard) -> None:
    page = watched.page
    page.wait_for_timeout(QUIET_MS)
    keys.press("g", "v")
    page.get_by_role("heading", level=1, name="Evaluators").wait_for()
    keys.choose(page.get_by_role("link", name="plan_artifact").first)
    page.get_by_role("heading", level=1, name="plan_artifact").wait_for()
    keys.choose(page.get_by_role("button", name="Mark one after the other"))
    verdict = page.get_by_role("article")
    first = verdict.first.get_attribute("aria-label")
    _stop(watched, "mark")
    keys.press("n")
    expect(page.get_by_text("1 verdict done.")).to_be_visible()
    keys.press("y")
    expect(page.get_by_text("2 verdicts done.")).to_be_visible()
    keys.press("z")
    expect(page.get_by_text("1 verdict done.")).to_be_visible()
    keys.press("q")
    expect(page.get_by_role("button", name="Mark one after the other")).to_be_focused()
    assert first


def _read_figures(watched: Watched, keys: Keyboard) -> None:
    page = watched.page
    keys.press("g", "m")
    page.get_by_role("heading", level=1, name="Metrics").wait_for()
    keys.reach(page.get_by_label("Kind"))
    keys.press(*"sprint")
    expect(page).to_have_url(re.compile("kind=sprint"))
    _stop(watched, "metrics")
    with page.expect_download() as saved:
        keys.choose(page.get_by_role("button", name="Save as CSV"), back=True)
    assert saved.value.path().read_text().startswith("share,")
    # The lead's question, and from its answer to the evaluator's page.
    trust = page.get_by_role("region", name="Trust", exact=True)
    keys.reach(trust.get_by_role("link", name="plan_artifact"))
    _stop(watched, "trust")
    keys.press("Enter")
    page.get_by_role("heading", level=1, name="plan_artifact").wait_for()
    keys.press("Control+k")
    expect(page.get_by_role("dialog", name="Search and actions")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("g", "b")
    page.get_by_role("heading", level=1, name="Backlog").wait_for()
