"""The inbox of reviewers: filters, who looks after what, the key for the next one, and rejecting several."""

from pathlib import Path

import httpx
import psycopg
from playwright.sync_api import expect

from app.db.engine import plain_url
from tests.acceptance.projects import make_repository
from tests.acceptance.server import Service, ok
from tests.browser.sprints import escalate, escalation_of, resolve_all
from tests.browser.watched import Watched


def _asks(client: httpx.Client, repo: Path, name: str) -> str:
    return escalation_of(client, escalate(client, repo, name=name))


def test_the_inbox_is_filtered_and_taken(
    service: Service, watched: Watched, repo: Path, tmp_path: Path
) -> None:
    page, keys = watched.page, watched.page.keyboard
    elsewhere = make_repository(tmp_path / "elsewhere")
    with service.client() as client:
        resolve_all(client)
        first = _asks(client, repo, "Of shares")
        _asks(client, elsewhere, "Of another project")
    watched.open("/escalations", heading="Escalations")
    rows = page.get_by_role("list", name="Waiting, oldest first").get_by_role("listitem")
    expect(rows).to_have_count(2)
    page.get_by_role("combobox", name="Project", exact=True).select_option(label="elsewhere")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Of another project")
    assert "elsewhere" in page.url, "filters live in the URL"
    page.go_back()
    expect(rows).to_have_count(2)
    page.get_by_role("combobox", name="Age", exact=True).select_option("24")
    expect(page.get_by_text("No escalations match these filters")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("combobox", name="Kind", exact=True).select_option("answer")
    expect(rows).to_have_count(0)
    page.get_by_role("combobox", name="Kind", exact=True).select_option("")
    page.get_by_role("combobox", name="Reason", exact=True).select_option("no_progress")
    expect(rows).to_have_count(0)
    page.get_by_role("combobox", name="Reason", exact=True).select_option("attempts_exhausted")
    expect(rows).to_have_count(2)
    page.get_by_role("combobox", name="Reason", exact=True).select_option("")

    keys.press("j")
    keys.press("m")
    expect(rows.first).to_contain_text("yours")
    page.get_by_role("combobox", name="Reviewer", exact=True).select_option("none")
    expect(rows).to_have_count(1)
    page.get_by_role("combobox", name="Reviewer", exact=True).select_option("me")
    expect(rows).to_contain_text(["Of shares"])
    watched.audit()
    watched.shoot("inbox")
    with service.client() as client:
        assert ok(client.get(f"/escalations/{first}"))["assigned_to"]
        other = {"X-PhaseRunner-User": "Bo"}
        refused = client.post(f"/escalations/{first}/assign", json={}, headers=other)
        assert refused.status_code == 409
        ok(client.post(f"/escalations/{first}/assign", json={"take_over": True}, headers=other))
    watched.open(f"/escalations/{first}", heading="Of shares")
    expect(page.get_by_text("with Bo")).to_be_visible()
    page.get_by_role("button", name="Take over: Of shares").click()
    expect(page.get_by_text("yours", exact=True)).to_be_visible()
    keys.press(".")
    page.get_by_role("heading", level=1, name="Of another project").wait_for()


def test_several_are_rejected_at_once_and_one_refusal_stops_no_other(
    service: Service, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        resolve_all(client)
        ids = {name: _asks(client, repo, name) for name in ("Obsolete one", "Obsolete two", "Still wanted")}
    page.route_web_socket("**/api/v1/ws", lambda socket: None)
    watched.open("/escalations", heading="Escalations")
    for name in ("Obsolete one", "Obsolete two"):
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    form = page.get_by_role("form", name="Reject several")
    form.get_by_role("textbox").fill("The plan has changed.")
    watched.audit()
    with service.client() as client:
        ok(client.post(f"/escalations/{ids['Obsolete one']}/resolve", json={"decision": "accept"}))
    with watched.excused():
        form.get_by_role("button", name="Reject 2 runs").click()
        expect(page.get_by_role("alert")).to_contain_text("Obsolete one")
    rows = page.get_by_role("list", name="Waiting, oldest first").get_by_role("listitem")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(["Still wanted"])
    with service.client() as client:
        decided = ok(client.get(f"/escalations/{ids['Obsolete two']}"))
    assert (decided["decision"], decided["guidance"]) == ("reject", "The plan has changed.")


OPEN = 200
COPIES = """
WITH copies AS (
    SELECT (jsonb_populate_record(
        one, jsonb_build_object('id', gen_random_uuid(), 'name', 'Copy ' || lpad(number::text, 3, '0'))
    )).* FROM runs AS one, generate_series(2, %(count)s) AS number WHERE one.id = %(run)s
),
made AS (INSERT INTO runs ({columns}) SELECT {columns} FROM copies RETURNING id, name)
INSERT INTO escalations SELECT (jsonb_populate_record(one, jsonb_build_object(
    'id', gen_random_uuid(), 'run_id', made.id,
    'created_at', one.created_at + right(made.name, 3)::int * interval '1 second'
))).* FROM escalations AS one, made WHERE one.run_id = %(run)s
"""
COLUMNS = """
SELECT string_agg(column_name, ', ') FROM information_schema.columns
WHERE table_name = 'runs' AND table_schema = 'public' AND is_generated = 'NEVER'
"""


def _copy(database_url: str, run: str) -> None:
    """Put runs into the database that wait as one does."""
    with psycopg.connect(plain_url(database_url)) as connection:
        (columns,) = connection.execute(COLUMNS).fetchone() or ("",)
        statement = COPIES.replace("{columns}", columns)
        connection.execute(statement.encode(), {"run": run, "count": OPEN})


def test_two_hundred_stay_usable(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page, keys = watched.page, watched.page.keyboard
    with service.client() as client:
        resolve_all(client)
        run = escalate(client, repo, name="Copy 001")
        _copy(service_database_url, run)
        watched.open("/escalations", heading="Escalations")
        rows = page.get_by_role("list", name="Waiting, oldest first").get_by_role("listitem")
        expect(rows).to_have_count(100)
        # Moving past the end of what is there brings more.
        keys.press("j")
        for _ in range(104):
            keys.press("j")
        expect(rows).to_have_count(OPEN)
        focused = rows.filter(has=page.locator("a:focus"))
        keys.press("j")
        expect(focused).to_be_in_viewport()
        keys.press("x")
        expect(page.get_by_role("button", name="Reject 1 run")).to_be_visible()
        expect(page).to_have_title(f"({OPEN}) Escalations · PhaseRunner")
        watched.audit(["light"])
        with psycopg.connect(plain_url(service_database_url)) as connection:
            connection.execute("DELETE FROM runs WHERE name LIKE 'Copy %%' AND id <> %s", (run,))
        resolve_all(client)
