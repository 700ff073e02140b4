"""What a model is told in each role of a sprint, a loop and an answer, as its server receives it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, write_file
from app.gateway.scripted.server import Play, ScriptedModelServer
from tests.acceptance.projects import BROKEN, MENDED, PLAN, make_repository
from tests.acceptance.server import BACKEND, Service, ok, serving, until_rest
from tests.acceptance.test_loops_and_answers import run as run_command
from tests.scripted_models import Roles, asked, gives, judges, model_server, role_asked, role_of

MODEL = "openai-chat:gpt-4.1"
MAX_OUTPUT_TOKENS, TEMPERATURE = 4321, 0.25
DOCUMENTED = BACKEND.parent / "docs" / "loops.md"
WAYS = (MENDED, MENDED.replace("amount // 2", "int(amount / 2)"))


class Changing:
    """A model whose part a test changes."""

    play: Play = Roles()

    def __call__(self, request: ScriptedRequest) -> Turn:
        return self.play(request)


@dataclass
class Scene:
    """A service, and the model that all its roles ask."""

    service: Service
    server: ScriptedModelServer
    model: Changing

    def plays(self, roles: Roles) -> None:
        """Forget what was asked, and play other roles."""
        self.server.requests.clear()
        self.model.play = roles

    def told(self, role: str) -> list[str]:
        """What a role was told, request by request."""
        found = [each for each in self.server.requests if role_asked(each) == role]
        for each in (each.body for each in found):
            assert each["temperature"] == TEMPERATURE
            assert each.get("max_completion_tokens", each.get("max_tokens")) == MAX_OUTPUT_TOKENS
        return [asked(each) for each in found]


@pytest.fixture(scope="module")
def scene(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    model = Changing()
    with model_server(model) as server:
        env = {
            "OPENAI_API_KEY": "a-key",
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "AGENT_MODEL": MODEL,
            "EVALUATOR_MODEL": MODEL,
            "MODEL_MAX_OUTPUT_TOKENS": str(MAX_OUTPUT_TOKENS),
            "MODEL_TEMPERATURE": str(TEMPERATURE),
        }
        with serving(module_database_url, tmp_path_factory.mktemp("received"), env=env) as running:
            yield Scene(running, server, model)


def holds(text: str, *wanted: str) -> None:
    missing = [each for each in wanted if each not in text]
    assert not missing, f"{missing} is not in: {text}"


def opinion(feedback: str, *, success: bool) -> Turn:
    return gives(feedback=feedback, violations=[], suggestions=[], success=success)


def test_both_roles_of_the_documented_loop_receive_its_goal_and_inputs(scene: Scene, tmp_path: Path) -> None:
    found = re.search(r"```xml\n(.+?)```", DOCUMENTED.read_text(), re.DOTALL)
    assert found
    tone = '<inputs><input name="topic"/><input name="tone">dry</input></inputs>'
    (tmp_path / "limerick.xml").write_text(found[1].replace('<inputs><input name="topic"/></inputs>', tone))
    proposals = (gives(content="There was a database"), gives(content="There once was an elephant"))
    verdicts = (opinion("The rhyme is missing", success=False), opinion("It rhymes", success=True))
    scene.plays(Roles(others={"director": proposals, "evaluator": verdicts}))
    asked_for = ("--input", "topic=Postgres", "--query", "For a birthday card")
    done = run_command(scene.service, tmp_path, "loop", "limerick.xml", *asked_for)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "There once was an elephant" in done.stdout

    common = ("Write a limerick about Postgres", "| dry", "| For a birthday card")
    first, second = scene.told("director")
    holds(first, *common, "Write it. Use the feedback.", "This is iteration 1")
    holds(second, *common, "Write it. Use the feedback.", "This is iteration 2", "| The rhyme is missing")
    assert "The rhyme is missing" not in first
    before, after = scene.told("evaluator")
    holds(before, *common, "Five lines, rhyme AABBA?", "| There was a database")
    holds(after, *common, "Five lines, rhyme AABBA?", "| There once was an elephant")
    assert len(scene.server.requests) == 4


def test_a_directors_subtask_receives_its_own_description_and_the_result_returns(
    scene: Scene, tmp_path: Path
) -> None:
    wanted = {"description": "Find the load that 6 metres have to bear.", "may_iterate": False}
    proposals = (
        gives(content="so far", subtask=wanted),
        gives(content="45 kN"),
        gives(content="A bridge for 45 kN"),
    )
    scene.plays(Roles(others={"director": proposals, "evaluator": (opinion("Good", success=True),)}))
    definition: dict[str, Any] = {
        "description": "Design a bridge.",
        "director": {"description": "Draw it."},
        "evaluator": {
            "description": "Does it stand?",
            "inputs": [{"name": "drawing", "from": "director_result"}],
        },
    }
    with scene.service.client() as client:
        body = {"definition": definition, "name": "bridge"}
        loop = until_rest(client, ok(client.post("/loops", json=body))["id"])
    assert loop["status"] == "completed", loop["status_reason"]
    first, below, last = scene.told("director")
    holds(first, "Design a bridge.", "Draw it.")
    holds(below, "Find the load that 6 metres have to bear.")
    holds(last, "Design a bridge.", "Draw it.", '"content":"45 kN"')
    assert any("| A bridge for 45 kN" in each for each in scene.told("evaluator"))


def test_writer_and_evaluator_of_an_answer_receive_query_evidence_rules_and_faults(
    scene: Scene, tmp_path: Path
) -> None:
    analysis = {"summary": "a price list", "findings": [], "gaps": []}
    texts = (gives(analysis=analysis, answer="3"), gives(analysis=analysis, answer="3 francs"))
    verdicts = (judges("completeness", issue="the currency is missing"), judges())
    scene.plays(Roles(others={"writer": texts, "answer_evaluator": verdicts}))
    (tmp_path / "prices.md").write_text("price list: 3 francs\n")
    given = ("--entry", "@prices.md", "--rule", "Prices name their currency.")
    done = run_command(scene.service, tmp_path, "answer", "What does the soup cost?", *given)
    assert (done.returncode, done.stdout.strip().splitlines()[-1]) == (0, "3 francs"), done.stderr

    common = ("What does the soup cost?", "price list: 3 francs", "Prices name their currency.")
    first, second = scene.told("writer")
    holds(first, *common)
    holds(second, *common, "This is attempt 2", "the currency is missing", "| 3")
    assert "the currency is missing" not in first
    before, after = scene.told("answer_evaluator")
    holds(before, *common, "| 3", "a price list")
    holds(after, *common, "| 3 francs", "the currency is missing")
    assert len(scene.server.requests) == 4


class TwoWays(Roles):
    """A model whose agents solve the task in two ways, so that a judge has to choose."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def __call__(self, request: ScriptedRequest) -> Turn:
        if role_of(request) != "agent":
            return super().__call__(request)
        if request.turns > 0:
            return Say("Coding Complete")
        return write_file("shares.py", WAYS[next(self._numbers) % len(WAYS)])


