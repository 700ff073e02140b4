"""What runs cost is one number in the ledger, the API, the terminal, the page, the traces and the metrics."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from playwright.sync_api import expect

from app.gateway.scripted.answers.answer import Turnover
from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, run_shell, write_file
from app.gateway.scripted.server import ScriptedModelServer
from tests.acceptance.projects import MENDED, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.acceptance.test_installed_agents import PROFILE
from tests.acceptance.test_loops_and_answers import run as run_command
from tests.browser.conftest import NewPageOn
from tests.otlp_collector import Collector, collecting
from tests.patience import PATIENCE
from tests.postgres import fresh_database
from tests.scripted_models import Roles, gives, judges, model_server, role_of

MODEL = "openai-chat:gpt-5"
USED = Turnover(input=100_000, output=5_000)
"""Of each request: $0.175 by the list price, so that two digits tell runs apart."""

CHEAP = MENDED.replace("amount // 2", "int(amount / 2)")
CENTS = 17.5


class Everyone(Roles):
    """A model that plays all roles; its two agents solve the task in two ways, so that it has to judge."""

    def __init__(self) -> None:
        analysis = {"summary": "", "findings": [], "gaps": []}
        opinions = [
            gives(feedback=each, violations=[], suggestions=[], success=each == "Good")
            for each in ("Longer", "Good")
        ]
        others = {
            "director": (gives(content="draft"), gives(content="text")),
            "evaluator": opinions,
            "writer": (gives(analysis=analysis, answer="3"), gives(analysis=analysis, answer="3 francs")),
            "answer_evaluator": (judges("completeness", issue="no currency"), judges()),
        }
        super().__init__(others=others)

    def __call__(self, request: ScriptedRequest) -> Turn:
        if role_of(request) != "agent":
            return super().__call__(request)
        if request.turns > 0:
            return Say("Coding Complete")
        installed = any(each.name == "bash" for each in request.tools)
        return (
            run_shell(f"cat > shares.py <<'END'\n{CHEAP}END\n")
            if installed
            else write_file("shares.py", MENDED)
        )


@dataclass(frozen=True)
class Total:
    """What requests consumed; the cost in cents, of which floats keep every digit that matters."""

    requests: int
    input_tokens: int
    output_tokens: int
    cents: float

    @classmethod
    def of(cls, requests: int, given: int, answered: int, dollars: float) -> "Total":
        return cls(requests, given, answered, round(dollars * 100, 6))

    @classmethod
    def read(cls, usage: Mapping[str, Any]) -> "Total":
        return cls.of(usage["requests"], usage["input_tokens"], usage["output_tokens"], usage["cost_usd"])

    @classmethod
    def sum(cls, parts: Iterable["Total"]) -> "Total":
        every = list(parts)
        return cls(
            sum(each.requests for each in every),
            sum(each.input_tokens for each in every),
            sum(each.output_tokens for each in every),
            round(sum(each.cents for each in every), 6),
        )


@dataclass
class Scene:
    """A service whose models, traces and database are in view; `truth` is what the model's server counted."""

    service: Service
    server: ScriptedModelServer
    collector: Collector
    database_url: str
    truth: dict[str, Total] = field(default_factory=dict[str, Total])
    kinds: dict[str, str] = field(default_factory=dict[str, str])

    def count(self, kind: str, run: Mapping[str, Any], before: int) -> None:
        """Note what a run consumed, by the server's count."""
        assert run["status"] == "completed", run["status_reason"]
        number = len(self.server.requests) - before
        used = Total(number, number * USED.input, number * USED.output, number * CENTS)
        self.truth[run["id"]], self.kinds[run["id"]] = used, kind


@pytest.fixture(scope="module")
def scene(
    chromium: str, postgres_server: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """Play a sprint, a loop and an answer."""
    place = tmp_path_factory.mktemp("one sum")
    (place / "agents.toml").write_text(PROFILE.replace('"scripted-model"', '"gpt-5"'))
    with (
        model_server(Everyone()) as server,
        collecting() as collector,
        fresh_database(postgres_server, migrated_template) as url,
    ):
        server.usage = USED
        env = {
            "OPENAI_API_KEY": "a-key",
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "AGENTS_FILE": str(place / "agents.toml"),
            "AGENT_MODEL": MODEL,
            "EVALUATOR_MODEL": MODEL,
            "BUDGET_DAY_USD": "1000",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        }
        with serving(url, place / "data", env=env) as service, service.client() as client:
            scene = Scene(service, server, collector, url)
            play(scene, client, "sprints", a_sprint(place))
            play(scene, client, "loops", LOOP)
            play(scene, client, "answers", {"query": "What does it cost?", "entries": ["prices: 3 francs"]})
            yield scene


def a_sprint(place: Path) -> dict[str, Any]:
    candidates = [{"agent": "tiny", "model": "gpt-5"}, {"agent": "pydantic-ai", "model": MODEL}]
    return {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(place / "project"))},
        "agent": {"candidates": candidates},
        "phases": ["coding"],
    }


