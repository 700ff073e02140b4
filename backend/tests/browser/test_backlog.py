"""The board: what waits with its reason, what is under way and done, and the buttons that hold it."""

from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.server import Service, ok
from tests.browser.sprints import complete
from tests.browser.watched import Watched


def test_the_board_shows_reasons_and_holds_a_project(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        complete(client, repo, name="Done already")
        limits = {"project": str(repo), "paused": True, "limits": {"running": 2}}
        ok(client.put("/backlog/projects", json=limits))
        source = {"kind": "local", "path": str(repo)}
        items = [{"sprint": {"goal": "Round up", "source": source}, "priority": 3}]
        ok(client.post("/backlog", json={"items": items}))
    watched.open("/backlog", heading="Backlog")
    waiting = page.get_by_role("region", name="Waiting")
    expect(waiting.get_by_text("Round up")).to_be_visible()
    expect(waiting.get_by_text("the project's backlog is paused")).to_be_visible()
    expect(page.get_by_role("region", name="Done", exact=True).get_by_text("Done already")).to_be_visible()
    expect(page.get_by_text("of 2 running")).to_be_visible()
    watched.audit()
    watched.shoot("backlog")
    waiting.get_by_role("button", name="Remove Round up").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove the item").click()
    expect(waiting.get_by_text("Round up")).to_have_count(0)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    watched.check()
