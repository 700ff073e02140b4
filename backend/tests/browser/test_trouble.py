"""Trouble of evaluators: history once a verdict came, first where it is why a person is asked."""

from pathlib import Path

import psycopg
from playwright.sync_api import expect

from app.db.engine import plain_url
from tests.acceptance.server import Service, until_rest
from tests.browser.sprints import MENDS_WHEN_HELPED, complete, escalation_of, start
from tests.browser.watched import Watched
from tests.patience import PATIENCE

TROUBLE = "plan_artifact: no verdict in 30 s"
NO_VERDICT = """
UPDATE evaluations SET status = 'errored', passed = false, feedback = 'no verdict in 30 s'
FROM candidates JOIN attempts ON attempts.id = candidates.attempt_id
WHERE evaluations.candidate_id = candidates.id AND evaluator = %s AND attempts.run_id = %s
"""


def _record(database_url: str, statement: str, *values: str) -> None:
    """Record what a slow machine would have led to."""
    with psycopg.connect(plain_url(database_url)) as connection:
        changed = connection.execute(statement.encode(), values).rowcount
    assert changed == 1


def test_an_error_that_a_verdict_followed_is_history(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        sprint = complete(client, repo, name="Judged at the second try")
    _record(service_database_url, "UPDATE attempts SET last_error = %s WHERE run_id = %s", TROUBLE, sprint)
    watched.open(f"/sprints/{sprint}", heading="Judged at the second try")
    history = page.locator("[data-history]")
    expect(history).to_have_text(f"Earlier try: {TROUBLE}. Repeated: passed.")
    expect(page.locator("pre", has_text=TROUBLE)).to_have_count(0)
    watched.audit()
    watched.shoot("sprint-error-as-history")


def test_a_gate_without_a_verdict_comes_first_and_its_record_says_so(
    service: Service, service_database_url: str, watched: Watched, repo: Path
) -> None:
    page = watched.page
    with service.client() as client:
        policy = {"max_attempts": 1}
        sprint = start(client, repo, MENDS_WHEN_HELPED, name="Unjudged", phases=["coding"], policy=policy)
        until_rest(client, sprint)
        escalation = escalation_of(client, sprint)
    watched.open(f"/escalations/{escalation}", heading="Unjudged")
    verdicts = page.get_by_role("region", name="Why it escalated").locator("details[data-evaluator][open]")
    expect(verdicts).to_have_count(2, timeout=PATIENCE * 1000)
    last = str(verdicts.last.get_attribute("data-evaluator"))
    _record(service_database_url, NO_VERDICT, last, sprint)
    why = "UPDATE escalations SET reason_kind = 'evaluator_unavailable' WHERE id = %s"
    _record(service_database_url, why, escalation)
    watched.open(f"/escalations/{escalation}", heading="Unjudged")
    expect(page.get_by_role("heading", name="Evaluator unavailable")).to_be_visible()
    expect(verdicts.first).to_have_attribute("data-evaluator", last)
    expect(verdicts.first).to_contain_text("evaluations, errored in 1")
    expect(page.get_by_role("main").get_by_text("no verdict in 30 s")).to_have_count(1)
    watched.audit()
    watched.shoot("escalation-without-verdict")
