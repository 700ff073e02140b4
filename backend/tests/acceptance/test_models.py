"""Sprints with the pydantic-ai agent on the real service, against a model server on loopback."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from llmock.scenarios import Fail

from tests.acceptance.projects import BROKEN, MENDED, PLAN, WORSE, make_repository
from tests.acceptance.server import Service, ok, serving, until_rest
from tests.llmock import (
    ANTHROPIC,
    KEY,
    OPENAI_CHAT,
    Conversation,
    ModelServer,
    call,
    say,
    two_attempts,
)

CODING = "You are in the coding phase"
CONVERSATIONS = (
    Conversation(
        (
            call("read_file", path="shares.py"),
            call("write_file", path="implementation_plan.md", content=PLAN),
            say("Discovery Complete"),
        ),
        contains=("You are in the discovery phase",),
    ),
    *two_attempts(
        task=CODING,
        feedback="FIX:",
        bad=(
            call("write_file", path="shares.py", content=WORSE),
            call("run_tests"),
            say("I did it. Coding Complete"),
        ),
        good=(
            call("edit_file", path="shares.py", old="amount // 4", new="amount // 2"),
            call("edit_file", path="shares.py", old="import os\n\n\n", new=""),
            call("run_tests"),
            say("Mended. Coding Complete"),
        ),
    ),
    Conversation(
        (call("run_tests"), say("All pass. VERIFICATION_SUCCESS")),
        contains=("You are in the verification phase",),
    ),
)


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with ModelServer(*CONVERSATIONS) as running:
        yield running


@pytest.fixture(scope="module")
def service(
    module_database_url: str, models: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    env = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": models.base_url("openai"),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": models.base_url("anthropic"),
        "EVALUATOR_MODEL": ANTHROPIC,
        "MODEL_UNAVAILABLE_SECONDS": "2",
    }
    with serving(module_database_url, tmp_path_factory.mktemp("models"), env=env) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def start(client: httpx.Client, repo: Path, model: str, **more: object) -> str:
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": {"backend": "auto", "model": model},
        **more,
    }
    return ok(client.post("/sprints", json=body))["id"]


@pytest.mark.parametrize("model", [ANTHROPIC, OPENAI_CHAT])
def test_a_model_is_told_what_failed_and_mends_it(
    model: str, service: Service, models: ModelServer, repo: Path
) -> None:
    models.converse(*CONVERSATIONS)
    with service.client() as client:
        ended = until_rest(client, start(client, repo, model))
        assert ended["status"] == "completed", ended["status_reason"]
        assert ended["scripted"] is False
        coding = [each for each in ended["attempts"] if each["phase"] == "coding"]
        assert [each["verdict"] for each in coding] == ["failed", "passed"]
        assert coding[-1]["usage"]["tool_calls"] == 3
        assert ended["usage"]["input_tokens"] > 0
        # No conversation fits what the judges ask, so they reach no verdict; advisers do not decide.
        advice = [each for each in coding[-1]["evaluations"] if not each["gate"]]
        assert advice
        assert {each["status"] for each in advice} == {"errored"}
        patch = client.get(f"/runs/{ended['id']}/result.patch").text
        assert "-    return amount // 3" in patch
        assert "+    return amount // 2" in patch
    assert (repo / "shares.py").read_text() == BROKEN
    assert MENDED != BROKEN


def test_a_rejected_key_waits_for_a_human_and_goes_on_afterwards(
    service: Service, models: ModelServer, repo: Path
) -> None:
    models.converse(*CONVERSATIONS)
    models.add(Fail(401))
    with service.client() as client:
        waiting = until_rest(client, start(client, repo, OPENAI_CHAT, phases=["discovery"]))
        assert waiting["status"] == "waiting"
        assert waiting["escalations"][0]["reason_kind"] == "agent_unavailable"
        assert [each["number"] for each in waiting["attempts"]] == [1]
        url = f"/escalations/{waiting['escalations'][0]['id']}/resolve"
        ok(client.post(url, json={"decision": "retry"}))
        ended = until_rest(client, waiting["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        assert [(each["number"], each["verdict"]) for each in ended["attempts"]] == [(1, "passed")]


def test_an_outage_is_retried_under_the_same_number_until_a_human_is_asked(
    service: Service, models: ModelServer, repo: Path
) -> None:
    models.converse(*CONVERSATIONS)
    models.add(Fail(500, times=None))
    with service.client() as client:
        waiting = until_rest(client, start(client, repo, OPENAI_CHAT, phases=["discovery"]))
        assert waiting["escalations"][0]["reason_kind"] == "agent_unavailable"
        attempt = waiting["attempts"][0]
        assert (attempt["number"], attempt["agent_failures"], attempt["verdict"]) == (1, 0, None)
        events = ok(client.get(f"/runs/{waiting['id']}/events", params={"limit": 1000}))["events"]
        failed = [each["data"]["retry_in_seconds"] for each in events if each["event"] == "agent.failed"]
        assert len(failed) > 1
        # The last one names no next try, because a human is asked.
        assert [each is None for each in failed] == [False] * (len(failed) - 1) + [True]


def test_a_passing_outage_uses_up_no_attempt(service: Service, models: ModelServer, repo: Path) -> None:
    models.converse(*CONVERSATIONS)
    models.add(Fail(429, retry_after=2))
    with service.client() as client:
        ended = until_rest(client, start(client, repo, OPENAI_CHAT, phases=["discovery"]))
        assert ended["status"] == "completed", ended["status_reason"]
        attempt = ended["attempts"][0]
        assert (attempt["number"], attempt["agent_failures"], attempt["verdict"]) == (1, 0, "passed")
