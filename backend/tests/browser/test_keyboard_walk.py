"""What the journeys leave out, with the keyboard alone: a diff, the inbox, and the filters of metrics."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.projects import write
from tests.acceptance.server import Service
from tests.browser.keyboard import Keyboard
from tests.browser.sprints import escalate, resolve_all
from tests.browser.watched import Watched

FILES = [write(f"notes/{name}.md", f"{name}\n") for name in ("first", "second", "third")]


def test_a_diff_is_found_filtered_and_ticked_off(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, Keyboard(watched.page)
    with service.client() as client:
        sprint = escalate(client, repo, *FILES, name="Has three files")
    watched.open(f"/sprints/{sprint}", heading="Has three files")
    keys.choose(page.get_by_role("link", name=re.compile("[Dd]iff")).first)
    page.get_by_role("heading", level=1, name="Diff: Has three files").wait_for()
    keys.choose(
        page.get_by_role("region", name="Changed files").get_by_role("link", name=re.compile("third"))
    )
    third = page.locator("[data-file='notes/third.md']")
    viewed = third.get_by_role("checkbox", name="Viewed")
    keys.reach(viewed)
    keys.press("Space")
    expect(viewed).to_be_checked()
    keys.see()


def test_several_are_rejected_and_the_focus_stays_in_the_list(
    service: Service, watched: Watched, repo: Path
) -> None:
    page, keys = watched.page, Keyboard(watched.page)
    with service.client() as client:
        resolve_all(client)
        for name in ("Obsolete", "Obsolete too", "Wanted"):
            escalate(client, repo, name=name)
    watched.open("/escalations", heading="Escalations")
    keys.reach(page.get_by_label("Kind"))
    keys.press(*"sprint")
    expect(page).to_have_url(re.compile("kind=sprint"))
    expect(page.get_by_label("Kind")).to_be_focused()
    row = page.get_by_role("listitem").filter(has_text="Obsolete")
    expect(row).to_have_count(2)
    for _ in range(2):
        keys.press("Tab")  # out of the field, where letters are no shortcuts
    keys.reach(row.first.get_by_role("link").first)
    keys.press("x", "j", "x")
    form = page.get_by_role("form", name="Reject several")
    keys.reach(form.get_by_role("textbox"), back=True)
    keys.type("The plan has changed.")
    keys.choose(form.get_by_role("button", name="Reject 2 runs"))
    wanted = page.get_by_role("listitem").filter(has_text="Wanted")
    expect(row).to_have_count(0)
    expect(wanted.get_by_role("link").first).to_be_focused()
    keys.see()


def test_the_period_of_metrics_is_narrowed(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, Keyboard(watched.page)
    with service.client() as client:
        escalate(client, repo, name="Is counted")
    watched.open("/metrics", heading="Metrics")
    filters = page.get_by_role("group", name="Filters")
    keys.reach(filters.get_by_label("From"))
    keys.press(*"01012026")
    expect(page).to_have_url(re.compile("from=2026-01-01"))
    rolling = filters.get_by_role("checkbox", name="Rolling trend")
    keys.reach(rolling)
    keys.press("Space")
    expect(page).to_have_url(re.compile("rolling=true"))
    expect(rolling).to_be_focused()
    keys.see()
