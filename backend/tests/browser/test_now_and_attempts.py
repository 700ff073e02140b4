"""What a run does now is one line that keeps its place; attempts stand side by side with what changed."""

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.acceptance.projects import BROKEN, MENDED, MENDS_WHEN_TOLD, script, step, write
from tests.acceptance.server import Service, until_rest
from tests.browser.sprints import start
from tests.browser.watched import Watched
from tests.patience import PATIENCE

NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1400, "height": 900}
_CORNERS = """region => [...region.querySelectorAll('[data-column]')].map(
    each => each.getBoundingClientRect().toJSON()
)"""


def place(line: Locator) -> tuple[float, float]:
    """Where the line begins and how high it is, in pixels."""
    box = line.bounding_box()
    assert box is not None
    return box["y"], box["height"]


def test_one_line_says_what_goes_on_and_never_moves(service: Service, watched: Watched, repo: Path) -> None:
    slow = [{**write(f"notes/{number}.md", "x\n"), "pause_seconds": 5} for number in range(3)]
    agent = script(step("Done. Coding Complete", *slow, write("shares.py", MENDED)))
    page = watched.page
    page.set_viewport_size(WIDE)
    with service.client() as client:
        run = start(client, repo, agent, policy={"budget": {"cost_usd": 2}})
        watched.open(f"/sprints/{run}")
        now = page.get_by_role("region", name="Now")
        first = place(now)
        expect(now).to_contain_text("of $2.00")
        expect(now).to_contain_text("editing notes/", timeout=PATIENCE * 1000)
        expect(now).to_contain_text("coding, attempt 1")
        assert place(now) == first
        watched.shoot("now-working")
        expect(now).to_contain_text("evaluating: ", timeout=PATIENCE * 1000)
        assert place(now) == first
        until_rest(client, run)
        expect(now).to_contain_text("every phase passed")
        assert place(now) == first
    page.set_viewport_size(NARROW)
    assert place(now)[1] == first[1], "one line on a phone as well"
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.audit()
    watched.shoot("now-narrow")


def test_where_the_time_of_an_attempt_went(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    page.set_viewport_size(WIDE)
    with service.client() as client:
        run = start(client, repo, MENDS_WHEN_TOLD)
        assert until_rest(client, run)["status"] == "completed"
    watched.open(f"/sprints/{run}?phase=coding&attempt=1")
    page.get_by_text("Where the time of coding attempt 1 went").click()
    parts = page.get_by_role("list", name="Parts of the attempt")
    expect(parts.get_by_role("listitem").filter(has_text="pytest")).to_contain_text("failed")
    expect(parts.get_by_role("link", name="write_file").first).to_be_visible()
    watched.audit()
    watched.shoot("parts-of-an-attempt")
    parts.get_by_role("link", name="pytest").click()
    expect(page).to_have_url(re.compile(r"#L\d+\.0$"))
    line = page.url.rpartition("#L")[2]
    expect(page.locator(f"[data-line='{line}']")).to_be_in_viewport()
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.shoot("parts-narrow")


def test_attempts_stand_side_by_side(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    page.set_viewport_size(WIDE)
    with service.client() as client:
        run = start(client, repo, MENDS_WHEN_TOLD)
        assert until_rest(client, run)["status"] == "completed"
    watched.open(f"/sprints/{run}?phase=coding&attempt=2&tab=attempts")
    columns = page.get_by_role("region", name="Attempts of coding side by side")
    first, second = (
        columns.get_by_label("Attempt 1", exact=True),
        columns.get_by_label("Attempt 2", exact=True),
    )
    expect(first).to_contain_text("The goal")
    expect(first.locator("[data-gate=pytest]")).to_contain_text("failing")
    expect(second).to_contain_text("test_half_of_eight")
    expect(second).to_contain_text("shares.py")
    fixed = second.locator("[data-gate=pytest] [data-change=fixed]")
    expect(fixed).to_contain_text("tests/test_shares.py::test_half_of_eight")
    # Both at the same moment: what is above may still grow.
    left, right = columns.evaluate(_CORNERS)
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    columns.scroll_into_view_if_needed()
    watched.audit()
    watched.shoot("attempts-side-by-side")
    page.set_viewport_size(NARROW)
    columns.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    watched.shoot("attempts-narrow")


def test_what_an_attempt_broke_is_marked_as_regressed(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    page.set_viewport_size(WIDE)
    agent = script(
        step("Try. Coding Complete", write("shares.py", BROKEN.replace("3", "5"))),
        # The test passes now, and the linter, which had nothing to say, finds an import.
        step("Again. Coding Complete", write("shares.py", f"import os\n\n\n{MENDED}")),
        step("Clean. Coding Complete", write("shares.py", MENDED)),
    )
    with service.client() as client:
        run = start(client, repo, agent, phases=["coding"])
        assert until_rest(client, run)["status"] == "completed"
    watched.open(f"/sprints/{run}?phase=coding&attempt=3&tab=attempts")
    columns = page.get_by_role("region", name="Attempts of coding side by side")
    gates = {
        number: columns.get_by_label(f"Attempt {number}", exact=True).locator("[data-gate]")
        for number in (1, 2, 3)
    }
    expect(gates[1].filter(has_text="pytest").locator("[data-change=failing]")).to_have_count(1)
    expect(gates[1].filter(has_text="ruff_lint").locator("[data-change]")).to_have_count(0)
    expect(gates[2].filter(has_text="pytest").locator("[data-change=fixed]")).to_have_count(1)
    regressed = gates[2].filter(has_text="ruff_lint").locator("[data-change=regressed]")
    expect(regressed).to_have_count(1)
    expect(regressed).to_contain_text("regressed")
    expect(regressed).to_contain_text("F401")
    expect(gates[3].filter(has_text="ruff_lint").locator("[data-change=fixed]")).to_contain_text("F401")
    expect(gates[3].locator("[data-change=regressed]")).to_have_count(0)
    columns.scroll_into_view_if_needed()
    watched.audit()
    watched.shoot("attempts-regressed")
