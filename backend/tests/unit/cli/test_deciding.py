"""Escalations and what a sprint changed, as a user types it, against a service in memory."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.cli.view.asking import question
from app.schemas.questions import Question, QuestionKind
from tests.unit.cli.fakes import (
    EVALUATION,
    FakeService,
    Story,
    attempt_view,
    escalation_view,
    invoke,
    problem,
    sent,
    sprint_detail,
)

RESULT = {"branch": "phaserunner/1", "base_commit": "b" * 40, "commit": "c" * 40, "is_final": False}


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

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            pytest.param("@alice please round up", "@alice please round up", id="a person"),
            pytest.param(f"@{'x' * 300} please", f"@{'x' * 300} please", id="no file can have the name"),
            pytest.param("@advice", "Round up", id="a file"),
            pytest.param("@my advice", "Round half up", id="a file with a blank"),
        ],
    )
    def test_guidance_may_begin_with_a_name(self, given: str, said: str, tmp_path: Path) -> None:
        (tmp_path / "advice").write_text("Round up\n")
        (tmp_path / "my advice").write_text("Round half up\n")
        one = escalation_view()
        service = self.resolvable(one)
        arguments = ("escalations", "resolve", str(one.id)[:8], "--retry", "--guidance", given)
        outcome = invoke(service, *arguments, cwd=tmp_path)
        assert (outcome.code, sent(service.requests[-1])["guidance"]) == (0, said), outcome.err

    def test_a_file_for_guidance_must_exist(self, tmp_path: Path) -> None:
        one = escalation_view()
        arguments = ("escalations", "resolve", str(one.id)[:8], "--retry", "--guidance", "@advcie")
        outcome = invoke(self.resolvable(one), *arguments, cwd=tmp_path)
        assert (outcome.code, "--guidance: " in outcome.err) == (2, True)

    def test_guidance_is_read_from_standard_input_also_with_an_equals_sign(self) -> None:
        one = escalation_view()
        service = self.resolvable(one)
        arguments = ("escalations", "resolve", str(one.id)[:8], "--retry", "--guidance=-")
        assert invoke(service, *arguments, stdin="Divide by two\n").code == 0
        assert sent(service.requests[-1])["guidance"] == "Divide by two"

    def test_it_is_taken_and_given_back(self) -> None:
        one = escalation_view()
        service = FakeService(escalations=[one])
        taken = {**one.model_dump(mode="json"), "assigned_to": "ada"}
        path = f"/escalations/{one.id}/assign"
        service.routes["POST", path] = lambda request: httpx.Response(200, json=taken)
        service.routes["DELETE", path] = lambda request: httpx.Response(200, json=one.model_dump(mode="json"))

        outcome = invoke(service, "escalations", "take", str(one.id)[:8], "--take-over")
        assert (outcome.code, "is taken by ada" in outcome.out) == (0, True)
        assert sent(service.requests[-1]) == {"take_over": True}
        assert invoke(service, "escalations", "take", "--json").document["assigned_to"] == "ada"
        assert "is released" in invoke(service, "escalations", "release").out

    def test_a_reviewer_who_has_it_is_named(self) -> None:
        one = escalation_view(assigned_to="ada")
        service = FakeService(escalations=[one])
        service.sprints = [sprint_detail(id=one.run_id)]
        assert "taken   by ada" in invoke(service, "escalations", "show").out
        refused = problem(409, "ada has it; take_over takes it from them")
        service.routes["POST", f"/escalations/{one.id}/assign"] = lambda request: refused
        outcome = invoke(service, "escalations", "take")
        assert (outcome.code, "ada has it" in outcome.err) == (1, True)

    def test_a_loop_has_an_output_and_no_diff(self) -> None:
        loop = sprint_detail(kind="director_loop", attempts=[attempt_view(phase="loop", output="Which one?")])
        one = escalation_view(run_id=loop.id, kind="director_loop", phase="loop", attempt=1)
        service = self.resolvable(one)
        service.sprints = [loop]
        shown = invoke(service, "escalations", "show", str(one.id)).out
        assert "Which one?" in shown
        assert f"loop    {loop.id}" in shown
        assert "phaserunner diff" not in shown
        assert "The loop continues" in invoke(service, "escalations", "resolve", "--retry").err

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
        assert f"  goal    {sprint.goal}\n" in out
        assert "  used    0 tokens" in out
        assert f"diff {str(sprint.id)[:8]} --attempt coding/3" in out

    def test_show_gives_the_questions_also_without_an_id(self) -> None:
        sprint = sprint_detail(attempts=[attempt_view(number=3, evaluations=[EVALUATION])])
        asked = Question.about("a.py", QuestionKind.WEAKER, "Is it right?", before="x == 1", after="x")
        one = escalation_view(run_id=sprint.id)
        service = FakeService(sprints=[sprint], escalations=[one])
        one = one.model_copy(update={"questions": [asked], "reason": "A person is asked: Is it right?"})
        service.routes["GET", f"/escalations/{one.id}"] = lambda request: httpx.Response(
            200, json=one.model_copy(update={"changed_files": ["a.py"]}).model_dump(mode="json")
        )
        out = invoke(service, "escalations", "show").out
        assert "? Is it right?\n  - x == 1\n  + x\n" in out
        assert out.count("Is it right?") == 1
        assert "  changed a.py\n" in out


def test_a_question_is_announced_once() -> None:
    lines = question(uuid4(), "A person is asked: Is it right?")
    assert [each for each in lines if "asked" in each] == ["A person is asked:"]
    assert "    Is it right?" in lines


class TestDiff:
    PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"

    def service(self, whole: str = PATCH) -> FakeService:
        attempts = [attempt_view(), attempt_view(number=2, started_at="2026-11-21T13:00:00Z")]
        service = FakeService(sprints=[sprint_detail(attempts=attempts)])
        file = {"path": "a.py", "status": "modified", "additions": 1, "deletions": 1, "patch": "cut"}
        document = {"files": [{**file, "truncated": True}], "truncated": True}

        def answer(request: httpx.Request) -> httpx.Response:
            if request.headers["Accept"] == "text/x-diff":
                return httpx.Response(200, text=whole)
            return httpx.Response(200, json=document)

        for number in (1, 2):
            path = f"/runs/{service.sprints[0].id}/attempts/coding/{number}/diff"
            service.routes["GET", path] = answer
        return service

    def test_a_pipe_gets_the_whole_patch_as_it_is(self) -> None:
        service = self.service()
        outcome = invoke(service, "diff", str(service.sprints[0].id))
        assert (outcome.code, outcome.out, outcome.err) == (0, self.PATCH, "")
        assert service.requests[-1].url.path.endswith("/coding/2/diff")

    def test_a_program_gets_json_and_learns_of_the_cut(self) -> None:
        service = self.service()
        assert invoke(service, "diff", str(service.sprints[0].id), "--json").document["truncated"]

    def test_a_patch_that_the_service_has_cut_is_no_success(self) -> None:
        service = self.service(f"{self.PATCH}[diff cut here]\n")
        outcome = invoke(service, "diff", str(service.sprints[0].id))
        assert (outcome.code, "cut" in outcome.err) == (1, True)

    def test_an_attempt_can_be_named(self) -> None:
        service = self.service()
        sprint_id = str(service.sprints[0].id)
        arguments = ("--attempt", "coding/1", "--against", "previous")
        assert invoke(service, "diff", sprint_id, *arguments).code == 0
        assert str(service.requests[-1].url).endswith("/coding/1/diff?against=previous")
        outcome = invoke(service, "diff", sprint_id, "--attempt", "coding/9")
        assert (outcome.code, "coding/1, coding/2" in outcome.err) == (2, True)


class TestResult:
    def service(self) -> FakeService:
        service = FakeService(sprints=[sprint_detail()])
        here = f"/runs/{service.sprints[0].id}/result"
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
        assert invoke(service, "result", sprint_id, "--patch=-", cwd=tmp_path).out.startswith("diff ")
        shown = invoke(service, "result", sprint_id).out
        assert "c" * 40 in shown
        assert "Not final" in shown

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
