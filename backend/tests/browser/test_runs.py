"""The table of runs: filled, filtered by its URL, live; keys, palette and help; pages that are not there."""

from pathlib import Path

import psycopg
from playwright.sync_api import expect

from app.db.engine import plain_url
from tests.acceptance.server import Service, ok
from tests.browser.sprints import complete, escalate, play, resolve_all
from tests.browser.watched import Watched

TWINS = 460
_COLUMNS = """
SELECT string_agg(column_name, ', ') FROM information_schema.columns
WHERE table_name = 'runs' AND table_schema = 'public' AND is_generated = 'NEVER'
"""
_TWINS = """
INSERT INTO runs ({columns}) SELECT {columns} FROM (SELECT (jsonb_populate_record(one, jsonb_build_object(
    'id', gen_random_uuid(), 'name', 'Twin ' || lpad(n::text, 4, '0'),
    'created_at', one.created_at + n * interval '1 second'
))).* FROM runs AS one, generate_series(1, %(count)s) n WHERE one.id = %(run)s) made
"""


def test_runs_appear_and_change_without_reloading(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    rows = page.get_by_role("row")
    with service.client() as client:
        resolve_all(client)
        watched.open("/", heading="Runs")
        escalate(client, repo, name="Stays broken")
        complete(client, repo, name="Mends when told")
    expect(rows.filter(has_text="Mends when told").get_by_text("completed")).to_be_visible()
    expect(rows.filter(has_text="Stays broken").get_by_text("needs a person")).to_be_visible()
    expect(rows.filter(has_text="Stays broken").get_by_role("cell", name="1/1", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="1 run needs a person")).to_be_visible()
    expect(page).to_have_title("(1) Runs · PhaseRunner")

    page.get_by_role("button", name="completed").click()
    expect(rows.filter(has_text="Stays broken")).to_have_count(0)
    assert "completed" in page.url, "filters live in the URL"
    page.reload()
    expect(rows.filter(has_text="Mends when told")).to_be_visible()
    expect(rows.filter(has_text="Stays broken")).to_have_count(0)
    page.go_back()
    expect(rows.filter(has_text="Stays broken")).to_be_visible()

    page.get_by_role("searchbox", name="Search by name").fill("no such name")
    expect(page.get_by_text("No runs match these filters")).to_be_visible()
    watched.shoot("runs-nothing-found")
    page.get_by_role("button", name="Show all runs").click()
    expect(rows.filter(has_text="Stays broken")).to_be_visible()


def test_many_runs_scroll_with_few_of_them_drawn(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        run = complete(client, repo, name="Twin 0000")
    with psycopg.connect(plain_url(service_database_url)) as connection:
        (columns,) = connection.execute(_COLUMNS).fetchone() or ("",)
        connection.execute(_TWINS.replace("{columns}", columns).encode(), {"run": run, "count": TWINS})
    watched.open("/?q=Twin", heading="Runs")
    links = page.locator("a[data-run]")
    expect(links.first).to_have_text(f"Twin {TWINS:04}")
    expect(page.get_by_text("50 runs shown")).to_be_attached()
    # Who scrolls on needs no button.
    end = page.get_by_text(f"{TWINS + 1} runs shown")
    while not end.count():
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(50)
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.get_by_role("link", name="Twin 0000")).to_be_in_viewport()
    assert links.count() < TWINS / 4, "rows far from the screen are not drawn"
    table = page.get_by_role("table")
    expect(table).to_have_attribute("aria-rowcount", str(TWINS + 2))
    expect(page.get_by_role("row").filter(has_text="Twin 0000")).to_have_attribute(
        "aria-rowindex", str(TWINS + 2)
    )
    page.get_by_role("link", name="Twin 0007").focus()
    page.evaluate("window.scrollTo(0, 0)")
    expect(page.get_by_role("link", name=f"Twin {TWINS:04}")).to_be_in_viewport()
    # Keys go on where the focus is, although the reader has scrolled away.
    keys.press("j")
    expect(page.get_by_role("link", name="Twin 0006")).to_be_focused()
    expect(page.get_by_role("link", name="Twin 0006")).to_be_in_viewport()
    watched.audit(["light"])
    with psycopg.connect(plain_url(service_database_url)) as connection:
        connection.execute("DELETE FROM runs WHERE name LIKE 'Twin %%' AND id <> %s", (run,))


def test_runs_are_filtered_by_their_kind(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    rows = page.get_by_role("row")
    with service.client() as client:
        complete(client, repo, name="Of phases")
        phases = {"synthesizer": [{"say": "3 francs"}], "evaluator": [{"say": "good"}]}
        play(client, "/answers", phases, query="What does it cost?", name="Of questions")
        counted = ok(client.get("/runs/counts"))["by_kind"]
    watched.open("/", heading="Runs")
    kinds = page.get_by_role("group", name="Kind")
    for word, kind in (("sprints", "sprint"), ("loops", "director_loop"), ("answers", "answer")):
        expect(kinds.get_by_role("button", name=word)).to_have_text(f"{word} {counted[kind]}")
    kinds.get_by_role("button", name="answers").focus()
    page.keyboard.press("Space")
    expect(kinds.get_by_role("button", name="answers")).to_have_attribute("aria-pressed", "true")
    expect(rows.filter(has_text="Of questions")).to_be_visible()
    expect(rows.filter(has_text="Of phases")).to_have_count(0)
    assert "kind=" in page.url
    statuses = page.get_by_role("group", name="Status")
    done = statuses.get_by_role("button", name="completed")
    with service.client() as client:
        of_answers = ok(client.get("/runs/counts", params={"kind": "answer"}))["by_status"]["completed"]
    expect(done).to_have_text(f"completed {of_answers}")
    expect(kinds.get_by_role("button", name="sprints")).to_have_text(f"sprints {counted['sprint']}")
    watched.audit()
    watched.shoot("runs-of-a-kind")
    page.reload()
    expect(rows.filter(has_text="Of questions")).to_be_visible()
    expect(rows.filter(has_text="Of phases")).to_have_count(0)
    page.go_back()
    expect(rows.filter(has_text="Of phases")).to_be_visible()


def test_keys_palette_and_help(service: Service, watched: Watched, repo: Path) -> None:
    page = watched.page
    with service.client() as client:
        escalate(client, repo, name="Never found")
        complete(client, repo, name="The newest")
    watched.open("/", heading="Runs")
    page.get_by_role("row").nth(1).wait_for()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="The newest").wait_for()

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    watched.audit()
    watched.shoot("help")
    page.keyboard.press("Escape")

    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Search and actions")).to_be_visible()
    page.keyboard.type("Never found")
    expect(page.get_by_role("option", name="Never found")).to_be_visible()
    watched.audit()
    watched.shoot("palette")
    page.get_by_role("option", name="Never found").click()
    page.get_by_role("heading", level=1, name="Never found").wait_for()

    page.keyboard.press("g")
    page.keyboard.press("e")
    page.get_by_role("heading", level=1, name="Escalations").wait_for()
    page.go_back()
    page.get_by_role("heading", level=1, name="Never found").wait_for()


def test_pages_that_are_not_there(service: Service, watched: Watched) -> None:
    page = watched.page
    watched.open("/no/such/page", heading="Page not found")
    watched.audit()
    watched.shoot("not-found")
    with watched.excused():
        page.goto(f"{service.url}/sprints/00000000-0000-0000-0000-000000000000")
        expect(page.get_by_role("alert")).to_contain_text("there is no run")
        watched.audit()
        watched.shoot("sprint-not-found")
    page.get_by_role("link", name="Show all runs").click()
    page.get_by_role("heading", level=1, name="Runs").wait_for()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("radio", name="Dark").check()
    page.reload()
    page.get_by_role("heading", level=1, name="Settings").wait_for()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
