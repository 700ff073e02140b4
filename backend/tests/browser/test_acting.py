"""The page acts only as meant: keys after a field vanished, refusals, pauses, and requests sent twice."""

import json
import re
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.acceptance.projects import PLAN, step, write
from tests.acceptance.server import Service, ok
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import escalate, escalation_of, start
from tests.browser.watched import Watched


def _slow(seconds: float) -> dict[str, object]:
    """An agent that takes its time before it writes a plan."""
    edits = [{**write("implementation_plan.md", PLAN), "pause_seconds": seconds}]
    phases = {"discovery": [step("The plan is written. Discovery Complete", *edits)]}
    return {"backend": "scripted", "script": {"title": "test", "phases": phases}}


def test_another_reviewers_decision_takes_no_keys(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name="Decided by another"))
        watched.open(f"/escalations/{escalation}", heading="Decided by another")
        keys.press("r")
        keys.type("Half a sente")
        ok(client.post(f"/escalations/{escalation}/resolve", json={"decision": "reject"}))
        kept = page.get_by_role("textbox", name="Your unsent guidance")
        expect(kept).to_be_focused()
        expect(kept).to_have_value("Half a sente")
        keys.type("n")
        expect(page).to_have_url(f"{service.url}/escalations/{escalation}")


def test_the_own_decision_takes_no_keys(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name="Decided here"))
    watched.open(f"/escalations/{escalation}", heading="Decided here")
    keys.press("x")
    keys.type("Not needed.")
    keys.press("Control+Enter")
    expect(page.get_by_text("decided by")).to_be_visible()
    expect(page.get_by_role("region", name="Decision")).to_be_focused()
    keys.type("n")
    expect(page).to_have_url(f"{service.url}/escalations/{escalation}")
    page.evaluate("new Promise((done) => setTimeout(done, 4_500))")
    keys.press("n")
    expect(page).to_have_url(f"{service.url}/new")


