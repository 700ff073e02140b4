"""Marks, track records, filters and the download of logs: what the page has, on the command line."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.unit.cli.fakes import NOW, FakeService, attempt_view, invoke, sprint_detail

EVALUATION = UUID(int=9)


class TestFilters:
    def test_they_are_those_of_the_api(self) -> None:
        service = FakeService()
        arguments = ["--status", "failed", "--status", "waiting", "--needs-human", "--search", "half"]
        arguments += ["--project", "/p", "--agent", "a", "--sort", "cost", "--days", "7"]
        outcome = invoke(service, "list", *arguments)
        assert (outcome.code, outcome.out) == (0, "")
        assert "No run matches these filters" in outcome.err
        params = service.requests[-1].url.params
        assert params.get_list("status") == ["failed", "waiting"]
        given = {name: params[name] for name in ("needs_human", "q", "project", "agent", "sort")}
        assert given == {"needs_human": "true", "q": "half", "project": "/p", "agent": "a", "sort": "cost"}
        assert "since" in params


class TestMark:
    def service(self, *marks: dict[str, Any]) -> FakeService:
        verdict: dict[str, Any] = {
            "id": EVALUATION,
            "evaluator": "pytest",
            "version": "2",
            "category": "functionality",
            "gate": True,
            "status": "failed",
            "passed": False,
            "score": 0.2,
            "feedback": "3 failed",
            "criteria": [],
            "suggestions": [],
            "metadata": {},
            "duration_ms": 5,
            "trace_id": None,
            "evaluated_at": NOW,
            "marks": list(marks),
        }
        return FakeService(sprints=[sprint_detail(attempts=[attempt_view(evaluations=[verdict])])])

    def mark(self, by: str = "Ada", number: int = 1) -> dict[str, Any]:
        made = {"id": str(UUID(int=number)), "evaluation_id": str(EVALUATION), "was_right": False}
        return made | {"kind": "wrong_fail", "note": "", "marked_by": by, "marked_at": NOW.isoformat()}

    def test_a_verdict_is_marked(self) -> None:
        service = self.service()
        answer = httpx.Response(201, json=self.mark())
        service.routes["POST", f"/evaluations/{EVALUATION}/marks"] = lambda request: answer
        sprint = str(service.sprints[0].id)
        outcome = invoke(service, "mark", sprint, "pytest", "--wrong", "--note", "good work")
        assert (outcome.code, outcome.out) == (0, "Ada marked it as a wrong fail\n")
        assert json.loads(service.requests[-1].content) == {"was_right": False, "note": "good work"}

    def test_the_only_mark_is_taken_back(self) -> None:
        service = self.service(self.mark())
        path = f"/evaluations/{EVALUATION}/marks/{UUID(int=1)}"
        service.routes["DELETE", path] = lambda request: httpx.Response(204)
        outcome = invoke(service, "mark", str(service.sprints[0].id), "pytest", "--take-back")
        assert outcome.code == 0
        assert "Ada" in outcome.err

    @pytest.mark.parametrize(
        ("arguments", "named"),
        [
            (["pytest"], "--right, --wrong"),
            (["pytest", "--right", "--wrong"], "--right, --wrong"),
            (["mypy", "--right"], "pytest"),
            (["pytest", "--right", "--attempt", "coding/9"], "coding/1"),
            (["pytest", "--take-back"], "Ada, Bo"),
        ],
        ids=["nothing", "both", "who has not judged", "no such attempt", "whose mark"],
    )
    def test_what_is_not_plain_is_refused(self, arguments: list[str], named: str) -> None:
        service = self.service(self.mark(), self.mark("Bo", 2))
        outcome = invoke(service, "mark", str(service.sprints[0].id), *arguments)
        assert outcome.code == 2
        assert named in outcome.err


class TestRecords:
    @staticmethod
    def share(count: int, of: int) -> dict[str, Any]:
        value = count / of if of else None
        return {"count": count, "of": of, "value": value, "low": value, "high": value}

    def test_a_track_record(self) -> None:
        shares = {"passed": self.share(1, 4), "failed": self.share(3, 4)}
        shares |= {"errored": self.share(0, 4), "skipped": self.share(0, 4)}
        marked = {"wrong_passes": self.share(0, 0), "wrong_fails": self.share(1, 2)}
        record: dict[str, Any] = {
            "evaluator": "a/b",
            "verdicts": 4,
            "latency": {"n": 0, "p50_ms": None, "p95_ms": None},
        }
        record |= shares | {"marked": marked}
        document: dict[str, Any] = {"name": "a/b", "registered": None, "versions": [], "record": record}
        service = FakeService()
        service.routes["GET", "/evaluators/a/b"] = lambda request: httpx.Response(200, json=document)
        out = invoke(service, "evaluators", "show", "a/b").out
        assert "failed       75%, 3 of 4" in out
        assert "wrong passes no data (n = 0)" in out
        assert "wrong fails  50%, 1 of 2" in out
        assert service.requests[-1].url.raw_path == b"/api/v1/evaluators/a%2Fb"

    def test_no_verdict_fits(self) -> None:
        service = FakeService()
        empty = httpx.Response(200, json={"items": [], "next_cursor": None})
        service.routes["GET", "/evaluators/pytest/verdicts"] = lambda request: empty
        outcome = invoke(service, "evaluators", "verdicts", "pytest", "--marked", "wrong_fail")
        assert (outcome.code, outcome.out) == (0, "")
        assert "No verdict matches" in outcome.err
        assert service.requests[-1].url.params["mark"] == "wrong_fail"


class TestLogDownload:
    def test_the_whole_log_goes_to_a_file(self, tmp_path: Path) -> None:
        service = FakeService(sprints=[sprint_detail()])
        sprint = str(service.sprints[0].id)
        service.routes["GET", f"/runs/{sprint}/log"] = lambda request: httpx.Response(200, content=b"all\n")
        outcome = invoke(service, "logs", sprint, "--download", "run.log", "--format", "ndjson", cwd=tmp_path)
        assert outcome.code == 0
        assert (tmp_path / "run.log").read_bytes() == b"all\n"
        assert service.requests[-1].url.params["format"] == "ndjson"

    def test_following_is_no_download(self, tmp_path: Path) -> None:
        outcome = invoke(FakeService(), "logs", "0" * 8, "--download", "x", "--follow", cwd=tmp_path)
        assert outcome.code == 2
        assert not (tmp_path / "x").exists()
