"""Small things that mislead: the palette's words, a bar over the form, rows of a phone, the page's icon."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.acceptance.projects import script, step, write
from tests.acceptance.server import Service, ok
from tests.browser.sprints import complete, escalate, escalation_of, resolve_all, start
from tests.browser.watched import Watched

SMALL_PHONE = (390, 480)

OVERFLOWING = """table => [...table.querySelectorAll("th, td")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""
"""Cells whose text leaves them."""


def test_the_palette_says_nothing_matches_only_when_it_knows(watched: Watched) -> None:
    page = watched.page
    held: list[Route] = []
    watched.open("/settings", heading="Settings")
    page.route("**/api/v1/runs?*q=zebra*", lambda route: held.append(route))
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Type an action").fill("zebra")
    dialog = page.get_by_role("dialog", name="Search and actions")
    expect(dialog.get_by_text("Searching …")).to_be_visible()
    expect(dialog.get_by_text("No matches")).to_have_count(0)
    while not held:
        page.wait_for_timeout(50)
    held[-1].continue_()
    expect(dialog.get_by_text("No matches")).to_be_visible()


def test_the_palette_without_a_service_leaves_the_page(watched: Watched) -> None:
    page = watched.page
    watched.open("/new", heading="New sprint")
    page.get_by_label("Goal").fill("Half a goal")
    page.route("**/assets/Palette-*.js", lambda route: route.abort())
    with watched.excused():
        page.keyboard.press("Control+k")
        dialog = page.get_by_role("dialog", name="Search and actions")
        expect(dialog).to_contain_text("the service does not respond")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Goal")).to_have_value("Half a goal")
    expect(page.get_by_label("Goal")).to_be_focused()


BEGINNING = """link => {
  const first = document.createRange();
  first.setStart(link.firstChild, 0);
  first.setEnd(link.firstChild, 1);
  const [letter, box] = [first.getBoundingClientRect(), link.getBoundingClientRect()];
  return letter.left >= box.left && letter.right <= box.right + 1;
}"""
"""Whether the first letter of a link's text is within it."""


def test_a_long_name_begins_on_the_screen_whatever_way_it_is_read(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        for word in ("مهمة", "Task"):
            escalate(client, repo, name=f"{word} {'x' * 150}")
    watched.open("/?q=" + "x" * 100, heading="Runs")
    links = page.locator("a[data-run]")
    expect(links).to_have_count(2)
    assert [each.evaluate(BEGINNING) for each in links.all()] == [True, True]


def test_a_phone_shows_two_lines_a_run_and_no_bar_over_the_form(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        escalation = escalation_of(client, escalate(client, repo, name="On a phone"))
    width, height = SMALL_PHONE
    page.set_viewport_size({"width": width, "height": height})
    watched.open("/", heading="Runs")
    row = page.get_by_role("row").filter(has_text="On a phone")
    expect(row.locator("[data-second-line]")).to_contain_text("sprint · 1/1")
    expect(row.get_by_role("cell")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_role("table").evaluate(OVERFLOWING) == [], "what a cell says stays in it"
    watched.shoot("runs-phone")
    links = page.get_by_role("navigation", name="Main").get_by_role("link")
    lines = links.evaluate_all("all => new Set(all.map((each) => each.getBoundingClientRect().top)).size")
    assert lines == 1, "the navigation is one line"
    watched.open(f"/escalations/{escalation}", heading="On a phone")
    bar = page.get_by_role("link", name="Decide: accept, retry or reject")
    expect(bar).to_be_visible()
    page.get_by_role("form", name="Decision").scroll_into_view_if_needed()
    expect(bar).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "heading", "count"), [("/metrics", "Metrics", 6), ("/escalations", "Escalations", 5)]
)
def test_filters_stand_in_two_columns_on_a_phone(
    service: Service, watched: Watched, repo: Path, path: str, heading: str, count: int
) -> None:
    page = watched.page
    with service.client() as client:
        escalate(client, repo, name="Has filters")
    watched.open(path, heading=heading)
    fields = page.get_by_role("group", name="Filters").locator("select, input[type=date]")
    expect(fields).to_have_count(count)
    expect(fields.locator(f"option[value='{repo}']")).to_have_count(1)
    page.set_viewport_size({"width": 390, "height": 844})
    boxes = fields.evaluate_all("all => all.map((each) => each.getBoundingClientRect().toJSON())")
    first, second, *_ = boxes
    assert first["top"] == second["top"]
    assert first["left"] + first["width"] < second["left"]
    for index, each in enumerate(boxes):
        column = boxes[index % 2]
        assert (each["left"], each["width"]) == (column["left"], first["width"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    watched.shoot(f"filters{path.replace(chr(47), chr(45))}")


def test_icon_and_title_tell_the_state(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    icon = page.locator("link[rel=icon]")
    with service.client() as client:
        resolve_all(client)
        slow = [{**write(f"{number}.md", "x\n"), "pause_seconds": 5} for number in range(60)]
        works = start(client, repo, script(step("Coding Complete", *slow)), name="At work", phases=["coding"])
        watched.open(f"/sprints/{works}", heading="At work")
        expect(icon).to_have_attribute("href", "/favicon-running.svg")
        ok(client.post(f"/runs/{works}/cancel", json={}))
        expect(icon).to_have_attribute("href", "/favicon-failed.svg")
        done = complete(client, repo, name="Comes to its end")
        watched.open(f"/sprints/{done}", heading="Comes to its end")
        expect(icon).to_have_attribute("href", "/favicon-done.svg")
        expect(page).to_have_title("completed: Comes to its end · PhaseRunner")
        watched.open("/", heading="Runs")
        expect(icon).to_have_attribute("href", "/favicon.svg")
        escalate(client, repo, name="Asks")
    expect(icon).to_have_attribute("href", "/favicon-waiting.svg")


def test_columns_are_chosen_in_the_address(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        complete(client, repo, name="Has a project")
    watched.open("/", heading="Runs")
    row = page.get_by_role("row").filter(has_text="Has a project").first
    expect(row.get_by_text("shares", exact=True)).to_be_visible()
    for column, text in (("Attempt", "1"), ("Score", "1.00"), ("Kind", "sprint")):
        names = page.get_by_role("columnheader").all_inner_texts()
        cell = row.get_by_role("cell").nth(names.index(column))
        expect(cell).to_have_text(text)
    names = page.get_by_role("columnheader").all_inner_texts()
    expect(row.get_by_role("cell").nth(names.index("Took"))).to_contain_text("s")
    page.get_by_text("Columns", exact=True).first.click()
    page.get_by_role("checkbox", name="Agent").uncheck()
    expect(page.get_by_role("columnheader", name="Agent")).to_have_count(0)
    assert "columns=" in page.url
    page.reload()
    expect(page.get_by_role("columnheader", name="Took")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Agent")).to_have_count(0)


def test_runs_fit_a_small_laptop_and_say_their_whole_name(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    page.set_viewport_size({"width": 1024, "height": 768})
    name = "A name that is longer than the column of names at this width"
    with service.client() as client:
        complete(client, repo, name=name)
        escalate(client, repo, name="Waits at this width")
    watched.open("/", heading="Runs")
    run = page.get_by_role("link", name=name).first
    expect(run).to_have_attribute("title", re.compile(f"^{name}\n"))
    expect(page.get_by_role("row").filter(has_text="Waits at this width").first).to_be_visible()
    table = page.get_by_role("region", name="Runs")
    assert table.evaluate("each => each.scrollWidth <= each.clientWidth"), "every column is in sight"
    assert table.evaluate(OVERFLOWING) == [], "what a cell says stays in it"
    watched.shoot("runs-small-laptop")


def test_a_path_has_its_own_line_on_a_phone(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 844})
    with service.client() as client:
        path = "notes/implementation_of_halves.md"
        sprint = escalate(client, repo, write(path, "x\n"), name="Has a long path")
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Has a long path")
    head = page.locator(f"[data-file='{path}'] h3")
    name, viewed = head.get_by_role("button"), head.get_by_role("checkbox", name="Viewed")
    boxes = name.bounding_box(), viewed.bounding_box()
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"], (
        "what is said of the file stands below its path"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_mark_of_work_turns_without_an_animation(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    slow = [{**write(f"{number}.md", "x\n"), "pause_seconds": 5} for number in range(60)]
    with service.client() as client:
        agent = script(step("Coding Complete", *slow))
        works = start(client, repo, agent, name="Turns its mark", phases=["coding"])
        watched.open(f"/sprints/{works}", heading="Turns its mark")
        mark = page.locator("main .spin").first
        expect(mark).to_be_visible()
        assert mark.get_attribute("style") is None, "motion is reduced"
        page.emulate_media(reduced_motion="no-preference")
        expect(mark).to_have_attribute("style", re.compile("rotate"))
        # An animation is drawn with every frame, for as long as anything works.
        assert page.evaluate("document.getAnimations().length") == 0
        ok(client.post(f"/runs/{works}/cancel", json={}))
