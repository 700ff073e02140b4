"""A person says something to the agent of a run, and the page shows what became of it."""

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.acceptance.projects import PLAN, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import play, start
from tests.browser.watched import Watched
from tests.patience import PATIENCE

NARROW = {"width": 390, "height": 844}
SAID = "Name the plan's <b>file</b>\nin the README."


def _works_slowly() -> dict[str, Any]:
    """A first attempt that takes its time and fails, and a second one that must have heard the message."""
    slow = [{**write(f"notes/{number}.md", "x\n"), "pause_seconds": 5} for number in range(2)]
    heard = step("Discovery Complete", write("implementation_plan.md", PLAN), expects=["in the README."])
    steps = [step("No plan yet. Discovery Complete", *slow), heard]
    return {"backend": "scripted", "script": {"title": "test", "phases": {"discovery": steps}}}


def test_a_message_reaches_the_next_attempt(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        sprint = start(client, repo, _works_slowly(), name="Told on the way", phases=["discovery"])
        watched.open(f"/sprints/{sprint}", heading="Told on the way")
        box = page.get_by_role("region", name="Messages to the agent")
        field = box.get_by_role("textbox", name="Message")
        expect(box.get_by_role("button", name="Send")).to_be_disabled()
        field.focus()
        page.keyboard.type(SAID)
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        expect(box.get_by_role("radio", name="Queue")).to_be_checked()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Control+Enter")
        said = box.get_by_role("list", name="Messages").get_by_role("listitem")
        expect(said).to_contain_text("queued")
        expect(said).to_contain_text("Name the plan's <b>file</b>")
        expect(field).to_have_value("")
        watched.audit()
        watched.shoot("message-queued")
        expect(said).to_contain_text("discovery attempt 2", timeout=PATIENCE * 1000)
        expect(box.locator("[data-message=delivered]")).to_have_count(1)
        assert until_rest(client, sprint)["status"] == "completed"
    log = page.get_by_role("log")
    expect(log).to_contain_text("queued: Name the plan's <b>file</b>")
    expect(log).to_contain_text("delivered: Name the plan's <b>file</b>")
    expect(field).to_have_count(0)
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.audit()
    watched.shoot("message-delivered-narrow")


def test_what_comes_too_late_is_refused_with_the_reason(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        sprint = start(client, repo, _works_slowly(), name="Cancelled early", phases=["discovery"])
        watched.open(f"/sprints/{sprint}", heading="Cancelled early")
        box = page.get_by_role("region", name="Messages to the agent")
        field = box.get_by_role("textbox", name="Message")
        field.fill("Too late.")
        box.get_by_role("button", name="Send").click()
        expect(box.locator("[data-message=queued]")).to_have_count(1)
        field.fill("Half a sente")
        ok(client.post(f"/runs/{sprint}/cancel", json={}))
    refused = box.locator("[data-message=refused]")
    expect(refused).to_contain_text("Too late.")
    expect(refused).to_contain_text("the run was cancelled")
    expect(field).to_have_value("Half a sente")
    expect(field).to_have_accessible_description("The run is cancelled. Your text was not sent.")
    watched.audit()


def test_a_loop_takes_no_messages_and_says_so(service: Service, watched: Watched) -> None:
    page = watched.page
    with service.client() as client:
        waits = {"director": [{"say": "What is meant?", "status": "WAITING"}]}
        definition = {
            "description": "Write",
            "director": {"description": "Write"},
            "evaluator": {"description": "Judge"},
        }
        loop = play(client, "/loops", waits, definition=definition, name="Takes no messages")
    watched.open(f"/loops/{loop}", heading="Takes no messages")
    box = page.get_by_role("region", name="Messages to the agent")
    field = box.get_by_role("textbox", name="Message")
    expect(field).to_have_accessible_description("The agents of a loop take no messages. Only sprints do.")
    expect(field).not_to_be_editable()
    expect(box.get_by_role("button", name="Send")).to_be_disabled()
    watched.audit()
