"""A backup that is taken while the service runs, restored into a new cluster: what waited goes on there."""

import subprocess
from pathlib import Path

from app.db.embedded.binaries import usable_binaries
from tests.acceptance.projects import MENDED, WORSE, make_repository, script, step, write
from tests.acceptance.server import ok, serving, until_rest
from tests.postgres import fresh_database, throwaway_server


def test_a_restored_installation_goes_on(database_url: str, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "project")
    binaries = next(usable_binaries())
    dump = tmp_path / "phaserunner.dump"
    agent = script(
        step("Done. Coding Complete", write("shares.py", WORSE)),
        step("Told. Coding Complete", write("shares.py", MENDED), expects=["divide by two"]),
    )
    body = {
        "goal": "half(8) must be 4.",
        "source": {"kind": "local", "path": str(repo)},
        "agent": agent,
        "phases": ["coding", "verification"],
        "policy": {"max_attempts": 1},
    }
    with serving(database_url, tmp_path / "data") as first, first.client() as client:
        waiting = until_rest(client, ok(client.post("/sprints", json=body))["id"])
        held = ok(client.post("/sprints", json=body | {"policy": {"max_attempts": 2}}))["id"]
        ok(client.post(f"/runs/{held}/pause"))
        before = ok(client.get(f"/runs/{waiting['id']}/events", params={"limit": 1000}))["events"]
        command = [binaries.path("pg_dump"), "--format=custom", f"--file={dump}", f"--dbname={database_url}"]
        subprocess.run(command, check=True)

    with throwaway_server() as server, fresh_database(server, "template0") as restored:
        command = [binaries.path("pg_restore"), "--no-owner", "--exit-on-error", f"--dbname={restored}"]
        subprocess.run([*command, str(dump)], check=True)
        with serving(restored, tmp_path / "elsewhere") as second, second.client() as client:
            there = ok(client.get(f"/runs/{waiting['id']}/events", params={"limit": 1000}))["events"]
            assert there == before
            question = ok(client.get("/escalations", params={"status": "open"}))["items"][0]
            assert question["run_id"] == waiting["id"]
            answer = {"decision": "retry", "guidance": "Please divide by two."}
            ok(client.post(f"/escalations/{question['id']}/resolve", json=answer))
            ended = until_rest(client, waiting["id"])
            assert ended["status"] == "completed", ended["status_reason"]
            ok(client.post(f"/runs/{held}/resume"))
            assert until_rest(client, held)["status"] == "waiting"
            events = ok(client.get(f"/runs/{waiting['id']}/events", params={"limit": 1000}))["events"]
            assert [each["sequence"] for each in events] == list(range(1, len(events) + 1))
