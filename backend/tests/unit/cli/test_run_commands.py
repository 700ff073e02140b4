"""Listing, showing, holding and ending runs, as a user types it, against a service in memory."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.schemas.baseline import Baseline, BaselineSummary, FlakyTest, RedTest
from tests.unit.cli.fakes import (
    EVALUATION,
    PHASE,
    FakeService,
    attempt_view,
    invoke,
    problem,
    sent,
    sprint_detail,
)


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

    def test_names_the_tests_that_fail_at_the_base(self) -> None:
        red = [
            RedTest(
                id=f"test_a.py::test_{n}",
                message="assert 1\x1b[2J == 2\nmore",
                signature="",
                needs_network=n == 1,
            )
            for n in range(30)
        ]
        flaky = [FlakyTest(id="test_a.py::test_flaky", failed=1, runs=4, message="no")]
        summary = BaselineSummary.of(Baseline(red=red, flaky=flaky, passing=["test_a.py::test_good"]))
        service = FakeService(sprints=[sprint_detail(baseline=summary)])
        out = invoke(service, "show", str(service.sprints[0].id)).out
        said = "30 tests are red at the base (1 for want of a network); 1 is flaky; 1 of 32 pass at the base."
        assert said in out
        assert "red: test_a.py::test_0: assert 1" in out
        assert "red, needs a network: test_a.py::test_1: assert 1" in out
        assert "and 11 more" in out
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
        service.routes["POST", f"/runs/{sprint_id}/cancel"] = lambda request: httpx.Response(200, json={})
        assert invoke(service, "cancel", str(sprint_id), "--reason", "enough").code == 0
        assert sent(service.requests[-1]) == {"reason": "enough"}

    def test_one_that_is_over_cannot_be_cancelled(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        sprint_id = service.sprints[0].id
        refuse = problem(409, "the sprint is completed")
        service.routes["POST", f"/runs/{sprint_id}/cancel"] = lambda request: refuse
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
        path = f"/runs/{service.sprints[0].id}/{command}"
        service.routes["POST", path] = lambda request: httpx.Response(200, json={})
        assert invoke(service, command, str(service.sprints[0].id), *options).code == 0
        assert sent(service.requests[-1]) == body

    def test_one_that_is_paused_already(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        refuse = problem(409, "the sprint is paused since today")
        service.routes["POST", f"/runs/{service.sprints[0].id}/pause"] = lambda request: refuse
        outcome = invoke(service, "pause", str(service.sprints[0].id))
        assert (outcome.code, outcome.err) == (1, "phaserunner: the sprint is paused since today\n")

    def test_fork_asks_for_what_differs(self) -> None:
        detail = sprint_detail(attempts=[attempt_view()])
        service = FakeService(sprints=[detail])
        made = detail.model_copy(update={"id": UUID(int=7)}).model_dump(mode="json")
        service.routes["POST", f"/runs/{detail.id}/fork"] = lambda request: httpx.Response(201, json=made)
        outcome = invoke(service, "fork", str(detail.id), "--guidance", "Round up.", "--max-attempts", "5")
        assert (outcome.code, outcome.out.strip()) == (0, str(UUID(int=7)))
        assert sent(service.requests[-1]) == {
            "phase": "coding",
            "attempt": 1,
            "guidance": "Round up.",
            "policy": {"attempts_per_phase": 5},
        }

    def test_fork_of_a_sprint_that_has_changed_nothing(self) -> None:
        service = FakeService(sprints=[sprint_detail()])
        outcome = invoke(service, "fork", str(service.sprints[0].id))
        assert (outcome.code, outcome.err) == (
            2,
            "phaserunner: no attempt of the run has changed files yet\n",
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
            f"Delivery {UUID(int=9)} is queued for https://hooks.example",
        )
