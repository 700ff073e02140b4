"""Models that are small, limited, cut off or away: nudged, waited for, and their work is kept."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.gateway.scripted.requests import ScriptedRequest
from app.gateway.scripted.script import Say, Turn, call_tool, run_shell, write_file
from app.gateway.scripted.server import Mode, Play, ScriptedModelServer
from tests.acceptance.projects import MENDED, make_repository
from tests.acceptance.server import Service, free_port, ok, serving, until_rest
from tests.acceptance.test_conversations import acp_profile, command_profile
from tests.acceptance.test_installed_agents import PROFILE
from tests.patience import until
from tests.scripted_models import Roles, asked, gives, judges, model_server, role_asked, role_of

MODEL = "openai-chat:gpt-5"
NUDGE = "No file was changed: what you wrote in your message is not in the workspace."
WRITES = write_file("shares.py", MENDED)
SHELL_WRITES = run_shell(f"cat > shares.py <<'END'\n{MENDED}END\n")
DONE = Say("Coding Complete")
IDLE = Say("I would divide by two.")
CALL_AS_TEXT = Say('{"name": "write_file", "arguments": {"path": "shares.py", "content": "..."}}')
FEW_REQUESTS = 4


@dataclass
class Scene:
    """A service whose provider is wherever a test starts it."""

    service: Service
    port: int

    def provider(self, script: Sequence[Turn] | Play) -> AbstractContextManager[ScriptedModelServer]:
        """Start the provider."""
        return model_server(script, self.port)


@pytest.fixture(scope="module")
def scene(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    place, port = tmp_path_factory.mktemp("weak models"), free_port()
    profiles = PROFILE + acp_profile("speaks-acp", "0") + command_profile("resumes")
    (place / "agents.toml").write_text(profiles.replace('"scripted-model"', '"gpt-5"'))
    env = {
        "OPENAI_API_KEY": "a-key",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "AGENTS_FILE": str(place / "agents.toml"),
        "AGENT_MODEL": MODEL,
        "AGENT_MAX_REQUESTS": str(FEW_REQUESTS),
        "EVALUATOR_MODEL": MODEL,
        "EVALUATOR_RUN_DETERMINISTIC_ONLY": "true",
    }
    with serving(module_database_url, place / "data", env=env) as running:
        yield Scene(running, port)


def sprint(client: httpx.Client, place: Path, agent: str = "pydantic-ai", **policy: object) -> str:
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(make_repository(place / "project"))},
        "agent": {"backend": agent, "model": MODEL if agent == "pydantic-ai" else "gpt-5"},
        "phases": ["coding"],
        "policy": policy,
    }
    return str(ok(client.post("/sprints", json=body))["id"])


def attempts(client: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    return list(ok(client.get(f"/runs/{run_id}/attempts")))


def starts(client: httpx.Client, run_id: str) -> list[tuple[bool, bool]]:
    """Of each start of an attempt, whether it had begun before, and whether its worker was lost."""
    events = ok(client.get(f"/runs/{run_id}/events", params={"limit": 1000}))["events"]
    begun = [each["data"] for each in events if each["event"] == "attempt.started"]
    return [(each["resumed"], each["taken_over"]) for each in begun]


def patch(client: httpx.Client, run_id: str) -> str:
    return client.get(f"/runs/{run_id}/result.patch").text


def prompts(server: ScriptedModelServer) -> list[str]:
    """What the agent was told, request by request."""
    return [asked(each) for each in server.requests if role_asked(each) == "agent"]


@pytest.mark.parametrize(
    ("agent", "turns", "nudged"),
    [
        pytest.param("pydantic-ai", (CALL_AS_TEXT, WRITES, DONE), [0, 1, 1], id="a tool call as text"),
        pytest.param("pydantic-ai", (IDLE, WRITES, DONE), [0, 1, 1], id="no tool called"),
        pytest.param(
            "pydantic-ai", (call_tool("list_files"), DONE, WRITES, DONE), [0, 0, 1, 1], id="only looked"
        ),
        pytest.param("pydantic-ai", (WRITES, DONE), [0, 0], id="changed a file"),
        pytest.param("speaks-acp", (IDLE, SHELL_WRITES, DONE), [0, 1, 1], id="acp"),
        pytest.param("speaks-acp", (SHELL_WRITES, DONE), [0, 0], id="acp, changed a file"),
        pytest.param("resumes", (IDLE, SHELL_WRITES, DONE), [0, 1, 1], id="a command that resumes"),
        pytest.param("resumes", (SHELL_WRITES, DONE), [0, 0], id="such a command, changed a file"),
    ],
)
def test_an_agent_that_changed_nothing_is_nudged_before_its_attempt_counts(
    scene: Scene, tmp_path: Path, agent: str, turns: Sequence[Turn], nudged: list[int]
) -> None:
    with scene.provider(turns) as server, scene.service.client() as client:
        run = until_rest(client, sprint(client, tmp_path, agent))
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = attempts(client, run["id"])
        assert (attempt["number"], attempt["verdict"]) == (1, "passed")
        assert "+    return amount // 2" in patch(client, run["id"])
        assert [each.count(NUDGE) for each in prompts(server)] == nudged


@pytest.mark.parametrize(
    ("agent", "nudged", "told"),
    [
        pytest.param("pydantic-ai", [0, 1, 0, 1], [False, True, True, True], id="built-in"),
        pytest.param("speaks-acp", [0, 1, 0, 1], [False, True, True, True], id="acp"),
        pytest.param("resumes", [0, 1, 0, 1], [False, True, True, True], id="a command that resumes"),
        pytest.param("tiny", [0, 0], [False, True], id="a command that cannot"),
    ],
)
def test_an_agent_that_never_changes_a_file_is_told_so_and_so_are_people(
    scene: Scene, tmp_path: Path, agent: str, nudged: list[int], told: list[bool]
) -> None:
    with scene.provider((CALL_AS_TEXT,)) as server, scene.service.client() as client:
        run = until_rest(client, sprint(client, tmp_path, agent, max_attempts=2))
        assert run["status"] == "waiting"
        assert [each["verdict"] for each in attempts(client, run["id"])] == ["failed", "failed"]
        (escalation,) = run["escalations"]
        assert escalation["reason"].endswith("No file was changed"), escalation["reason"]
        assert [each.count(NUDGE) for each in prompts(server)] == nudged
        assert ["No file was changed" in each for each in prompts(server)] == told
        retried = ok(client.get(f"/runs/{run['id']}/attempts/coding/2"))["prompt"]
        assert "No file was changed. Only files that are in the workspace count." in retried


def test_work_before_a_limit_is_judged_and_shown(scene: Scene, tmp_path: Path) -> None:
    def goes_on(request: ScriptedRequest) -> Turn:
        return WRITES if request.turns == 0 else call_tool("read_file", path="shares.py", first=request.turns)

    with scene.provider(goes_on) as server, scene.service.client() as client:
        run = until_rest(client, sprint(client, tmp_path))
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = attempts(client, run["id"])
        assert (attempt["number"], attempt["verdict"], attempt["agent_failures"]) == (1, "passed", 0)
        assert "AGENT_MAX_REQUESTS" in attempt["output"]
        assert attempt["changed_files"] == ["shares.py"]
        assert "+    return amount // 2" in patch(client, run["id"])
        assert len(prompts(server)) == FEW_REQUESTS


@pytest.mark.parametrize(
    ("agent", "mode", "why"),
    [
        pytest.param("pydantic-ai", Mode.CUT, "the connection to the provider failed", id="a cut stream"),
        pytest.param("pydantic-ai", Mode.FAILING, "the server failed", id="a failing server"),
        pytest.param("tiny", Mode.CUT, "the answer broke off", id="a cut stream, through the gateway"),
        pytest.param("tiny", Mode.FAILING, "the server failed", id="a failing server, through the gateway"),
    ],
)
def test_work_before_an_outage_is_kept_and_the_next_try_is_told_why(
    scene: Scene, tmp_path: Path, agent: str, mode: Mode, why: str
) -> None:
    servers: list[ScriptedModelServer] = []

    def breaks_once(request: ScriptedRequest) -> Turn:
        first = len([each for each in servers[0].requests if role_asked(each) == "agent"]) == 1
        if first:
            servers[0].behave(mode)
            return WRITES if agent == "pydantic-ai" else SHELL_WRITES
        return DONE

    with scene.provider(breaks_once) as server, scene.service.client() as client:
        servers.append(server)
        run_id = sprint(client, tmp_path, agent)
        until(lambda: attempts(client, run_id) and attempts(client, run_id)[0]["last_error"])
        (attempt,) = attempts(client, run_id)
        assert attempt["changed_files"] == ["shares.py"], "what was done is kept"
        assert attempt["agent_failures"] == 0
        server.behave(Mode.OK)
        run = until_rest(client, run_id)
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = attempts(client, run_id)
        assert (attempt["number"], attempt["verdict"], attempt["lost_workers"]) == (1, "passed", 0)
        assert attempt["changed_files"] == ["shares.py"], "what was kept is part of the attempt"
        first, *later = starts(client, run_id)
        assert (first, set(later)) == ((False, False), {(True, False)}), "nothing was taken over"
        assert "+    return amount // 2" in patch(client, run_id)
        told = next(each for each in reversed(prompts(server)) if "Its changes are in the workspace." in each)
        assert why in told, told
        assert NUDGE not in told, "the change is there already"


KINDS = {
    "loops": {
        "definition": {
            "description": "Write about tea.",
            "director": {"description": "Write."},
            "evaluator": {"description": "Judge."},
        }
    },
    "answers": {"query": "What does it cost?", "entries": ["prices: 3 francs"]},
}
WELL = {
    "director": (gives(content="Assam"),),
    "evaluator": (gives(feedback="Good", violations=[], suggestions=[], success=True),),
    "writer": (gives(analysis={"summary": "", "findings": [], "gaps": []}, answer="3 francs"),),
    "answer_evaluator": (judges(),),
}
ROLES = [
    pytest.param("loops", "director", "the model of the director", id="director"),
    pytest.param("loops", "evaluator", "the model of the evaluator", id="evaluator"),
    pytest.param("answers", "writer", "the model", id="writer"),
    pytest.param("answers", "answer_evaluator", "the model", id="evaluator of answers"),
]


class Fails(Roles):
    """A model that plays all roles well, and fails in one way whenever it is asked in one role."""

    def __init__(self, role: str, mode: Mode) -> None:
        super().__init__(others=WELL)
        self.server: ScriptedModelServer | None = None
        self._before = {"evaluator": "director", "answer_evaluator": "writer"}.get(role)
        self._mode = mode

    def __call__(self, request: ScriptedRequest) -> Turn:
        if self.server is not None and role_of(request) == self._before:
            self.server.behave(self._mode)
            self.server = None
        return super().__call__(request)

    def begin(self, server: ScriptedModelServer) -> None:
        """Fail at once, or after the role before."""
        if self._before is None:
            server.behave(self._mode)
        else:
            self.server = server


@pytest.mark.parametrize(("kind", "role", "whose"), ROLES)
@pytest.mark.parametrize(
    ("mode", "waits"),
    [
        pytest.param(Mode.FAILING, "which is unavailable", id="500"),
        pytest.param(Mode.CUT, "which is unavailable", id="cut"),
        pytest.param(Mode.RATE_LIMITED, "waits for the provider until", id="429"),
    ],
)
def test_loops_and_answers_wait_for_a_model_and_use_up_nothing(
    scene: Scene, kind: str, role: str, whose: str, mode: Mode, waits: str
) -> None:
    model = Fails(role, mode)
    with scene.provider(model) as server, scene.service.client() as client:
        server.reset_seconds = 3600.0
        model.begin(server)
        run_id = _start(client, kind)

        def waiting() -> bool:
            reason = ok(client.get(f"/runs/{run_id}"))["status_reason"] or ""
            return waits in reason and (mode is Mode.RATE_LIMITED or whose in reason)

        until(waiting)
        assert ok(client.get(f"/runs/{run_id}"))["status"] == "active"
        server.behave(Mode.OK)
        # A limit that ends in an hour is not waited for here; otherwise this only saves a moment.
        client.post(f"/runs/{run_id}/resume")
        run = until_rest(client, run_id)
        assert run["status"] == "completed", run["status_reason"]
        (attempt,) = attempts(client, run_id)
        counted = [attempt[each] for each in ("agent_failures", "evaluation_failures", "lost_workers")]
        assert (attempt["number"], attempt["verdict"], counted) == (1, "passed", [0, 0, 0])
        assert not any(taken_over for _, taken_over in starts(client, run_id))


@pytest.mark.parametrize("kind", ["sprints", *KINDS])
def test_a_server_that_is_not_there_yet_is_waited_for(scene: Scene, tmp_path: Path, kind: str) -> None:
    with scene.service.client() as client:
        run_id = sprint(client, tmp_path) if kind == "sprints" else _start(client, kind)
        until(lambda: "which is unavailable" in (ok(client.get(f"/runs/{run_id}"))["status_reason"] or ""))
        with scene.provider(Roles((WRITES, DONE), WELL)):
            run = until_rest(client, run_id)
            assert run["status"] == "completed", run["status_reason"]
        (attempt,) = attempts(client, run_id)
        counted = [attempt[each] for each in ("agent_failures", "evaluation_failures", "lost_workers")]
        assert (attempt["number"], attempt["verdict"], counted) == (1, "passed", [0, 0, 0])


def _start(client: httpx.Client, kind: str) -> str:
    return str(ok(client.post(f"/{kind}", json=KINDS[kind]))["id"])
