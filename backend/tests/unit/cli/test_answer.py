"""`answer`: what a command line sends, what is shown, and which exit code says that an answer holds."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli.exits import ExitCode
from tests.unit.cli.fakes import FakeService, Story, invoke

ACCEPTED = {"status": "accepted", "answer": "3 francs", "gaps": [], "withheld": False, "reason": ""}
PARTIAL = {
    **ACCEPTED,
    "status": "partial",
    "gaps": ["the date is missing"],
    "reason": "3 attempts were not good enough in: completeness",
}
WITHHELD = {**PARTIAL, "answer": None, "withheld": True}


def started(story: Story, sent: list[httpx.Request], result: dict[str, Any]) -> FakeService:
    service = FakeService()
    run = service.add(story, kind="answer", phases=[], attempts=[])
    given: dict[str, Any] = {"query": "x", "entries": [], "domains": [], "rules": [], "attempts": []}
    answer = {**run.model_dump(mode="json"), **given, "result": result}

    def take(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(201, json=answer)

    service.routes["POST", "/answers"] = take
    service.routes["GET", f"/answers/{run.id}"] = lambda request: httpx.Response(200, json=answer)
    return service


@pytest.mark.parametrize(
    ("result", "code", "out", "err"),
    [
        pytest.param(ACCEPTED, ExitCode.PASSED, "3 francs", "", id="accepted"),
        pytest.param(PARTIAL, ExitCode.FAILED, "3 francs", "Gap: the date is missing", id="partial"),
        pytest.param(WITHHELD, ExitCode.FAILED, "", "Withheld", id="withheld"),
    ],
)
def test_only_an_accepted_answer_ends_with_success(
    tmp_path: Path, result: dict[str, Any], code: ExitCode, out: str, err: str
) -> None:
    story, sent = Story(), []
    story.begin()
    story.complete()
    outcome = invoke(started(story, sent, result), "answer", "What does it cost?", cwd=tmp_path)
    assert outcome.code == code
    assert out in outcome.out
    assert ("3 francs" in outcome.out) is bool(out)
    assert err in outcome.err


def test_evidence_comes_from_arguments_and_files(tmp_path: Path) -> None:
    (tmp_path / "prices.md").write_text("3 francs\n")
    story, sent = Story(), []
    story.begin()
    arguments = ("--entry", "@prices.md", "--entry", "a note", "--domain", "shop", "--rule", "Be brief.")
    outcome = invoke(started(story, sent, ACCEPTED), "answer", "Why?", *arguments, "--detach", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (ExitCode.PASSED, f"{story.run_id}\n")
    body = json.loads(sent[0].content)
    assert (body["query"], body["entries"]) == ("Why?", ["3 francs\n", "a note"])
    assert (body["domains"], body["rules"]) == (["shop"], ["Be brief."])
    assert body["source"] == {"kind": "empty"}
    assert sent[0].headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param((" ",), "query", id="blank"),
        pytest.param(("x", "--entry", "@missing.md"), "--entry", id="a file that is not there"),
        pytest.param(("x", "--entry", ""), "entries", id="an empty entry"),
        pytest.param(("x", "--max-retries", "3"), "max-retries", id="more than three attempts"),
        pytest.param(("x", "--domain", "a b"), "domains", id="a bad name"),
    ],
)
def test_what_cannot_be_asked_is_not_sent(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    outcome = invoke(FakeService(), "answer", *arguments, cwd=tmp_path)
    assert outcome.code == ExitCode.USAGE
    assert says in outcome.err
