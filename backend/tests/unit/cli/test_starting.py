"""Starting and watching sprints, as a user types it, against a service in memory."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.cli.fakes import (
    FakeService,
    Story,
    accepting,
    invoke,
    problem,
    sent,
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
            "policy": {"attempts_per_phase": 2},
        }

    @pytest.mark.parametrize("share", [0.3, 0])
    def test_a_share_of_the_tests_may_be_held_out(self, share: float) -> None:
        service = FakeService()
        accepting(service)
        assert invoke(service, "run", "Make it work", "--detach", "--held-out-share", str(share)).code == 0
        assert sent(service.requests[0])["held_out"] == {"share": share}

    @pytest.mark.parametrize(
        ("held_out", "told"),
        [
            pytest.param({"files": [], "cases": None}, True, id="a default that hides nothing"),
            pytest.param({"files": ["test_a.py"], "cases": {"hidden": 1}}, True, id="a share"),
            pytest.param({"files": ["test_a.py"], "cases": None}, False, id="tests of the request"),
            pytest.param(None, False, id="nothing"),
        ],
    )
    def test_what_is_hidden_is_told_at_the_start(self, held_out: dict[str, Any] | None, told: bool) -> None:
        service = FakeService()
        accepting(service)
        start = service.routes["POST", "/sprints"]

        def hiding(request: httpx.Request) -> httpx.Response:
            answer = start(request)
            held = held_out and {"at_base": None, "note": "So much is hidden.", **held_out}
            return httpx.Response(answer.status_code, json=answer.json() | {"held_out": held})

        service.routes["POST", "/sprints"] = hiding
        outcome = invoke(service, "run", "Make it work", "--detach")
        assert outcome.code == 0
        assert outcome.err.count("Note: So much is hidden.") == told

    def test_candidates_may_be_agents_by_name(self) -> None:
        service = FakeService()
        accepting(service)
        named = ("--candidate", "opencode", "--candidate", "codex:gpt-5", "--candidate", "pydantic-ai:a:b")
        assert invoke(service, "run", "Make it work", "--detach", *named).code == 0
        assert sent(service.requests[0])["agent"]["candidates"] == [
            {"agent": "opencode"},
            {"agent": "codex", "model": "gpt-5"},
            {"agent": "pydantic-ai", "model": "a:b"},
        ]

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

    def test_a_private_repository_names_its_credential(self) -> None:
        service = FakeService()
        accepting(service)
        invoke(service, "run", "x", "--repo", "git@host:a", "--credential", "deploy", "--detach")
        source = {"kind": "git", "url": "git@host:a", "credential": "deploy"}
        assert sent(service.requests[0])["source"] == source

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
            pytest.param(
                ["x", "--repo", ".", "--credential", "deploy"], "--credential", id="credential for a path"
            ),
            pytest.param(["x", "--phases", "coding,testing"], "--phases", id="unknown phase"),
            pytest.param(["x", "--phases", "verification,coding"], "phases", id="phases out of order"),
            pytest.param(["x", "--max-attempts", "0"], "max-attempts", id="no attempts"),
            pytest.param(["x", "--model", "gpt"], "agent.model", id="model without provider"),
            pytest.param(["x", "--candidate", ":m"], "--candidate", id="candidate without agent"),
            pytest.param(["x", "--candidate", "codex:"], "--candidate", id="candidate without model"),
            pytest.param(
                ["x", "--candidates", "2", "--candidate", "codex"], "--candidates", id="number and names"
            ),
            pytest.param(
                ["x", "--candidate", "codex", "--agent", "opencode"],
                "so --agent must be absent",
                id="agent and candidates",
            ),
            pytest.param(
                ["x", "--candidate", "codex", "--model", "a:b"],
                "so --model must be absent",
                id="model and candidates",
            ),
            pytest.param(
                ["x", "--candidate", "scripted"],
                "agent.candidates.0.agent: a script cannot work beside other agents",
                id="a script as candidate",
            ),
            pytest.param(
                ["x", "--agent", "Open Code"], "agent.backend: must be small letters", id="no agent's name"
            ),
            pytest.param(["x", "--agent", "scripted"], "--agent", id="scripted without script"),
            pytest.param(["x", "--script", "missing.toml"], "script", id="no such script"),
            pytest.param(["x", "--example", "nonsense"], "example", id="unknown example"),
            pytest.param(["x", "--example", "teatime", "--repo", "."], "--example", id="example and repo"),
            pytest.param(["x", "--held-out-share", "-0.1"], "held-out-share", id="a negative share"),
            pytest.param(["x", "--held-out-share", "0.9"], "held-out-share", id="a large share"),
            pytest.param(["x", "--held-out-share", "abc"], "held-out-share", id="a share as a word"),
            pytest.param(["x", "--held-out-share", "true"], "held-out-share", id="a share as a switch"),
            pytest.param(["x", "--held-out-share", "nan"], "held-out-share", id="a share that is no number"),
            pytest.param(
                ["x", "--held-out-share", "0.3", "--held-out", "."],
                "only one of --held-out and --held-out-share",
                id="two kinds of held-out tests",
            ),
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

    def test_another_agent_works_on_the_example_without_its_script(self, tmp_path: Path) -> None:
        service = FakeService()
        accepting(service)
        asked = ("run", "--example", "teatime", "--agent", "codex", "--detach")
        assert invoke(service, *asked, cwd=tmp_path).code == 0
        request = sent(service.requests[0])
        assert request["agent"] == {"backend": "codex"}
        assert "name" not in request, "the example's title tells what its script does"
        assert "cold brew" in request["goal"]


ISSUE = "https://github.com/acme/widgets/issues/7"


class TestRunForAnIssue:
    def test_asks_for_the_issue_with_a_key_and_the_given_values_only(self) -> None:
        service = FakeService()
        accepting(service)
        given = ("--agent", "opencode", "--max-attempts", "2", "--retry-context", "continue", "--name", "Tea")
        outcome = invoke(service, "run", "--issue", ISSUE, "--detach", *given)
        assert (outcome.code, outcome.out) == (0, f"{service.sprints[0].id}\n")
        request = service.requests[0]
        assert (request.method, request.url.path) == ("POST", "/api/v1/forges/issues")
        assert len(request.headers["Idempotency-Key"]) >= 32
        assert sent(request) == {
            "issue": ISSUE,
            "name": "Tea",
            "agent": {"backend": "opencode"},
            "policy": {"attempts_per_phase": 2, "retry_context": "continue"},
        }

    def test_it_is_watched_to_its_end(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.attempt(1, passed=True)
        story.complete()
        accepting(service, story)
        outcome = invoke(service, "run", "--issue", ISSUE)
        assert outcome.code == 0
        assert "Attempt 1 of 3" in outcome.out

    @pytest.mark.parametrize(
        "more",
        [
            ["Make it work"],
            ["--repo", "."],
            ["--ref", "main"],
            ["--credential", "deploy"],
            ["--example", "teatime"],
        ],
        ids=lambda more: more[0],
    )
    def test_what_the_issue_gives_cannot_be_given_twice(self, more: list[str]) -> None:
        service = FakeService()
        outcome = invoke(service, "run", "--issue", ISSUE, *more)
        assert (outcome.code, service.requests) == (2, [])
        assert "--issue: gives goal and source" in outcome.err

    def test_a_share_of_the_tests_may_be_held_out(self) -> None:
        service = FakeService()
        accepting(service)
        assert invoke(service, "run", "--issue", ISSUE, "--detach", "--held-out-share", "0.3").code == 0
        assert sent(service.requests[0]) == {"issue": ISSUE, "held_out": {"share": 0.3}}

    @pytest.mark.parametrize("issue", ["", "x" * 501])
    def test_what_is_no_address_is_named_and_nothing_is_sent(self, issue: str) -> None:
        service = FakeService()
        outcome = invoke(service, "run", "--issue", issue)
        assert (outcome.code, service.requests) == (2, [])
        assert "issue" in outcome.err

    def test_what_the_service_refuses_is_said(self) -> None:
        service = FakeService()
        told = "issue: no repository of FORGES_FILE has it"
        service.routes["POST", "/forges/issues"] = lambda _: problem(422, told)
        outcome = invoke(service, "run", "--issue", ISSUE)
        assert outcome.code == 2
        assert told in outcome.err


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

    @pytest.mark.parametrize("kind", ["budget_exhausted", "day_budget_exhausted"])
    def test_a_spent_budget_asks_for_no_guidance(self, kind: str) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.escalate("$2.00 are spent; the budget is $2.00", kind)
        out = invoke(service, "watch", str(service.add(story).id)).out
        assert "--retry    (or --reject)" in out
        assert "--guidance" not in out
        assert """-d '{"decision": "retry"}'""" in out

    def test_a_missing_key_is_explained(self) -> None:
        service, story = FakeService(), Story()
        story.begin()
        story.escalate("ANTHROPIC_API_KEY is not set", "agent_unavailable")
        out = invoke(service, "watch", str(service.add(story).id)).out
        assert "ANTHROPIC_API_KEY is not set" in out
        assert "restart it after a change, then resolve with --retry" in out
        assert "`phaserunner agents` shows which are ready" in out

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
