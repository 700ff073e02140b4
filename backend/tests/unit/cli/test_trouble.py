"""What goes wrong between a user and the service, and answers for programs."""

import httpx
import pytest

from tests.unit.cli.fakes import (
    FakeService,
    Story,
    invoke,
    problem,
    sprint_detail,
)


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

        service.routes["GET", f"/runs/{sprint.id}"] = interrupt
        assert invoke(service, "watch", str(sprint.id)).code == 130


class TestJson:
    def test_what_could_steer_a_terminal_is_escaped(self) -> None:
        service = FakeService(sprints=[sprint_detail(name="größer \u202e\x9b2J\u200b")])
        outcome = invoke(service, "list", "--json")
        assert "größer \\u202e\\u009b2J\\u200b" in outcome.out
        assert outcome.document[0]["name"] == "größer \u202e\x9b2J\u200b"