LOOP = {
    "definition": {
        "description": "Write about tea.",
        "director": {"description": "Write."},
        "evaluator": {"description": "Judge."},
    },
    "name": "tea",
}


def play(scene: Scene, client: httpx.Client, kind: str, body: Mapping[str, Any]) -> None:
    before = len(scene.server.requests)
    scene.count(kind, until_rest(client, ok(client.post(f"/{kind}", json=body))["id"]), before)


def in_ledger(scene: Scene) -> dict[str, tuple[Total, set[str]]]:
    """The sum of the rows of each run, and the roles in them."""
    rows = "SELECT run_id::text, sum(requests), sum(input_tokens), sum(output_tokens), sum(cost_usd), "
    rows += "array_agg(DISTINCT role) FROM model_requests GROUP BY run_id"
    with psycopg.connect(scene.database_url) as connection:
        found = connection.execute(rows).fetchall()
    return {
        run_id: (Total.of(int(number), int(given), int(answered), float(cost)), set(roles))
        for run_id, number, given, answered, cost, roles in found
    }


def test_ledger_api_and_terminal_agree_with_the_server_over_all_four_roles(
    scene: Scene, tmp_path: Path
) -> None:
    ledger = in_ledger(scene)
    assert {run_id: total for run_id, (total, _) in ledger.items()} == scene.truth
    played = {scene.kinds[run_id]: roles for run_id, (_, roles) in ledger.items()}
    assert played == {
        "sprints": {"agent", "judge"},
        "loops": {"director", "judge"},
        "answers": {"answer", "judge"},
    }
    with scene.service.client() as client:
        for run_id, total in scene.truth.items():
            assert Total.read(ok(client.get(f"/runs/{run_id}"))["usage"]) == total
            usage = ok(client.get(f"/runs/{run_id}/usage"))
            assert Total.read(usage["total"]) == total
            assert Total.sum(map(Total.read, usage["parts"])) == total
            events = ok(client.get(f"/runs/{run_id}/events", params={"limit": 1000}))["events"]
            (done,) = [each["data"] for each in events if each["event"] == "workflow.completed"]
            assert Total.read(done["usage"]) == total
            in_words = run_command(scene.service, tmp_path, "usage", run_id, "--json")
            assert Total.read(json.loads(in_words.stdout)["total"]) == total, in_words.stderr
            shown = run_command(scene.service, tmp_path, "show", run_id).stdout
            tokens = total.input_tokens + total.output_tokens
            assert f"{tokens:,} tokens in {total.requests} requests" in shown
            assert f"${total.cents / 100:.2f}" in shown


def test_day_and_metrics_are_the_sum_of_the_runs(scene: Scene) -> None:
    whole = Total.sum(scene.truth.values())
    with scene.service.client() as client:
        usage = ok(client.get(f"/runs/{next(iter(scene.truth))}/usage"))
        (day,) = [each for each in usage["budgets"] if each["scope"] == "installation_day"]
        assert round(day["spent"] * 100, 6) == whole.cents
        spend = ok(client.get("/metrics"))["spend"]
    assert round(spend["cost_usd"]["total"] * 100, 6) == whole.cents
    assert (spend["input_tokens"]["total"], spend["output_tokens"]["total"]) == (
        whole.input_tokens,
        whole.output_tokens,
    )


