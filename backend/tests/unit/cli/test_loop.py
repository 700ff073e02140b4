"""`loop`: what a command line sends, and what is refused before anything is sent."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.cli.exits import ExitCode
from tests.unit.cli.fakes import FakeService, Story, invoke, sprint_detail

XML = """<task><description>Refine {{topic}}</description><inputs><input name="topic"/></inputs>
<director><description>Write</description></director><evaluator><description>Judge</description></evaluator></task>
"""


def started(story: Story, sent: list[httpx.Request]) -> FakeService:
    service = FakeService()
    sprint = service.add(story, kind="director_loop", phases=[], attempts=[])
    definition = {"description": "x", "director": {"description": "d"}, "evaluator": {"description": "e"}}
    result = {
        "final_output": "the text",
        "final_evaluation": None,
        "success": True,
        "iterations_completed": 1,
        "ended_by": "success",
    }
    loop: dict[str, Any] = {
        **sprint.model_dump(mode="json"),
        "definition": definition,
        "inputs": {},
        "query": "",
    }
    loop |= {"iterations": [], "result": result, "subtasks": []}

    def take(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(201, json=loop)

    service.routes["POST", "/loops"] = take
    service.routes["GET", f"/loops/{sprint.id}"] = lambda request: httpx.Response(200, json=loop)
    return service


def test_starts_watches_and_prints_what_came_of_it(tmp_path: Path) -> None:
    (tmp_path / "loop.xml").write_text(XML)
    (tmp_path / "topic.txt").write_text("stacks")
    story, sent = Story(), []
    story.begin()
    story.complete()
    outcome = invoke(
        started(story, sent),
        "loop",
        "loop.xml",
        "--input",
        "topic=@topic.txt",
        "--query",
        "Why?",
        cwd=tmp_path,
    )
    assert outcome.code == ExitCode.PASSED
    assert outcome.out.endswith("\nthe text\n")
    body = json.loads(sent[0].content)
    assert (body["inputs"], body["query"], body["source"]) == ({"topic": "stacks"}, "Why?", {"kind": "empty"})
    assert body["definition"]["director"]["description"] == "Write"
    assert sent[0].headers["Idempotency-Key"]


def test_a_definition_from_standard_input_in_json(tmp_path: Path) -> None:
    story, sent = Story(), []
    story.begin()
    definition = {"description": "x", "director": {"description": "d"}, "evaluator": {"description": "e"}}
    outcome = invoke(
        started(story, sent), "loop", "-", "--detach", stdin=json.dumps(definition), cwd=tmp_path
    )
    assert (outcome.code, outcome.out) == (ExitCode.PASSED, f"{story.run_id}\n")
    assert len(sent) == 1


def test_a_loop_that_failed_says_so_with_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "loop.xml").write_text(XML)
    story, sent = Story(), []
    story.begin()
    story.tell("workflow.failed", {"reason": "3 of 3 attempts failed"})
    outcome = invoke(started(story, sent), "loop", "loop.xml", cwd=tmp_path)
    assert outcome.code == ExitCode.FAILED
    assert "3 of 3 attempts failed" in outcome.out
    assert "the text" not in outcome.out


def test_what_happens_in_a_loop_is_told_without_phases(tmp_path: Path) -> None:
    (tmp_path / "loop.xml").write_text(XML)
    story, here = Story(), ("loop", 1)
    story.begin(kind="director_loop")
    story.tell("attempt.started", {"prompt_chars": 9, "base_commit": "b" * 40}, *here)
    asked = {"escalation_id": uuid4(), "reason_kind": "human_asked", "reason": "Which?"}
    story.tell("escalation.required", asked, *here)
    story.tell("phase.completed", {"attempts": 1, "commit": None}, *here)
    ended = {"commit": None, "attempts": 1, "usage": {}, "reason": "the condition to stop is met"}
    story.tell("workflow.completed", ended)
    out = invoke(started(story, []), "loop", "loop.xml", cwd=tmp_path).out
    assert "Iteration 1" in out
    assert "Loop waits for a person: Which?" in out
    assert "Loop ends with iteration 1" in out
    assert "Loop is complete after 1 iteration: the condition to stop is met" in out
    assert "hase" not in out
    assert "passed" not in out


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        pytest.param(XML.replace("Judge", ""), (), "evaluator/description", id="the element is named"),
        pytest.param(XML.replace("<task>", "<task><x/>"), (), "line 1, x", id="and its line"),
        pytest.param("{}", (), "description", id="a field of JSON"),
        pytest.param(XML, ("--input", "topic"), "NAME=VALUE", id="an input without a value"),
        pytest.param(XML, ("--input", "to pic=x"), "inputs", id="an input with a bad name"),
        pytest.param(XML, ("--ref", "main"), "--repo", id="a commit of nothing"),
    ],
)
def test_what_cannot_be_used_is_not_sent(
    tmp_path: Path, text: str, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "loop.xml").write_text(text)
    outcome = invoke(FakeService(), "loop", "loop.xml", *arguments, cwd=tmp_path)
    assert outcome.code == ExitCode.USAGE
    assert says in outcome.err


def test_lists_show_every_kind_and_filter_by_it() -> None:
    service = FakeService(sprints=[sprint_detail(kind="director_loop", name="a loop")])
    assert "a loop" in invoke(service, "list", "--kind", "director-loop").out
    assert service.requests[-1].url.params["kind"] == "director_loop"
