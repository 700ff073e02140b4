"""The service ends in the middle of an attempt, and the sprint goes on when it is back."""

from pathlib import Path

import pytest

from tests.acceptance.projects import MENDED, make_repository, script, step, write
from tests.acceptance.server import ok, serving, until_rest
from tests.patience import PATIENCE


@pytest.mark.parametrize(("how", "lost"), [("kill", 1), ("terminate", 0)])
def test_a_service_that_ends_loses_nothing(how: str, lost: int, database_url: str, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    slow = {**write("shares.py", MENDED), "pause_seconds": 3.0}
    agent = script(step("Mended. Coding Complete", slow))
    fast_takeover = {
        "SHUTDOWN_GRACE_SECONDS": "0.2",
        "ENGINE_HEARTBEAT_SECONDS": "0.5",
        "ENGINE_STALLED_AFTER_SECONDS": "1.5",
    }
    with serving(database_url, tmp_path / "data", env=fast_takeover) as first, first.client() as client:
        body = {
            "goal": "half(8) must be 4.",
            "source": {"kind": "local", "path": str(repo)},
            "agent": agent,
            "phases": ["coding", "verification"],
        }
        sprint = ok(client.post("/sprints", json=body))
        with client.stream(
            "GET", f"/runs/{sprint['id']}/events", headers={"Accept": "text/event-stream"}
        ) as stream:
            for line in stream.iter_lines():
                if line == "event: candidate.started":
                    break
        first.kill() if how == "kill" else first.process.terminate()
        first.process.wait(timeout=PATIENCE)
    # Another directory: whatever the run needs has to come from the database.
    with (
        serving(database_url, tmp_path / "elsewhere", env=fast_takeover) as second,
        second.client() as client,
    ):
        ended = until_rest(client, sprint["id"])
        assert ended["status"] == "completed", ended["status_reason"]
        coding = ended["attempts"][0]
        assert (coding["number"], coding["lost_workers"], coding["verdict"]) == (1, lost, "passed")
        events = ok(client.get(f"/runs/{sprint['id']}/events", params={"limit": 1000}))["events"]
        assert [each["sequence"] for each in events] == list(range(1, len(events) + 1))
        names = [each["event"] for each in events]
        assert names.count("attempt.interrupted") == 1
        assert names.count("attempt.produced") == 2
