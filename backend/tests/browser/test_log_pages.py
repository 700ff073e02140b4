"""A long log: its newest lines first, older ones on demand, and only so many in memory."""

import re
import time
from pathlib import Path

from playwright.sync_api import Locator, Page, Request, expect

from tests.acceptance.server import Service
from tests.browser.sprints import append_lines, complete
from tests.browser.watched import Watched
from tests.patience import PATIENCE

LINES = 100_000
MOST_LINES = 30_000
"""The page holds 20,000 lines and a fifth more, and the page of 5,000 that has just come."""
INPUT_MS = 1_100
"""After this long the page takes a scroll for its own, not for the reader's."""

ROWS = 10_000
STEP_PX = 1_500
MOST_DRAWN = 200
"""Rows on screen, and twenty above and below."""
SCROLL = """async (step) => {
  const box = document.querySelector("[role=log]");
  const seen = new Set();
  let [drawn, nodes] = [0, 0];
  for (let top = 0; top < box.scrollHeight; top += step) {
    box.scrollTop = top;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const rows = box.querySelectorAll("li");
    drawn = Math.max(drawn, rows.length);
    nodes = Math.max(nodes, document.querySelectorAll("*").length);
    rows.forEach((each) => seen.add(each.dataset.index));
  }
  return [drawn, nodes, seen.size, box.scrollTop];
}"""

_LINE = re.compile(r"line (\d+) of many")


def _count(page: Page) -> int:
    return int(page.locator("[data-log-count]").get_attribute("data-log-count") or 0)


def _lines(log: Locator) -> list[int]:
    return [int(each) for each in _LINE.findall(log.inner_text())]


def _until_first(page: Page, log: Locator, first: int) -> None:
    """Scroll up, as a reader does, until a line of the log is there; never is there more than may be."""
    older = page.get_by_role("button", name="Older lines")
    end = time.monotonic() + PATIENCE
    while older.count():
        assert time.monotonic() < end, page.locator("[data-log-count]").inner_text()
        log.press("Home")
        expect(log.locator("..").get_by_text("Loading older lines")).to_have_count(0)
        assert _count(page) <= MOST_LINES
    line = log.get_by_text(f"line {first} of many")
    end = time.monotonic() + PATIENCE
    # Lines that have just come in front keep what is read in its place: a reader presses again.
    while not line.count() and time.monotonic() < end:
        log.press("Home")
        page.wait_for_timeout(100)
    expect(line.first).to_be_attached()


def test_the_newest_lines_come_first_and_the_oldest_on_demand(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        sprint = complete(client, repo, name="Talks for long")
        append_lines(service_database_url, sprint, [f"line {number} of many" for number in range(LINES)])
        events = client.get(f"/runs/{sprint}").json()["last_sequence"]
    asked: list[str] = []

    def heard(request: Request) -> None:
        if f"/runs/{sprint}/events" in request.url and "types=" not in request.url:
            asked.append(request.url)

    page.on("request", heard)
    watched.open(f"/sprints/{sprint}", heading="Talks for long")
    log = page.get_by_role("log")
    expect(log).to_contain_text(f"line {LINES - 1} of many", timeout=PATIENCE * 1000)
    assert asked == [], "older pages are not asked for before someone wants them"
    expect(page.get_by_text(f"to {events} of {events}", exact=False)).to_be_visible()
    assert _count(page) <= MOST_LINES
    watched.audit()
    watched.shoot("log-newest-first")

    # What is read keeps its place while older lines come in front of it.
    log.hover()
    page.mouse.wheel(0, -3_000)
    expect(page.get_by_text("Paused", exact=False)).to_be_visible()
    seen = _lines(log)
    with page.expect_response(lambda each: f"/runs/{sprint}/events" in each.url):
        page.get_by_role("button", name="Older lines").click()
    expect(page.get_by_role("button", name="Older lines")).to_be_enabled()
    assert asked, "an older page is fetched"
    assert set(seen[5:-5]) <= set(_lines(log))

    # A reader who is at the first line already does not scroll, and still gets what lies before it.
    page.wait_for_timeout(INPUT_MS)
    log.evaluate("box => { box.scrollTop = 0; }")
    with page.expect_response(lambda each: f"/runs/{sprint}/events" in each.url):
        log.press("Home")

    _until_first(page, log, 0)
    expect(log).to_contain_text("Run created")
    expect(page.get_by_role("button", name="Older lines")).to_have_count(0)
    expect(page.get_by_role("button", name="Newer lines")).to_be_visible()
    watched.audit()
    watched.shoot("log-oldest")

    # The newest lines have left memory. They come back page by page, or all at once.
    page.get_by_role("button", name="Newer lines").click()
    expect(page.get_by_text(f"to {events} of", exact=False)).to_have_count(0)
    log.press("End")
    expect(log).to_contain_text(f"line {LINES - 1} of many")
    expect(page.get_by_role("button", name="Newer lines")).to_have_count(0)


def test_ten_thousand_rows_scroll_with_few_of_them_drawn(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        sprint = complete(client, repo, name="Is scrolled")
        append_lines(service_database_url, sprint, [f"line {number} of many" for number in range(ROWS)])
    watched.open(f"/sprints/{sprint}", heading="Is scrolled")
    log = page.get_by_role("log")
    expect(log).to_contain_text(f"line {ROWS - 1} of many", timeout=PATIENCE * 1000)
    _until_first(page, log, 0)
    nodes = page.evaluate("document.querySelectorAll('*').length")
    drawn, most_nodes, seen, bottom = page.evaluate(SCROLL, STEP_PX)
    assert bottom > ROWS * 10, "all of it is scrolled through"
    assert seen > ROWS / 100, "the rows follow the scroll"
    assert 0 < drawn <= MOST_DRAWN
    assert most_nodes < nodes + MOST_DRAWN * 20, "rows that left the screen leave the page"


def test_memory_does_not_grow_with_the_log(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    wide = "x" * 200
    with service.client() as client:
        sprint = complete(client, repo, name="Fills memory")
        watched.open(f"/sprints/{sprint}", heading="Fills memory")
        log = page.get_by_role("log")
        expect(log).to_contain_text("Run completed")
        before = _heap(page)
        # The log grows below an open page, which would hold it all: 40 MB of text.
        for start in range(0, LINES, 25_000):
            lines = [f"line {number} of many {wide} {wide}" for number in range(start, start + 25_000)]
            append_lines(service_database_url, sprint, lines)
            expect(log).to_contain_text(f"line {start + 24_999} of many", timeout=PATIENCE * 1000)
        grown = _heap(page) - before
        _until_first(page, log, 0)
        assert max(grown, _heap(page) - before) < 40_000_000


def _heap(page: Page) -> int:
    """Bytes of the page's heap that are in use after everything unused is gone."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used
