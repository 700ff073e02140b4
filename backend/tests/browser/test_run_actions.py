"""What can be done with a run, and how its reader is told when it needs one."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.server import Service, ok, until_rest
from tests.browser.sprints import escalate, resolve_all
from tests.browser.watched import Watched

# A browser's notifications leave the page; what the page asks for is kept instead.
NOTIFICATIONS = """
  window.told = []; window.asked = 0; window.away = false;
  window.Notification = class extends EventTarget {
    static get permission() { return sessionStorage.getItem("permission") ?? "default"; }
    static async requestPermission() {
      window.asked += 1; sessionStorage.setItem("permission", "granted"); return "granted";
    }
    constructor(title, options) { super(); window.told.push({ title, body: options.body, notice: this }); }
    close() {}
  };
  Object.defineProperty(document, "visibilityState", { get: () => (window.away ? "hidden" : "visible") });
"""

# The page's own rules forbid the driver's way to wait for a condition.
UNTIL_TOLD = """() => new Promise((told, late) => {
  setTimeout(() => late(new Error("nobody was told")), 20_000);
  const look = () => window.told.length > 0 ? told() : setTimeout(look, 50);
  look();
})"""


def test_a_run_is_paused_resumed_and_forked(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        sprint = escalate(client, repo, name="Held and forked")
    watched.open(f"/sprints/{sprint}", heading="Held and forked")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Reason (optional)").fill("lunch")
    watched.audit()
    watched.shoot("sprint-pausing")
    page.get_by_role("button", name="Pause the run").click()
    expect(page.get_by_text("Paused by")).to_contain_text("lunch")
    with service.client() as client:
        assert ok(client.get(f"/runs/{sprint}"))["paused"]["reason"] == "lunch"
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Paused by")).to_have_count(0)
    with service.client() as client:
        assert ok(client.get(f"/runs/{sprint}"))["paused"] is None

    page.get_by_role("button", name="Fork").click()
    page.get_by_label("Guidance for its next attempt (optional)").fill("Write the plan this time.")
    page.get_by_role("button", name="Start the new run").click()
    expect(page).not_to_have_url(f"{service.url}/sprints/{sprint}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Held and forked")
    forked = page.url.partition("/sprints/")[2]
    with service.client() as client:
        until_rest(client, forked)
    page.get_by_role("tab", name="Prompt of discovery").click()
    expect(page.get_by_role("region", name="Text of the prompt")).to_contain_text("Write the plan this time.")

    page.get_by_role("link", name=f"{sprint[:8]}, discovery attempt").click()
    expect(page).to_have_url(re.compile(sprint))
    page.get_by_role("link", name="Held and forked").click()
    expect(page).to_have_url(re.compile(forked))


def test_whoever_agreed_is_told_of_a_run_that_needs_him(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    page.add_init_script(NOTIFICATIONS)
    with service.client() as client:
        resolve_all(client)
        watched.open("/settings", heading="Settings")
        assert page.evaluate("window.asked") == 0, "nobody is asked unasked"
        page.get_by_role("button", name="Turn on").click()
        expect(page.get_by_role("button", name="Turn off")).to_be_visible()
        escalate(client, repo, name="Seen anyway")
        expect(page).to_have_title("(1) Settings · PhaseRunner")
        assert page.evaluate("window.told.length") == 0, "whoever looks at the page is not told"

        page.evaluate("window.away = true")
        escalate(client, repo, name="Comes meanwhile")
        page.evaluate(UNTIL_TOLD)
    assert page.evaluate("window.told.length") == 1
    expect(page).to_have_title("(2) Settings · PhaseRunner")
    assert page.evaluate("window.told[0].title") == "Comes meanwhile needs a person"
    page.evaluate("window.told[0].notice.dispatchEvent(new Event('click'))")
    page.get_by_role("heading", level=1, name="Comes meanwhile").wait_for()
    page.go_back()
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("button", name="Turn on")).to_be_visible()
