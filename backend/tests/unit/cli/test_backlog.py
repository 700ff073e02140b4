"""What `phaserunner backlog`, `notify` and `result --recheck` send and print."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.unit.cli.fakes import FakeService, Story, invoke

NOTHING: dict[str, Any] = {"items": [], "total": 0}
ITEM: dict[str, Any] = {
    "id": str(UUID(int=3)),
    "name": "Round up",
    "project": "/p",
    "priority": 5,
    "status": "waiting",
    "reason": "waits for x, which is running",
}
PROJECT: dict[str, Any] = {
    "project": "/p",
    "paused_at": "2026-11-21T12:00:00Z",
    "paused_by": "ada",
    "limits": {"running": 2, "waiting_for_humans": None, "open_pull_requests": None, "per_day": None},
    "running": 1,
    "waiting_for_humans": 0,
    "open_pull_requests": 0,
    "started_today": 4,
}
BOARD: dict[str, Any] = {
    "waiting": [ITEM],
    "waiting_total": 1,
    "running": NOTHING,
    "asks_human": NOTHING,
    "in_review": NOTHING,
    "done": NOTHING,
    "projects": [PROJECT],
}


def answering(method: str, path: str, document: Any) -> FakeService:
    return FakeService(routes={(method, path): lambda _: httpx.Response(200, json=document)})


def sent(service: FakeService) -> Any:
    return json.loads(service.requests[-1].content)


def test_the_list_says_why_an_item_waits_and_what_limits_the_project() -> None:
    outcome = invoke(answering("GET", "/backlog", BOARD), "backlog")
    assert outcome.code == 0
    for words in ("Waiting: 1", "Round up", "waits for x, which is running"):
        assert words in outcome.out
    assert "/p: paused by ada; 1 running of 2, 0 waiting for people" in outcome.out


def test_an_item_is_added_with_what_it_needs(tmp_path: Path) -> None:
    service = answering("POST", "/backlog", {"items": [ITEM]})
    arguments = ["Round up", "--repo", str(tmp_path), "--priority", "5", "--after", "a", "--after-merge", "b"]
    outcome = invoke(service, "backlog", "add", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    (item,) = sent(service)["items"]
    assert item["depends_on"] == [{"on": "a", "until": "accepted"}, {"on": "b", "until": "merged"}]
    assert item["sprint"]["source"] == {"kind": "local", "path": str(tmp_path), "ref": "HEAD"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: is not JSON"),
        ("[]", "line 2: is not a JSON object"),
        ('{"sprint": {"source": {"kind": "empty"}}}', "line 2: sprint.goal"),
        ('{"sprint": {"goal": "x", "source": {"kind": "archive", "data": "eA=="}}}', "line 2: sprint.source"),
        ('{"sprint": {"goal": "x", "source": {"kind": "empty"}}, "priority": 5000}', "line 2: priority"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_sent(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "work.jsonl"
    file.write_text('{"sprint": {"goal": "x", "source": {"kind": "empty"}}}\n' + line + "\n")
    service = FakeService()
    outcome = invoke(service, "backlog", "import", f"@{file}")
    assert outcome.code == 2
    assert said in outcome.err
    assert service.requests == []


def test_an_item_may_hold_characters_that_unicode_counts_as_ends_of_lines() -> None:
    goal = "first\u2028second\u2029third"
    line = json.dumps({"sprint": {"goal": goal, "source": {"kind": "empty"}}}, ensure_ascii=False)
    service = answering("POST", "/backlog", {"items": []})
    outcome = invoke(service, "backlog", "import", "-", stdin=f"{line}\r\n\n{line}\n")
    assert outcome.code == 0, outcome.err
    assert [each["sprint"]["goal"] for each in sent(service)["items"]] == [goal, goal]


def test_a_limit_and_a_pause_name_the_project() -> None:
    service = answering("PUT", "/backlog/projects", PROJECT)
    assert invoke(service, "backlog", "limit", "/p", "--running", "2").code == 0
    assert sent(service)["limits"] == PROJECT["limits"]
    assert invoke(service, "backlog", "pause", "/p").code == 0
    assert sent(service) == {"project": "/p", "paused": True}


def test_notify_shows_the_answer_and_fails_if_it_was_not_taken() -> None:
    document = {"receiver": "team", "taken": False, "code": None, "answer": "answered 404: no_service"}
    outcome = invoke(answering("POST", "/notifications/team/test", document), "notify", "test", "team")
    assert outcome.code == 6
    assert "team did not accept the message: answered 404: no_service" in outcome.out


def test_a_recheck_that_fails_has_its_exit_code() -> None:
    run_id = UUID(int=1)
    document = {
        "branch": "main",
        "commit": "a" * 40,
        "result_commit": "b" * 40,
        "state": "conflicts",
        "conflicts": ["shares.py"],
        "verdict": None,
        "reason": "",
        "checked_at": "2026-11-21T12:00:00Z",
    }
    service = answering("POST", f"/runs/{run_id}/result/recheck", document)
    service.add(Story(run_id))
    outcome = invoke(service, "result", str(run_id), "--recheck")
    assert outcome.code == 1
    assert "it conflicts with main at aaaaaaaaaaaa: shares.py" in outcome.out
    assert invoke(service, "result", str(run_id), "--recheck", "--branch", "x").code == 2
