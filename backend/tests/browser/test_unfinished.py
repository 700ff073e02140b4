"""What the agent has changed so far is shown while it works, on demand, wherever its worker runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.acceptance.projects import step, write
from tests.acceptance.server import Service, serving, until_rest, working
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import start
from tests.patience import PATIENCE

NARROW = {"width": 390, "height": 844}


def _works_slowly() -> dict[str, Any]:
    """Writes a file and a hostile one, then one after the other for some minutes: the test ends it."""
    edits = [
        write("notes/first.md", "first\n" + "many lines\n" * 400),
        write("<b>late.md", "<script>window.pwned=1</script>\u202e\n"),
        *({**write(f"notes/later{number}.md", "later\n"), "pause_seconds": 5} for number in range(60)),
    ]
    steps = [step("Discovery Complete", *edits)]
    return {"backend": "scripted", "script": {"title": "test", "phases": {"discovery": steps}}}


@pytest.fixture(params=["one process", "two machines"])
def place(
    request: pytest.FixtureRequest,
    chromium: str,
    module_database_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """A service that works itself, and one whose worker shares nothing with it but the database."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    if request.param == "one process":
        with serving(module_database_url, here) as service:
            yield service
    else:
        options = ["--no-worker"]
        with (
            serving(module_database_url, here, options=options) as service,
            working(module_database_url, there),
        ):
            yield service


def test_what_has_changed_so_far_is_shown_and_grows(
    place: Service, new_page_on: NewPageOn, repo: Path
) -> None:
    watched, service = new_page_on(place.url), place
    page = watched.page
    with service.client() as client:
        sprint = start(client, repo, _works_slowly(), name="Grows", phases=["discovery"])
        watched.open(f"/sprints/{sprint}", heading="Grows")
        box = page.get_by_role("region", name="Changed so far")
        button = box.get_by_role("button", name="Show what changed so far")
        expect(button).to_be_visible(timeout=PATIENCE * 1000)
        asked: list[str] = []
        page.on("request", lambda each: asked.append(each.url) if "/diff/unfinished" in each.url else None)
        assert asked == [], "a workspace is read on demand only"
        button.press("Enter")
        expect(box.get_by_text("notes/first.md")).to_be_visible()
        expect(box.get_by_text("+first", exact=True)).to_be_visible()
        expect(box.get_by_text("<script>window.pwned=1</script>")).to_be_visible()
        expect(box.get_by_text("⟦U+202E⟧")).to_be_visible()
        watched.audit()
        watched.shoot("unfinished")
        box.get_by_role("button", name="Show 342 more lines").click()
        expect(box.get_by_text("+many lines")).to_have_count(400)
        page.set_viewport_size(NARROW)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        watched.shoot("unfinished-narrow")
        expect(box.get_by_text("notes/later3.md")).to_be_visible(timeout=PATIENCE * 1000)
        assert page.evaluate("window.pwned") is None
        # When the agent has ended, there is nothing to watch any more.
        client.post(f"/runs/{sprint}/cancel", json={})
        expect(box).to_have_count(0, timeout=PATIENCE * 1000)
        until_rest(client, sprint)
        refused = client.get(f"/runs/{sprint}/attempts/discovery/1/diff/unfinished")
    assert refused.status_code == 409
