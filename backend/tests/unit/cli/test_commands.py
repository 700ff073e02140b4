"""Commands as a user types them, against a service in memory."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.unit.cli.fakes import (
    FakeService,
    Story,
    attempt_view,
    escalation_view,
    invoke,
    problem,
    sprint_detail,
)

EVALUATION = {
    "id": UUID(int=7),
    "evaluator": "pytest",
    "version": "1",
    "category": "functionality",
    "gate": True,
    "status": "failed",
    "passed": False,
    "score": 0.5,
    "feedback": "1 of 2 tests failed\n\x1b[31massert half(8) == 4\x1b[0m\nassert 2 == 4",
    "criteria": [],
    "suggestions": ["test_half: assert 2 == 4"],
    "metadata": {},
    "duration_ms": 1200,
    "trace_id": None,
    "evaluated_at": "2026-11-21T12:00:00Z",
}
PHASE = {"phase": "coding", "status": "waiting", "attempts": 1, "max_attempts": 3, "score": 0.5}


def sent(request: httpx.Request) -> dict[str, Any]:
    return json.loads(request.content)


def accepting(service: FakeService, story: Story | None = None) -> None:
    """Let the service accept sprints, and play `story` for the one that is started."""

    def start(request: httpx.Request) -> httpx.Response:
        body = sent(request)
        changes = {"goal": body["goal"], "name": body.get("name", "unnamed")}
        sprint = service.add(story or Story(), **changes)
        notes = ["2 uncommitted changes are not part of the sprint; they are not touched"]
        return httpx.Response(201, json={**sprint.model_dump(mode="json"), "source": {"notes": notes}})

    service.routes["POST", "/sprints"] = start


class TestList:
    def test_shows_each_sprint_once_over_all_pages(self) -> None:
        service = FakeService(sprints=[sprint_detail(name=f"sprint {n}") for n in range(5)], page_size=2)
        outcome = invoke(service, "list")
        assert outcome.code == 0
        assert [outcome.out.count(f"sprint {n}") for n in range(5)] == [1] * 5

    def test_stops_at_the_limit(self) -> None:
        service = FakeService(sprints=[sprint_detail() for _ in range(9)], page_size=2)
        assert len(invoke(service, "list", "--limit", "3", "--json").document) == 3

    def test_says_what_to_do_when_there_is_none(self) -> None:
        outcome = invoke(FakeService(), "list")
        assert (outcome.code, outcome.out) == (0, "")
        assert "phaserunner run" in outcome.err

    def test_names_cannot_steer_the_terminal(self) -> None:
        service = FakeService(sprints=[sprint_detail(name="\x1b[2J[red]x[/red]")])
        out = invoke(service, "list").out
        assert "\x1b" not in out
        assert "[red]x[/red]" in out

    def test_a_status_that_does_not_exist_is_a_usage_error(self) -> None:
        outcome = invoke(FakeService(), "list", "--status", "sleeping")
        assert outcome.code == 2
        assert "sleeping" in outcome.err
        assert outcome.err.count("\n") == 1


class TestShow:
    def test_shows_the_evidence_of_what_failed(self) -> None:
        attempt = attempt_view(evaluations=[EVALUATION])
        service = FakeService(sprints=[sprint_detail(phases=[PHASE], attempts=[attempt])])
        out = invoke(service, "show", str(service.sprints[0].id)[:6]).out
        assert "✗ failed pytest (gate, 0.50, 1.2 s)" in out
        assert "assert half(8) == 4" in out
        assert "\x1b" not in out

    def test_says_that_a_script_did_the_work(self) -> None:
        service = FakeService(sprints=[sprint_detail(scripted=True)])
        assert "A script, not a model" in invoke(service, "show", str(service.sprints[0].id)).out

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            pytest.param("abc", "at least its first 6", id="too short"),
            pytest.param("not-an-id", "not an id", id="no id"),
            pytest.param("ffffff", "none has an id", id="nobody's"),
            pytest.param("00000000", "beginning of 2 ids", id="ambiguous"),
            pytest.param("../../x", "not an id", id="a path"),
        ],
    )
    def test_ids_that_name_nothing(self, given: str, told: str) -> None:
        service = FakeService(sprints=[sprint_detail(UUID(int=1)), sprint_detail(UUID(int=2))])
        outcome = invoke(service, "show", given)
        assert outcome.code == 2
        assert told in outcome.err


class TestCancel:
    def test_sends_the_reason(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        sprint_id = service.sprints[0].id
        service.routes["POST", f"/sprints/{sprint_id}/cancel"] = lambda request: httpx.Response(200, json={})
        assert invoke(service, "cancel", str(sprint_id), "--reason", "enough").code == 0
        assert sent(service.requests[-1]) == {"reason": "enough"}

    def test_one_that_is_over_cannot_be_cancelled(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        sprint_id = service.sprints[0].id
        refuse = problem(409, "the sprint is completed")
        service.routes["POST", f"/sprints/{sprint_id}/cancel"] = lambda request: refuse
        outcome = invoke(service, "cancel", str(sprint_id))
        assert (outcome.code, outcome.err) == (1, "phaserunner: the sprint is completed\n")


class TestHolding:
    @pytest.mark.parametrize(
        ("command", "options", "body"),
        [("pause", ["--reason", "lunch"], {"reason": "lunch"}), ("resume", [], {})],
        ids=["pause", "resume"],
    )
    def test_pause_and_resume(self, command: str, options: list[str], body: dict[str, str]) -> None:
        service = FakeService(sprints=[sprint_detail()])
        path = f"/sprints/{service.sprints[0].id}/{command}"
        service.routes["POST", path] = lambda request: httpx.Response(200, json={})
        assert invoke(service, command, str(service.sprints[0].id), *options).code == 0
        assert sent(service.requests[-1]) == body

    def test_one_that_is_paused_already(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        refuse = problem(409, "the sprint is paused since today")
        service.routes["POST", f"/sprints/{service.sprints[0].id}/pause"] = lambda request: refuse
        outcome = invoke(service, "pause", str(service.sprints[0].id))
        assert (outcome.code, outcome.err) == (1, "phaserunner: the sprint is paused since today\n")

    def test_fork_asks_for_what_differs(self) -> None:
        detail = sprint_detail(attempts=[attempt_view()])
        service = FakeService(sprints=[detail])
        made = detail.model_copy(update={"id": UUID(int=7)}).model_dump(mode="json")
        service.routes["POST", f"/sprints/{detail.id}/fork"] = lambda request: httpx.Response(201, json=made)
        outcome = invoke(service, "fork", str(detail.id), "--guidance", "Round up.", "--max-attempts", "5")
        assert (outcome.code, outcome.out.strip()) == (0, str(UUID(int=7)))
        assert sent(service.requests[-1]) == {
            "phase": "coding",
            "attempt": 1,
            "guidance": "Round up.",
            "policy": {"max_attempts": 5},
        }

    def test_fork_of_a_sprint_that_has_changed_nothing(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        outcome = invoke(service, "fork", str(service.sprints[0].id))
        assert (outcome.code, outcome.err) == (
            2,
            "phaserunner: no attempt of the sprint has changed anything yet\n",
        )


MESSAGE: dict[str, Any] = {
    "id": str(UUID(int=9)),
    "event": "escalation.required",
    "receiver": "https://hooks.example",
    "status": "failed",
    "tries": 10,
    "last_error": "answered 500\x1b[2J",
}


class TestWebhooks:
    def test_shows_what_failed_and_why(self) -> None:
        service = FakeService()
        asked: list[str] = []

        def deliveries(request: httpx.Request) -> httpx.Response:
            asked.append(request.url.query.decode())
            return httpx.Response(200, json={"items": [MESSAGE], "next_cursor": None})

        service.routes["GET", "/webhooks/deliveries"] = deliveries
        outcome = invoke(service, "webhooks", "--status", "failed", "--sprint", str(UUID(int=1)))
        assert outcome.code == 0
        assert asked == [f"limit=100&status=failed&run_id={UUID(int=1)}"]
        assert "10 tries  escalation.required   https://hooks.example" in outcome.out
        assert "answered 500" in outcome.out
        assert "\x1b[2J" not in outcome.out

    def test_sends_one_again(self) -> None:
        service = FakeService()
        service.routes["POST", f"/webhooks/deliveries/{UUID(int=9)}/retry"] = lambda _: httpx.Response(
            200, json={**MESSAGE, "status": "pending", "tries": 0}
        )
        outcome = invoke(service, "webhooks", "retry", str(UUID(int=9)))
        assert (outcome.code, outcome.out.strip()) == (
            0,
            f"Message {UUID(int=9)} is sent again to https://hooks.example",
        )


class TestRun:
    def test_starts_watches_and_passes(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.attempt(1, passed=False, feedback="1 of 2 tests failed")
        story.tell("optimization.started", {"next_attempt": 2, "issues": ["mend half()"]}, "coding", 1)
        story.attempt(2, passed=True)
        story.complete()
        accepting(service, story)
        outcome = invoke(service, "run", "Make it work")
        assert outcome.code == 0
        assert "1 of 2 tests failed" in outcome.out
        assert "- mend half()" in outcome.out
        assert outcome.out.count("Attempt 1 of 3") == 1, "events that came twice are shown once"
        assert "\x1b" not in outcome.out

    def test_asks_with_a_key_and_the_given_values_only(self) -> None:
        service = FakeService()
        accepting(service)
        arguments = ("--max-attempts", "2", "--phases", "coding,verification", "--candidates", "2")
        assert invoke(service, "run", "Make it work", "--detach", *arguments).code == 0
        request = service.requests[0]
        assert len(request.headers["Idempotency-Key"]) >= 32
        assert sent(request) == {
            "goal": "Make it work",
            "source": {"kind": "empty"},
            "phases": ["coding", "verification"],
            "agent": {"candidates": 2},
            "policy": {"max_attempts": 2},
        }

    def test_detached_it_prints_the_id(self) -> None:
        service = FakeService()
        accepting(service)
        outcome = invoke(service, "run", "Make it work", "--no-watch")
        assert outcome.out == f"{service.sprints[0].id}\n"

    def test_a_relative_path_is_meant_from_here(self, tmp_path: Path) -> None:
        service = FakeService()
        accepting(service)
        outcome = invoke(
            service, "run", "x", "--repo", "my project", "--ref", "dev", "--detach", cwd=tmp_path
        )
        source = sent(service.requests[0])["source"]
        assert source == {"kind": "local", "path": str(tmp_path / "my project"), "ref": "dev"}
        assert "uncommitted changes are not part of the sprint; they are not touched" in outcome.err

    @pytest.mark.parametrize(
        "url", ["https://example.org/a.git", "ssh://git@host/a", "git@example.org:me/a.git"]
    )
    def test_a_url_is_a_url(self, url: str) -> None:
        service = FakeService()
        accepting(service)
        invoke(service, "run", "x", "--repo", url, "--detach")
        assert sent(service.requests[0])["source"] == {"kind": "git", "url": url}

    def test_the_goal_comes_from_standard_input_or_a_file(self, tmp_path: Path) -> None:
        service = FakeService()
        accepting(service)
        (tmp_path / "goal.md").write_text("from a file")
        invoke(service, "run", "-", "--detach", stdin="from a pipe\n")
        invoke(service, "run", "@goal.md", "--detach", cwd=tmp_path)
        goals = [sent(each)["goal"] for each in service.requests if each.method == "POST"]
        assert goals == ["from a pipe", "from a file"]

    @pytest.mark.parametrize(
        ("arguments", "named"),
        [
            pytest.param([], "GOAL", id="no goal"),
            pytest.param(["  "], "goal", id="blank goal"),
            pytest.param(["@missing.md"], "GOAL", id="no such file"),
            pytest.param(["x\x00y"], "goal", id="control character"),
            pytest.param(["x", "--ref", "main"], "--ref", id="ref without repo"),
            pytest.param(["x", "--phases", "coding,testing"], "--phases", id="unknown phase"),
            pytest.param(["x", "--phases", "verification,coding"], "phases", id="phases out of order"),
            pytest.param(["x", "--max-attempts", "0"], "max-attempts", id="no attempts"),
            pytest.param(["x", "--model", "gpt"], "agent.model", id="model without provider"),
            pytest.param(["x", "--agent", "scripted"], "--agent", id="scripted without script"),
            pytest.param(["x", "--script", "missing.toml"], "script", id="no such script"),
            pytest.param(["x", "--example", "nonsense"], "example", id="unknown example"),
            pytest.param(["x", "--example", "teatime", "--repo", "."], "--example", id="example and repo"),
            pytest.param(["x", "--timeout", "-1"], "timeout", id="negative timeout"),
        ],
    )
    def test_bad_input_is_named_and_nothing_is_sent(
        self, arguments: list[str], named: str, tmp_path: Path
    ) -> None:
        service = FakeService()
        outcome = invoke(service, "run", *arguments, cwd=tmp_path)
        assert outcome.code == 2
        assert named in outcome.err
        assert outcome.err.count("\n") == 1
        assert service.requests == []

    def test_a_field_that_the_service_refuses_is_named(self) -> None:
        service = FakeService()
        refusal = problem(422, "there is no repository", field="source.path")
        service.routes["POST", "/sprints"] = lambda request: refusal
        outcome = invoke(service, "run", "x", "--repo", "/nowhere")
        assert (outcome.code, outcome.err) == (2, "phaserunner: source.path: there is no repository\n")

    def test_a_lost_answer_is_asked_for_again_with_the_same_key(self) -> None:
        service = FakeService()
        accepting(service)
        start = service.routes["POST", "/sprints"]
        lost: list[str] = []

        def lose_the_first(request: httpx.Request) -> httpx.Response:
            lost.append(request.headers["Idempotency-Key"])
            if len(lost) == 1:
                raise httpx.ReadError("connection reset")
            return start(request)

        service.routes["POST", "/sprints"] = lose_the_first
        assert invoke(service, "run", "x", "--detach").code == 0
        assert len(lost) == 2
        assert lost[0] == lost[1]

    def test_an_example_brings_everything(self, tmp_path: Path) -> None:
        service = FakeService()
        accepting(service)
        for _ in range(2):
            outcome = invoke(service, "run", "--example", "teatime", "--detach", cwd=tmp_path)
            assert outcome.code == 0, outcome.err
        first, second = [sent(each) for each in service.requests if each.method == "POST"]
        assert first["agent"]["backend"] == "scripted"
        assert first["agent"]["script"]["phases"]
        assert (Path(first["source"]["path"]) / ".git").is_dir()
        assert first["source"] == second["source"], "the project is made once"


class TestWatch:
    def test_a_question_ends_it_with_three_and_the_exact_commands(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.attempt(1, passed=False)
        escalation = story.escalate()
        sprint = service.add(story)
        outcome = invoke(service, "watch", str(sprint.id))
        assert outcome.code == 3
        assert f"phaserunner escalations resolve {str(escalation)[:8]} --retry" in outcome.out
        assert f"http://127.0.0.1:8000/api/v1/escalations/{escalation}/resolve" in outcome.out

    def test_a_question_that_was_answered_does_not_end_it(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        escalation = story.escalate()
        answer = {"escalation_id": escalation, "decision": "retry", "decided_by": "ada"}
        story.tell("escalation.resolved", answer, "coding", 3)
        story.attempt(4, passed=True)
        story.complete()
        outcome = invoke(service, "watch", str(service.add(story).id))
        assert outcome.code == 0
        assert "escalations resolve" not in outcome.out
        assert "ada decided: retry" in outcome.out

    def test_a_missing_key_is_explained(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.escalate("ANTHROPIC_API_KEY is not set", "agent_unavailable")
        out = invoke(service, "watch", str(service.add(story).id)).out
        assert "set ANTHROPIC_API_KEY or OPENAI_API_KEY" in out

    @pytest.mark.parametrize(
        ("event", "data"),
        [
            ("workflow.failed", {"reason": "coding was rejected", "by": "ada"}),
            ("run.cancelled", {"by": "ada", "reason": "enough"}),
        ],
    )
    def test_failing_and_cancelling_give_one(self, event: str, data: dict[str, Any]) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.tell(event, data)
        assert invoke(service, "watch", str(service.add(story).id)).code == 1

    def test_with_json_the_view_goes_to_standard_error(self) -> None:
        service, story = FakeService(), Story()
        story.begin(scripted=True, agent="script: mends")
        story.attempt(1, passed=True)
        story.complete()
        sprint = service.add(story)
        outcome = invoke(service, "watch", str(sprint.id), "--json")
        assert outcome.document["id"] == str(sprint.id)
        assert "A script, not a model, does the edits" in outcome.err

    def test_a_stream_that_ends_early_is_a_transport_error(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        assert invoke(service, "watch", str(service.add(story).id)).code == 5

    def test_logs_are_complete(self) -> None:
        service, story = FakeService(page_size=3), Story()
        story.begin()
        story.attempt(1, passed=True)
        story.complete()
        sprint = service.add(story)
        lines = invoke(service, "logs", str(sprint.id), "--json").out.splitlines()
        assert [json.loads(line)["sequence"] for line in lines] == list(range(1, len(story.events) + 1))
        assert "write_file tea/duration.py" in invoke(service, "logs", str(sprint.id), "--follow").out


class TestEscalations:
    def resolvable(self, *escalations: Any) -> FakeService:
        service = FakeService(escalations=list(escalations))
        for each in escalations:
            answer = httpx.Response(200, json={**each.model_dump(mode="json"), "status": "resolved"})
            service.routes["POST", f"/escalations/{each.id}/resolve"] = lambda request, a=answer: a
        return service

    def test_alone_it_lists_what_is_open(self) -> None:
        service = FakeService(escalations=[escalation_view(), escalation_view(status="resolved")])
        assert len(invoke(service, "escalations", "--json").document) == 1
        assert len(invoke(service, "escalations", "list", "--status", "any", "--json").document) == 2

    def test_a_retry_carries_everything(self) -> None:
        one = escalation_view()
        service = self.resolvable(one)
        arguments = (
            "--retry",
            "--guidance",
            "-",
            "--attempts",
            "2",
            "--comment",
            "a b.py:5:The divisor: wrong",
        )
        outcome = invoke(
            service, "escalations", "resolve", str(one.id)[:8], *arguments, stdin="Divide by two\n"
        )
        assert outcome.code == 0, outcome.err
        assert sent(service.requests[-1]) == {
            "decision": "retry",
            "guidance": "Divide by two",
            "additional_attempts": 2,
            "line_comments": [{"path": "a b.py", "line": 5, "body": "The divisor: wrong"}],
            "version": 4,
        }

    def test_a_loop_has_an_output_and_no_diff(self) -> None:
        loop = sprint_detail(kind="director_loop", attempts=[attempt_view(phase="loop", output="Which one?")])
        one = escalation_view(run_id=loop.id, kind="director_loop", phase="loop", attempt=1)
        service = self.resolvable(one)
        service.sprints = [loop]
        shown = invoke(service, "escalations", "show", str(one.id)).out
        assert "Which one?" in shown
        assert f"loop    {loop.id}" in shown
        assert "phaserunner diff" not in shown
        assert "The loop goes on" in invoke(service, "escalations", "resolve", "--retry").err

    def test_the_only_open_one_needs_no_name(self) -> None:
        one = escalation_view(run_name="Teatime")
        outcome = invoke(self.resolvable(one), "escalations", "resolve", "--accept")
        assert outcome.code == 0
        assert "Teatime" in outcome.err

    def test_a_sprint_stands_for_its_only_question(self) -> None:
        one, other = escalation_view(), escalation_view()
        service = self.resolvable(one, other)
        assert invoke(service, "escalations", "resolve", str(one.run_id)[:10], "--reject").code == 0
        assert str(one.id) in str(service.requests[-1].url)

    @pytest.mark.parametrize(
        ("count", "arguments", "named"),
        [
            pytest.param(2, ["--accept"], "several escalations are open", id="several open, none named"),
            pytest.param(0, ["--accept"], "no escalation is open", id="none open"),
            pytest.param(1, [], "exactly one of", id="no decision"),
            pytest.param(1, ["--accept", "--reject"], "exactly one of", id="two decisions"),
            pytest.param(1, ["--accept", "--attempts", "2"], "--attempts", id="attempts without retry"),
            pytest.param(1, ["--retry", "--comment", "a.py:x:y"], "--comment", id="comment without line"),
            pytest.param(1, ["--retry", "--comment", "a.py:0:y"], "line_comments", id="line zero"),
            pytest.param(1, ["--retry", "--attempts", "99"], "attempts", id="too many attempts"),
        ],
    )
    def test_unclear_answers_are_refused(self, count: int, arguments: list[str], named: str) -> None:
        service = self.resolvable(*(escalation_view() for _ in range(count)))
        outcome = invoke(service, "escalations", "resolve", *arguments)
        assert outcome.code == 2
        assert named in outcome.err
        assert all(each.method == "GET" for each in service.requests)

    def test_watching_afterwards_shows_what_is_new(self) -> None:
        story = Story()
        story.begin()
        escalation = story.escalate()
        one = escalation_view(id=escalation, run_id=story.run_id)
        service = self.resolvable(one)
        service.add(story)
        accepted = httpx.Response(200, json=one.model_dump(mode="json"))

        def resolve(request: httpx.Request) -> httpx.Response:
            answer = {"escalation_id": escalation, "decision": "accept", "decided_by": "ada"}
            story.tell("escalation.resolved", answer, "coding", 3)
            story.complete()
            return accepted

        service.routes["POST", f"/escalations/{escalation}/resolve"] = resolve
        outcome = invoke(service, "escalations", "resolve", "--accept", "--watch")
        assert outcome.code == 0
        assert "ada decided: accept" in outcome.out
        assert "Phase coding waits" not in outcome.out

    def test_somebody_else_was_quicker(self) -> None:
        one = escalation_view()
        service = self.resolvable(one)
        told = problem(409, "ada resolved it at 12:00: accept", decided_by="ada")
        service.routes["POST", f"/escalations/{one.id}/resolve"] = lambda request: told
        outcome = invoke(service, "escalations", "resolve", "--reject")
        assert (outcome.code, "ada resolved it" in outcome.err) == (1, True)

    def test_show_gives_the_evidence_and_the_commands(self) -> None:
        sprint = sprint_detail(attempts=[attempt_view(number=3, evaluations=[EVALUATION])])
        one = escalation_view(run_id=sprint.id)
        service = FakeService(sprints=[sprint], escalations=[one])
        out = invoke(service, "escalations", "show").out
        assert "assert half(8) == 4" in out
        assert f"diff {str(sprint.id)[:8]} --attempt coding/3" in out


class TestDiff:
    PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"

    def service(self) -> FakeService:
        attempts = [attempt_view(), attempt_view(number=2, started_at="2026-11-21T13:00:00Z")]
        service = FakeService(sprints=[sprint_detail(attempts=attempts)])
        file = {"path": "a.py", "status": "modified", "additions": 1, "deletions": 1, "patch": self.PATCH}
        for number in (1, 2):
            path = f"/sprints/{service.sprints[0].id}/attempts/coding/{number}/diff"
            answer = httpx.Response(200, json={"files": [file], "truncated": False})
            service.routes["GET", path] = lambda request, a=answer: a
        return service

    def test_a_pipe_gets_the_patch_as_it_is(self) -> None:
        service = self.service()
        assert invoke(service, "diff", str(service.sprints[0].id)).out == self.PATCH
        assert service.requests[-1].url.path.endswith("/coding/2/diff")

    def test_an_attempt_can_be_named(self) -> None:
        service = self.service()
        sprint_id = str(service.sprints[0].id)
        arguments = ("--attempt", "coding/1", "--against", "previous")
        assert invoke(service, "diff", sprint_id, *arguments).code == 0
        assert str(service.requests[-1].url).endswith("/coding/1/diff?against=previous")
        outcome = invoke(service, "diff", sprint_id, "--attempt", "coding/9")
        assert (outcome.code, "coding/1, coding/2" in outcome.err) == (2, True)


class TestTrouble:
    @pytest.mark.parametrize(
        ("answer", "code", "told"),
        [
            pytest.param(problem(401, "a token is needed"), 4, "--token", id="no token"),
            pytest.param(problem(403, "the role viewer may not"), 4, "viewer", id="wrong role"),
            pytest.param(problem(503, "the database cannot be reached"), 6, "database", id="unavailable"),
            pytest.param(httpx.Response(500, text="oops"), 5, "check --url", id="not our server"),
            pytest.param(httpx.Response(200, text="<html>"), 5, "JSON", id="another server"),
            pytest.param(httpx.Response(200, json={"items": [{}]}), 5, "same version", id="another version"),
            pytest.param(httpx.Response(302, headers={"Location": "/"}), 5, "redirect", id="redirect"),
        ],
    )
    def test_answers_become_one_line_and_a_code(self, answer: httpx.Response, code: int, told: str) -> None:
        service = FakeService()
        service.routes["GET", "/runs"] = lambda request: answer
        outcome = invoke(service, "list")
        assert outcome.code == code
        assert told in outcome.err
        assert outcome.err.count("\n") == 1

    def test_no_server(self) -> None:
        service = FakeService()

        def refuse(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused")

        service.routes["GET", "/runs"] = refuse
        outcome = invoke(service, "list")
        assert (outcome.code, "phaserunner serve" in outcome.err) == (5, True)

    @pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "\x1b[31m"])
    def test_an_address_that_is_none(self, url: str) -> None:
        outcome = invoke(FakeService(), "list", "--url", url)
        assert (outcome.code, "--url" in outcome.err, "\x1b" in outcome.err) == (2, True, False)

    def test_the_token_is_sent(self) -> None:
        service = FakeService()
        invoke(service, "list", "--token", "secret")
        assert service.requests[0].headers["Authorization"] == "Bearer secret"

    def test_an_interruption_is_130_and_leaves_the_sprint(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        sprint = service.add(story)

        def interrupt(request: httpx.Request) -> httpx.Response:
            raise KeyboardInterrupt

        service.routes["GET", f"/sprints/{sprint.id}"] = interrupt
        assert invoke(service, "watch", str(sprint.id)).code == 130


RESULT = {"branch": "phaserunner/1", "base_commit": "b" * 40, "commit": "c" * 40, "is_final": False}


class TestResult:
    def service(self) -> FakeService:
        service = FakeService(sprints=[sprint_detail()])
        here = f"/sprints/{service.sprints[0].id}/result"
        answers = {
            "": httpx.Response(200, json=RESULT),
            ".patch": httpx.Response(200, content=b"diff \xff\r\n"),
            ".bundle": httpx.Response(200, content=b"not a bundle"),
        }
        for ending, answer in answers.items():
            service.routes["GET", here + ending] = lambda request, a=answer: a
        return service

    def test_files_are_written_byte_for_byte_and_from_here(self, tmp_path: Path) -> None:
        service = self.service()
        sprint_id = str(service.sprints[0].id)
        assert invoke(service, "result", sprint_id, "--patch", "out.patch", cwd=tmp_path).code == 0
        assert (tmp_path / "out.patch").read_bytes() == b"diff \xff\r\n"
        assert invoke(service, "result", sprint_id, "--patch", "-").out.startswith("diff ")
        shown = invoke(service, "result", sprint_id).out
        assert "c" * 40 in shown
        assert "not let it through" in shown

    @pytest.mark.parametrize(
        ("arguments", "named"),
        [
            pytest.param(["--patch", "a", "--branch", "b"], "one of --patch", id="two ways at once"),
            pytest.param(["--branch", "b", "--repo", "nowhere"], "--repo", id="no such repository"),
            pytest.param(["--branch", "b", "--repo", "."], "--repo", id="no repository"),
            pytest.param(["--bundle", "no/such/directory/x"], "cannot be written", id="no such directory"),
        ],
    )
    def test_places_that_cannot_be_used(self, arguments: list[str], named: str, tmp_path: Path) -> None:
        service = self.service()
        outcome = invoke(service, "result", str(service.sprints[0].id), *arguments, cwd=tmp_path)
        assert (outcome.code, named in outcome.err) == (2, True), outcome.err


class TestJson:
    def test_what_could_steer_a_terminal_is_escaped(self) -> None:
        service = FakeService(sprints=[sprint_detail(name="größer \u202e\x9b2J\u200b")])
        outcome = invoke(service, "list", "--json")
        assert "größer \\u202e\\u009b2J\\u200b" in outcome.out
        assert outcome.document[0]["name"] == "größer \u202e\x9b2J\u200b"
