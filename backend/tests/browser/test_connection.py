"""A service of its own: what its pages say while it is empty, and when it goes away and comes back."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.acceptance.server import Service, free_port, serving
from tests.browser.conftest import NewPageOn
from tests.browser.sprints import append_lines, escalate
from tests.browser.watched import Watched
from tests.patience import PATIENCE

MOST_AT_FIRST = 180_000
"""Bytes of a first visit on the wire, headers included."""

EMPTY = {
    "runs": ("/", "Runs", "No runs yet"),
    "escalations": ("/escalations", "Escalations", "No open escalations"),
    "metrics": ("/metrics", "Metrics", "No metrics yet"),
    "evaluator": ("/evaluators/pytest", "pytest", "No verdicts yet"),
}
"""Pages that can be empty: their path, their heading, and what they say then."""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def own(chromium: str, module_database_url: str, data_dir: Path) -> Iterator[Service]:
    """A service on which nothing has been done."""
    with serving(module_database_url, data_dir, port=free_port()) as running:
        yield running


def test_empty_pages_say_what_to_do_next(own: Service, new_page_on: NewPageOn) -> None:
    watched = new_page_on(own.url)
    page = watched.page
    for name, (path, heading, says) in EMPTY.items():
        watched.open(path, heading=heading)
        expect(page.locator("[data-state=empty]").filter(has_text=says)).to_be_visible()
        watched.audit()
        watched.shoot(f"{name}-empty")
    watched.open("/", heading="Runs")
    page.get_by_role("main").get_by_role("link", name="New sprint").click()
    expect(page).to_have_url(f"{own.url}/new")


def test_a_restart_in_the_middle(
    own: Service, new_page_on: NewPageOn, module_database_url: str, data_dir: Path, repo: Path
) -> None:
    with own.client() as client:
        sprint = escalate(client, repo, name="Survives")
    append_lines(module_database_url, sprint, ["before the power cut"])
    watched = new_page_on(own.url)
    page = watched.page
    watched.open(f"/sprints/{sprint}", heading="Survives")
    log = page.get_by_role("log")
    expect(log).to_contain_text("before the power cut")
    counted = page.locator("[data-log-count]")
    before = int(counted.get_attribute("data-log-count") or 0)
    with watched.excused():
        own.kill()
        banner = page.locator("[data-banner=lost]")
        # The must is two seconds; a busy machine may take longer to show what was noticed.
        expect(banner).to_contain_text(re.compile(r"stale since \d\d:\d\d:\d\d"))
        expect(page.get_by_role("heading", level=1, name="Survives")).to_be_visible()
        watched.audit()
        append_lines(module_database_url, sprint, ["while nobody listened", "and again"])
        with serving(module_database_url, data_dir, port=int(own.url.rpartition(":")[2])):
            expect(banner).to_have_count(0, timeout=PATIENCE * 1000)
            expect(log).to_contain_text("and again")
            expect(counted).to_have_attribute("data-log-count", str(before + 2))
            for line in ("before the power cut", "while nobody listened", "and again"):
                expect(log.get_by_text(line, exact=True)).to_have_count(1)
            page.get_by_role("link", name="Runs", exact=True).click()
            expect(page.get_by_role("row").filter(has_text="Survives")).to_be_visible()
            page.context.close()


def test_what_a_first_visit_carries_over_the_wire(watched: Watched) -> None:
    page = watched.page
    loaded: dict[str, dict[str, Any]] = {}
    carried: dict[str, int] = {}
    wire = page.context.new_cdp_session(page)
    wire.on("Network.responseReceived", lambda told: loaded.update({told["requestId"]: told["response"]}))
    wire.on(
        "Network.loadingFinished",
        lambda told: carried.update({told["requestId"]: told["encodedDataLength"]}),
    )
    kept: set[str] = set()
    wire.on("Network.requestServedFromCache", lambda told: kept.add(told["requestId"]))
    wire.send("Network.enable")
    watched.open("/")
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    page.wait_for_load_state("load")
    headers = {
        urlsplit(each["url"]).path: {name.lower(): value for name, value in each["headers"].items()}
        for each in loaded.values()
    }
    scripts = {path: given for path, given in headers.items() if path.endswith((".js", ".css"))}
    assert scripts
    for path, given in scripts.items():
        assert given["content-encoding"] in ("br", "gzip"), path
        assert given["cache-control"] == "public, max-age=31536000, immutable", path
    assert sum(carried.values()) <= MOST_AT_FIRST, carried
    assert headers["/"]["cache-control"] == "no-cache", "a new build is seen at once"

    first = set(scripts)
    carried.clear()
    loaded.clear()
    page.reload(wait_until="load")
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    again = {name: each for name, each in loaded.items() if urlsplit(each["url"]).path in first}
    assert all(each["fromDiskCache"] or name in kept for name, each in again.items())


def test_long_answers_of_the_api_are_compressed(service: Service) -> None:
    with service.client() as client:
        answer = client.get("/events/schema", headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) < len(answer.content) / 4
