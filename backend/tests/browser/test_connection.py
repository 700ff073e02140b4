"""The service goes away and comes back: the page says so at once, and then shows everything once."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.projects import NEVER_MENDS
from tests.acceptance.server import free_port, serving, until_rest
from tests.browser.sprints import append_lines, start
from tests.browser.watched import Watched


def test_a_restart_in_the_middle(
    browser: Browser, database_url: str, repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    port = free_port()
    data_dir = tmp_path_factory.mktemp("restarted")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    with serving(database_url, data_dir, port=port) as first:
        with first.client() as client:
            sprint = start(client, repo, NEVER_MENDS, name="Survives")
            until_rest(client, sprint)
        append_lines(database_url, sprint, ["before the power cut"])
        watched = Watched(context.new_page(), first.url)
        page = watched.page
        watched.open(f"/sprints/{sprint}", heading="Survives")
        log = page.get_by_role("log")
        expect(log).to_contain_text("before the power cut")
        counted = page.locator("[data-log-count]")
        before = int(counted.get_attribute("data-log-count") or 0)
        with watched.excused():
            first.kill()
            banner = page.locator("[data-banner=lost]")
            # The must is two seconds; a busy machine may take longer to show what was noticed.
            expect(banner).to_contain_text(re.compile(r"stale since \d\d:\d\d:\d\d"))
            expect(page.get_by_role("heading", level=1, name="Survives")).to_be_visible()
            watched.audit()
            watched.shoot("sprint-stale")
            append_lines(database_url, sprint, ["while nobody listened", "and again"])
            with serving(database_url, data_dir, port=port):
                expect(banner).to_have_count(0, timeout=60_000)
                expect(log).to_contain_text("and again")
                expect(counted).to_have_attribute("data-log-count", str(before + 2))
                for line in ("before the power cut", "while nobody listened", "and again"):
                    expect(log.get_by_text(line, exact=True)).to_have_count(1)
                page.get_by_role("link", name="Runs", exact=True).click()
                expect(page.get_by_role("row").filter(has_text="Survives")).to_be_visible()
    context.close()
    watched.check()
