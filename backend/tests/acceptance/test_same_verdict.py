"""A started run gives the verdict that the other ways into the judge give."""

from pathlib import Path

import pytest

from tests.acceptance.projects import script, step, write
from tests.acceptance.server import Service, ok, until_rest
from tests.integration.evaluators.changes import CHANGES, Change
from tests.integration.evaluators.support import commit_all, lay_out, needs_node


@needs_node
@pytest.mark.parametrize("change", [pytest.param(each, id=name) for name, each in CHANGES.items()])
def test_a_run_gives_the_same_verdict(service: Service, tmp_path: Path, change: Change) -> None:
    project = tmp_path / "project"
    lay_out(project, change.whole_base)
    commit_all(project, "Start")
    edits = [write(name, text) for name, text in change.files.items()]
    body = {
        "goal": "More tea.",
        "source": {"kind": "local", "path": str(project)},
        "agent": script(step("More tea. Coding Complete", *edits)),
        "phases": ["coding"],
        "policy": {"attempts_per_phase": 1, "deterministic_only": True},
    }
    with service.client() as client:
        started = ok(client.post("/sprints", json=body))
        ended = until_rest(client, started["id"])
    (attempt,) = ended["attempts"]
    # An attempt without a verdict is not counted: the run waits for a person, and says why.
    is_errored = attempt["verdict"] is None and "reached no verdict" in ended["status_reason"]
    said = "errored" if is_errored else attempt["verdict"]
    assert said == change.verdict, ended["status_reason"]
    assert (ended["status"] == "completed") == (change.verdict == "passed")
