"""A reviewer says that red tests may stay red; the list shows them, and one is taken back."""

from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.server import Service, ok, until_rest
from tests.acceptance.test_known_failures import ADDS, RED, repository
from tests.browser.sprints import resolve_all, start
from tests.browser.watched import Watched


def test_a_red_test_is_asked_about_once(service: Service, watched: Watched, tmp_path: Path) -> None:
    page = watched.page
    repo = repository(tmp_path / "project")
    with service.client() as client:
        resolve_all(client)
        sprint = start(client, repo, ADDS, goal="Add a module with the name", phases=["coding"])
        assert until_rest(client, sprint)["status"] == "waiting"
        escalation = ok(client.get("/escalations", params={"status": "open"}))["items"][0]["id"]
        watched.open(f"/escalations/{escalation}", heading="Add a module with the name")
        decision = page.get_by_role("form", name="Decision")
        decision.get_by_role("radio", name="Accept").check()
        decision.get_by_role("checkbox", name="Do not ask about this red test again").check()
        expect(decision.get_by_text("1 test may stay red in all runs of this repository")).to_be_visible()
        watched.audit()
        watched.shoot("known-failures-decision")
        decision.get_by_role("button", name="Accept").click()
        page.get_by_text("decided by").first.wait_for()
        assert until_rest(client, sprint)["status"] == "completed"

    watched.open("/known-failures", heading="Known failures")
    listed = page.get_by_role("region", name=str(repo))
    expect(listed.get_by_text(RED)).to_be_visible()
    watched.audit()
    watched.shoot("known-failures")
    listed.get_by_role("button", name=f"Remove {RED}").click()
    expect(page.get_by_text(RED)).to_have_count(0)
    watched.check()
