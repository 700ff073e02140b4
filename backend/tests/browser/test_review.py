"""Reviewing in a real browser: the queue, the evidence, the diff, the decision, and what becomes of it."""

import json
from pathlib import Path

import httpx
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.acceptance.projects import git, write
from tests.acceptance.server import Service, ok, until_rest
from tests.browser.conftest import NewPage
from tests.browser.sprints import MENDS_WHEN_HELPED, escalate, escalation_of, resolve_all, start
from tests.browser.watched import Watched

LONG_ROWS = 6_000
HOSTILE = "<img src=x onerror=window.harmed=1>"
BIDI = "a\u202eb"


def _escalate(client: httpx.Client, repo: Path) -> str:
    return escalation_of(client, escalate(client, repo, name="Never mends"))


def test_a_sprint_is_decided_from_the_keyboard_alone(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        resolve_all(client)
        policy = {"max_attempts": 1}
        oldest = start(client, repo, MENDS_WHEN_HELPED, name="The oldest", phases=["coding"], policy=policy)
        until_rest(client, oldest)
        first = escalation_of(client, oldest)
        escalate(client, repo, name="The younger")
    watched.open("/escalations", heading="Escalations")
    rows = page.get_by_role("list", name="Waiting, oldest first").get_by_role("link")
    expect(rows).to_have_count(2)
    keys.press("j")
    keys.press("j")
    expect(rows.nth(1)).to_be_focused()
    keys.press("k")
    keys.press("Enter")
    page.get_by_role("heading", level=1, name="The oldest").wait_for()
    expect(page).to_have_url(f"{service.url}/escalations/{first}")

    evidence = page.locator("[data-evaluator=pytest]")
    expect(evidence.get_by_text("test_half_of_eight").first).to_be_visible()
    expect(evidence.get_by_text("none marked right or wrong yet")).to_be_visible()
    expect(page.get_by_role("radio", name="Reject")).to_be_in_viewport()
    page.locator(".diff-code-insert").first.wait_for()

    _decide_by_keys(watched)
    with service.client() as client:
        sprint = ok(client.get(f"/escalations/{first}"))["run_id"]
        assert until_rest(client, sprint)["status"] == "completed"
    page.get_by_role("link", name="Next of 1 waiting").click()
    page.get_by_role("heading", level=1, name="The younger").wait_for()


def _decide_by_keys(watched: Watched) -> None:
    """Comment, write guidance, load the page anew, send, and read what the next attempt was told."""
    page, keys = watched.page, watched.page.keyboard
    keys.press("]")
    keys.press("j")
    keys.press("c")
    expect(page.get_by_role("textbox", name="Comment on line")).to_be_focused()
    keys.type("Halves are not fifths.")
    keys.press("Escape")
    keys.press("r")
    expect(page.get_by_role("textbox", name="Guidance for the next attempt")).to_be_focused()
    keys.type("Please divide by two.")
    page.reload()
    page.locator(".diff-line").first.wait_for()
    expect(page.get_by_role("textbox", name="Guidance for the next attempt")).to_have_value(
        "Please divide by two."
    )
    expect(page.get_by_role("textbox", name="Comment on line")).to_have_value("Halves are not fifths.")
    expect(page.get_by_text("1 line comment goes with it.")).to_be_visible()
    watched.shoot("escalation-typed")

    keys.press("s")
    keys.press("s")
    expect(page.get_by_text("decided by")).to_be_visible()
    told = page.locator("[data-told]")
    expect(told).to_contain_text("Please divide by two.")
    expect(told).to_contain_text("Halves are not fifths.")
    expect(page.get_by_text("All you wrote is in its prompt")).to_be_visible()
    watched.audit()
    watched.shoot("escalation-resolved")


def test_help_palette_and_layout_are_at_hand(service: Service, watched: Watched, repo: Path) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        escalation = _escalate(client, repo)
    watched.open(f"/escalations/{escalation}", heading="Never mends")
    page.locator(".diff-line").first.wait_for()
    keys.press("?")
    expect(page.get_by_role("dialog").get_by_text("Retry with guidance …")).to_be_visible()
    keys.press("Escape")
    keys.press("Control+k")
    expect(page.get_by_role("dialog", name="Search and actions")).to_be_visible()
    keys.type("side by side")
    keys.press("Enter")
    expect(page).to_have_url(f"{service.url}/escalations/{escalation}?view=split")
    page.locator(".diff-split").first.wait_for()
    watched.shoot("escalation-split")
    page.go_back()
    page.locator(".diff-unified").first.wait_for()


def test_a_verdict_is_marked_wrong_and_accepted(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        escalation = _escalate(client, repo)
        before = ok(client.get("/evaluators/plan_artifact"))["record"]["marked"]["wrong_fails"]
    watched.open(f"/escalations/{escalation}", heading="Never mends")
    marks = page.get_by_role("group", name="Was the verdict of plan_artifact right?")
    marks.get_by_role("button", name="Wrong").click()
    expect(marks.get_by_role("status")).to_contain_text("wrong, says")
    told = f"{before['count'] + 1} of {before['of'] + 1} marked fails wrong"
    expect(page.locator("[data-evaluator=plan_artifact]")).to_contain_text(told)
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("decided by")).to_be_visible()
    with service.client() as client:
        decided = ok(client.get(f"/escalations/{escalation}"))
        verdict = next(each for each in decided["failing"] if each["evaluator"] == "plan_artifact")
    assert decided["decision"] == "accept"
    assert verdict["marks"][0]["was_right"] is False


def test_the_second_reviewer_is_told_and_loses_nothing(
    service: Service, new_page: NewPage, repo: Path
) -> None:
    with service.client() as client:
        escalation = _escalate(client, repo)
    first, second = new_page(), new_page()
    # The second one hears of nothing, as over a bad line: only the service can stop him.
    second.page.route_web_socket("**/api/v1/ws", _silent)
    for each, name in ((first, "Ada"), (second, "Bo")):
        kept = json.dumps({"token": "", "name": name})
        each.page.add_init_script(f"localStorage.setItem('phaserunner.identity', {json.dumps(kept)})")
        each.open(f"/escalations/{escalation}", heading="Never mends")
        each.page.locator(".diff-line").first.wait_for()
        each.page.keyboard.press("x")
        expect(each.page.get_by_role("textbox", name="Reason (recorded)")).to_be_focused()
        each.page.keyboard.type(f"{name} has looked at it.")
    first.page.keyboard.press("Control+Enter")
    expect(first.page.get_by_text("decided by Ada")).to_be_visible()

    with second.excused():
        second.page.keyboard.press("Control+Enter")
        expect(second.page.get_by_text("decided by Ada")).to_be_visible()
    kept_text = second.page.get_by_role("textbox", name="Your unsent guidance")
    expect(kept_text).to_have_value("Bo has looked at it.")
    second.audit()
    second.shoot("escalation-second-reviewer")
    second.page.reload()
    expect(kept_text).to_have_value("Bo has looked at it.")
    second.page.get_by_role("button", name="Discard").click()
    expect(kept_text).to_have_count(0)


def _silent(socket: WebSocketRoute) -> None:
    """Accept the connection and say nothing."""


def test_six_thousand_rows_are_all_there(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    lines = "".join(f"row_{number} = {number}\n" for number in range(1, LONG_ROWS + 1))
    with service.client() as client:
        sprint = escalate(client, repo, write("long.py", lines), name="Writes a lot")
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Writes a lot")
    page.get_by_text("row_1 = 1", exact=True).wait_for()
    page.keyboard.press("}")
    page.keyboard.press("j")
    expect(page.locator(".diff-code-selected")).to_be_in_viewport()
    file = page.locator("[data-file='long.py']")
    told = file.locator(".diff-rows").evaluate("each => each.textContent").split("row_")
    assert len(told) - 1 == LONG_ROWS, "a search in the page finds each row"
    drawn = file.locator("tr.diff-line")
    assert 0 < drawn.count() < LONG_ROWS / 10, "rows far from the screen are text"
    last = page.get_by_text(f"row_{LONG_ROWS} = {LONG_ROWS}", exact=True)
    expect(last).to_have_count(0)
    page.get_by_text(f"row_{LONG_ROWS} = {LONG_ROWS}").scroll_into_view_if_needed()
    keys = page.keyboard
    keys.press("End")
    expect(last).to_be_in_viewport()
    last.click()
    page.evaluate("window.scrollTo(0, 0)")
    expect(page.get_by_text("row_1 = 1", exact=True)).to_be_in_viewport()
    expect(last).to_have_count(0)
    assert drawn.count() < LONG_ROWS / 10, "and become text again"


def test_a_cut_file_comes_whole_when_asked_for(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    lines = "".join(f"wide_{number} = '{'x' * 90}'\n" for number in range(1, 2_501))
    with service.client() as client:
        sprint = escalate(client, repo, write("wide.py", lines), name="Writes wide")
    watched.open(f"/sprints/{sprint}/diff", heading="Diff: Writes wide")
    expect(page.get_by_text("wide_2500")).to_have_count(0)
    page.get_by_role("button", name="Show the whole file").click()
    expect(page.get_by_text("wide_2500")).to_have_count(1)


def test_what_agents_and_reviewers_write_stays_text(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    (repo / "moved.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    git(repo, "add", "moved.txt")
    git(repo, "commit", "-q", "-m", "a file to move")
    edits = (
        write(f"{HOSTILE}.py", f"note = '{HOSTILE}'\nhidden = '{BIDI}'\n"),
        write(f"{BIDI}.txt", "plain\n"),
        write("new place.txt", "one\ntwo\nthree\nfour\nfive\n"),
        write("-- a minus.sql", "-- a comment\n--- another\n+++ and this\n"),
    )
    moves = {"kind": "delete", "path": "moved.txt"}
    with service.client() as client:
        sprint = escalate(
            client, repo, *edits, moves, name=f"Hostile {HOSTILE}", goal=f"Goal {HOSTILE} {BIDI}"
        )
        escalation = escalation_of(client, sprint)
    watched.open(f"/escalations/{escalation}")
    expect(page.locator(".diff-code", has_text="hidden = 'a⟦U+202E⟧b'")).to_be_visible()
    expect(page.get_by_text("renamed, content unchanged.")).to_be_visible()
    expect(page.locator("h3").get_by_text(f"{HOSTILE}.py")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Escape")
    watched.audit()
    watched.shoot("escalation-hostile")
    page.keyboard.press("x")
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("decided by")).to_be_visible()
    expect(page.locator("blockquote")).to_have_text(HOSTILE)
    assert _unharmed(page)
    assert BIDI[1] not in page.content()


def _unharmed(page: Page) -> bool:
    return page.evaluate("window.harmed === undefined && document.querySelector('main img') === null")