def test_agents_advisers_and_the_judge_of_a_sprint_receive_the_goal_and_the_work(
    scene: Scene, tmp_path: Path
) -> None:
    scene.plays(TwoWays())
    goal = "half(8) must be 4, for the shareholders' letter."
    body = {
        "goal": goal,
        "source": {"kind": "local", "path": str(make_repository(tmp_path / "project"))},
        "agent": {"backend": "pydantic-ai", "model": MODEL, "candidates": 2},
        "phases": ["coding"],
    }
    with scene.service.client() as client:
        run = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = ok(client.get(f"/runs/{run['id']}/attempts"))
    for text in scene.told("agent"):
        holds(text, "You are in the coding phase", goal)
    removed = f"-{BROKEN.splitlines()[-1]}"
    added = [f"+{each.splitlines()[-1]}" for each in WAYS]
    advised = scene.told("adviser")
    for text in advised:
        holds(text, goal, f"| {removed}", "results of the tools", "pytest: passed")
        assert sum(f"| {each}" in text for each in added) == 1
    (chosen,) = scene.told("judge")
    holds(chosen, goal, *(f"| {each}" for each in added), "Coding Complete")
    assert "it is shorter" in attempt["choice_reason"]
    assert {each["status"] for each in attempt["evaluations"] if not each["gate"]} == {"passed"}
    assert "unknown" not in map(role_asked, scene.server.requests)


def test_the_agent_of_discovery_receives_what_a_plan_needs_and_what_its_plan_lacks(
    scene: Scene, tmp_path: Path
) -> None:
    plan = "implementation_plan.md"
    done = Say("Discovery Complete")

    def plays(request: ScriptedRequest) -> Turn:
        if request.turns > 0:
            return done
        is_told = any("are needed" in each.text for each in request.lines)
        return write_file(plan, PLAN if is_told else "# Plan\n\n1. Divide by two.\n")

    scene.server.requests.clear()
    scene.model.play = plays
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(tmp_path / "project"))},
        "agent": {"backend": "pydantic-ai", "model": MODEL},
        "phases": ["discovery"],
        "policy": {"deterministic_only": True},
    }
    with scene.service.client() as client:
        run = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        assert run["status"] == "completed", run["status_reason"]
        attempts = ok(client.get(f"/runs/{run['id']}/attempts"))
    assert [each["verdict"] for each in attempts] == ["failed", "passed"]
    prompts = scene.told("agent")
    for text in prompts:
        holds(text, "at least 30 words, 15 of them different, and a list of at least 2 steps")
    lacks = [f"{plan} has 3 words besides its headings, and 30 are needed" in each for each in prompts]
    assert lacks == [False, False, True, True]