def test_traces_hold_one_span_for_each_request_with_the_same_figures(scene: Scene) -> None:
    deadline = time.monotonic() + PATIENCE
    for run_id, total in scene.truth.items():
        while len(scene.collector.of_run(run_id)) < total.requests and time.monotonic() < deadline:
            time.sleep(0.1)
        spans = scene.collector.of_run(run_id)
        read = [
            Total.of(
                1,
                each["gen_ai.usage.input_tokens"],
                each["gen_ai.usage.output_tokens"],
                each["operation.cost"],
            )
            for each in spans
        ]
        assert Total.sum(read) == total
        assert {each["gen_ai.request.model"] for each in spans} == {"gpt-5"}
    every = [each for each in scene.collector.spans if each.get("gen_ai.operation.name") == "chat"]
    assert len(every) == len(scene.server.requests)
    shown = str(scene.collector.spans)
    for secret in ("half(8) must be 4.", "Write about tea.", "3 francs", "a-key"):
        assert secret not in shown


def test_the_page_shows_the_same_sums(scene: Scene, new_page_on: NewPageOn) -> None:
    watched = new_page_on(scene.service.url)
    page = watched.page
    for run_id, total in scene.truth.items():
        watched.open(f"/{scene.kinds[run_id]}/{run_id}")
        tokens = total.input_tokens + total.output_tokens
        cost = page.get_by_title(f"{tokens:,} tokens in {total.requests} requests", exact=True).first
        expect(cost).to_have_text(f"${total.cents / 100:.2f}")
        page.get_by_text("Cost by attempt and model, and budgets").click()
        rows = page.get_by_role("table").filter(has_text="Tokens out").locator("tbody tr")
        expect(rows.first).to_be_visible()
        cells = [each.locator("td").all_inner_texts() for each in rows.all()]
        figures = [[int(re.sub(r"\D", "", each)) for each in row[3:]] for row in cells]
        sums = [sum(each) for each in zip(*figures, strict=True)]
        assert sums[1:] == [total.input_tokens, total.output_tokens, total.requests]
        # Each row is rounded to cents by itself.
        assert abs(sums[0] - total.cents) <= len(cells) / 2
    watched.audit()


def test_parts_of_an_attempt_hold_each_model_request_in_its_place(
    scene: Scene, new_page_on: NewPageOn
) -> None:
    (sprint,) = [run_id for run_id, kind in scene.kinds.items() if kind == "sprints"]
    with scene.service.client() as client:
        asked = ok(client.get(f"/runs/{sprint}/attempts/coding/1/model-requests"))["items"]
    assert len(asked) == scene.truth[sprint].requests
    watched = new_page_on(scene.service.url)
    page = watched.page
    watched.open(f"/sprints/{sprint}?phase=coding&attempt=1")
    page.get_by_text("Where the time of coding attempt 1 went").click()
    parts = page.get_by_role("list", name="Parts of the attempt").get_by_role("listitem")
    expect(parts.filter(has_text="gpt-5")).to_have_count(len(asked))
    # Numbered as the tabs of the candidates are; what the choice between them cost is about both.
    named = [
        "gpt-5, judge"
        if each["candidate"] is None
        else f"#{each['candidate'] + 1} gpt-5{'' if each['role'] == 'agent' else ', evaluator'}"
        for each in asked
    ]
    assert set(named) == {
        *(f"#{number} gpt-5{role}" for number in (1, 2) for role in ("", ", evaluator")),
        "gpt-5, judge",
    }
    shown = [text.splitlines()[0] for text in parts.filter(has_text="gpt-5").all_inner_texts()]
    assert shown == named, "in the order of their time"
    expect(parts.filter(has_text=re.compile("^#[12] pytest"))).to_have_count(0)
    expect(parts.filter(has_text="between tools")).to_have_count(0)
    assert "gpt-5" in parts.first.inner_text(), "an attempt begins with a request"
    watched.audit()
    watched.shoot("parts-with-model-requests")
    request = parts.filter(has_text="gpt-5, judge").last.get_by_role("link")
    request.click()
    expect(page).to_have_url(re.compile(r"#L\d+\.0$"))
    line = page.url.rpartition("#L")[2]
    expect(page.locator(f"[data-line='{line}']")).to_be_in_viewport()


def test_the_installed_agent_was_metered_by_the_gateway(scene: Scene) -> None:
    (sprint,) = [run_id for run_id, kind in scene.kinds.items() if kind == "sprints"]
    with scene.service.client() as client:
        parts = ok(client.get(f"/runs/{sprint}/usage"))["parts"]
    candidates = {each["candidate"] for each in parts if each["role"] == "agent"}
    assert candidates == {0, 1}
    assert "reported" not in {each["provider"] for each in parts}