def test_a_paused_run_looks_paused(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        sprint = start(client, repo, _slow(5), name="Held in the middle", phases=["discovery"])
        while ok(client.get(f"/runs/{sprint}"))["attempts"] == []:
            pass
        ok(client.post(f"/runs/{sprint}/pause", json={"reason": "lunch"}))
    watched.open(f"/sprints/{sprint}", heading="Held in the middle")
    expect(page.get_by_role("list", name="Phases").locator("[data-status=paused]")).to_have_count(1)
    expect(page.get_by_role("list", name="Timeline").get_by_role("listitem").last).to_contain_text("Paused:")
    expect(page.locator("main [data-status=paused]")).to_have_count(4)
    expect(page).to_have_title(re.compile("paused: Held in the middle"))
    expect(page.locator("main [data-status=active], main [data-status=started]")).to_have_count(0)
    watched.audit()
    watched.shoot("sprint-paused")

    watched.open("/?q=Held in the middle", heading="Runs")
    states = page.get_by_role("group", name="Status")
    expect(states.get_by_role("button", name="paused 1")).to_be_visible()
    expect(states.get_by_role("button", name="running 0")).to_be_visible()
    states.get_by_role("button", name="running").click()
    expect(page.get_by_text("No runs match these filters")).to_be_visible()
    states.get_by_role("button", name="paused").click()
    expect(page.get_by_role("link", name="Held in the middle")).to_be_visible()
    assert "paused=true" in page.url
    watched.audit()
    with service.client() as client:
        ok(client.post(f"/runs/{sprint}/cancel", json={}))
    expect(page.get_by_text("No runs match these filters")).to_be_visible()


def test_a_waiting_run_looks_waiting(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        sprint = escalate(client, repo, name="Waits for a decision")
    watched.open(f"/sprints/{sprint}", heading="Waits for a decision")
    expect(page.get_by_role("list", name="Phases").locator("[data-status=waiting]")).to_have_count(1)
    last = page.get_by_role("list", name="Timeline").get_by_role("listitem").last
    expect(last).to_contain_text("Waiting for a person, discovery attempt 1")
    expect(page.get_by_role("region", name="Now")).to_contain_text("waits for a person")
    expect(page).to_have_title(re.compile("needs a person: Waits for a decision"))
    running = "[data-status=active], [data-status=started], [data-status=running]"
    expect(page.get_by_role("main").locator(running)).to_have_count(0)

    watched.open("/?q=Waits for a decision", heading="Runs")
    states = page.get_by_role("group", name="Status")
    expect(states.get_by_role("button", name="running 0")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="Waits for a decision")
    expect(row.locator("[data-status=waiting]")).to_have_text("needs a person")


def test_a_start_whose_answer_was_lost_starts_once(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    watched.open("/new", heading="New sprint")
    page.get_by_label("Goal").fill("Start once.")
    page.get_by_label("Name").fill("Started once")
    page.get_by_label("Path").fill(str(repo))
    page.route("**/api/v1/sprints", lose)
    with watched.excused():
        page.get_by_role("button", name="Start the sprint").click()
        expect(page.get_by_role("alert")).to_contain_text("starts only once")
    page.unroute("**/api/v1/sprints")
    page.get_by_role("button", name="Start the sprint").click()
    page.get_by_role("heading", level=1, name="Started once").wait_for()
    with service.client() as client:
        found = ok(client.get("/runs", params={"q": "Started once"}))["items"]
        assert len(found) == 1
        client.post(f"/runs/{found[0]['id']}/cancel", json={})


def test_the_key_of_a_start_stays_until_a_field_changes(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    keys: list[str] = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.abort()

    watched.open("/new", heading="New sprint")
    page.get_by_label("Goal").fill("Start once.")
    page.get_by_label("Path").fill(str(repo))
    page.route("**/api/v1/sprints", lose)
    start = page.get_by_role("button", name="Start the sprint")
    with watched.excused():
        for count, name in enumerate(("", "", "Another name"), start=1):
            page.get_by_label("Name").fill(name)
            start.click()
            expect(page.get_by_role("alert")).to_contain_text("did not respond")
            expect(start).to_be_enabled()
            assert len(keys) == count
    first, again, other = keys
    assert again == first
    assert other != first


def test_what_a_role_cannot_do_says_why(
    guarded: tuple[Service, dict[str, str]], new_page_on: NewPageOn, repo: Path
) -> None:
    service, tokens = guarded
    allowed = {"Authorization": f"Bearer {tokens['admin']}"}
    with service.client() as client:
        client.headers.update(allowed)
        sprint = escalate(client, repo, name="Guarded")
        escalation = escalation_of(client, sprint)
    watched = new_page_on(service.url)
    page = watched.page
    kept = json.dumps({"token": tokens["viewer"], "name": ""})
    page.add_init_script(f"localStorage.setItem('phaserunner.identity', {json.dumps(kept)})")
    watched.open(f"/sprints/{sprint}", heading="Guarded")
    pause = page.get_by_role("button", name="Pause")
    expect(pause).to_have_attribute("aria-disabled", "true")
    expect(pause).to_have_accessible_description("This needs the role operator; the viewer is viewer.")
    pause.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("This needs the role operator").first).to_be_visible()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    message = page.get_by_role("region", name="Messages to the agent").get_by_role("textbox")
    expect(message).to_have_accessible_description("This needs the role operator; the viewer is viewer.")
    expect(message).not_to_be_editable()
    watched.audit()
    watched.shoot("sprint-as-viewer")

    # The palette still offers the action, and says what the service says.
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search and actions")).to_be_visible()
    page.keyboard.type("Pause this run")
    expect(page.get_by_role("option", name="Pause this run")).to_be_visible()
    page.keyboard.press("Enter")
    with watched.excused():
        page.get_by_role("alertdialog").get_by_role("button", name="Pause the run").click()
        expect(page.get_by_role("alertdialog").get_by_role("alert")).to_contain_text("the role operator")

    watched.open(f"/escalations/{escalation}", heading="Guarded")
    page.get_by_role("radio", name="Reject").check()
    decide = page.get_by_role("form", name="Decision").get_by_role("button", name="Reject")
    expect(decide).to_have_accessible_description("This needs the role reviewer; the viewer is viewer.")
    watched.open("/new", heading="New sprint")
    expect(page.get_by_role("button", name="Start the sprint")).to_have_attribute("aria-disabled", "true")


def test_a_long_name_fits_a_phone(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    name = "x" * 190
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name=name))
    page.set_viewport_size({"width": 390, "height": 844})
    watched.open("/escalations", heading="Escalations")
    page.get_by_role("link", name=name).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    watched.open(f"/escalations/{escalation}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    assert not any("undefined" in each for each in asked)
