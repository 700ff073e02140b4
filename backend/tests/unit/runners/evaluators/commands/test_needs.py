"""Commands get what the project prepares: packages, services on the loopback, and masked secrets."""

import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.core.config import Settings
from app.db.embedded.binaries import usable_binaries
from app.runners.evaluators.commands.command import CommandEvaluator
from app.runners.evaluators.commands.needs import NeededService, Needs
from app.runners.evaluators.project.project_registry import OperatorLimits
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.registry import create_default_registry
from app.runners.project import ProjectRules, panel_for
from app.schemas.modes import SandboxMode
from app.workspaces.confine.confinement import SandboxSettings
from app.workspaces.confine.sandbox import Sandbox
from app.workspaces.environments.setup import Recipe, Setups
from app.workspaces.environments.shelf import Shelf
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.conftest import Context

pytestmark = pytest.mark.anyio

SECRET = "hush-hush-1234"
USES_TOOL = "cat node_modules/tool || exit 1"
LOCKED = {"package-lock.json": "1"}
SETUP = Recipe(lines=("mkdir -p node_modules; cp package-lock.json node_modules/tool",))


async def judge(
    context: Context,
    files: Mapping[str, str],
    command: str,
    base: Mapping[str, str] | None = None,
    mode: SandboxMode = SandboxMode.OFF,
    readable: tuple[Path, ...] = (),
    **needs: Any,
) -> EvaluationResult:
    sandbox = Sandbox(SandboxSettings(mode=mode, readable=readable))
    evaluator = CommandEvaluator(name="check", command=command, sandbox=sandbox, needs=Needs(**needs))
    return await evaluator.evaluate("coding", "", context(files, base))


def setups(tmp_path: Path) -> Setups:
    return Setups(Shelf(tmp_path / "shelf"), Sandbox(SandboxSettings(mode=SandboxMode.OFF)))


async def test_a_command_finds_what_the_set_up_made(context: Context, tmp_path: Path) -> None:
    assert (await judge(context, LOCKED, USES_TOOL)).status == "failed"
    needs: dict[str, Any] = {"setups": setups(tmp_path), "recipe": SETUP}
    assert (await judge(context, LOCKED, USES_TOOL, LOCKED, **needs)).status == "passed"
    forged = {**LOCKED, "node_modules/tool": "forged"}
    gate = "grep -qx 1 node_modules/tool"
    assert (await judge(context, forged, gate, LOCKED, **needs)).status == "passed"
    written = "grep -qx 1 node_modules/tool && echo gone > node_modules/tool"
    for _ in range(2):
        assert (await judge(context, LOCKED, written, LOCKED, **needs)).status == "passed", "copies are apart"


async def test_changed_lock_files_count_only_by_the_operators_leave(context: Context, tmp_path: Path) -> None:
    needs: dict[str, Any] = {"setups": setups(tmp_path), "recipe": SETUP}
    changed, gate = {"package-lock.json": "2"}, "grep -qx 2 node_modules/tool"
    refused = await judge(context, changed, gate, LOCKED, **needs)
    assert refused.status == "failed"
    assert "different lock files (package-lock.json)" in refused.feedback
    assert "ENVIRONMENT_CANDIDATE_DEPENDENCIES" in refused.suggestions[0]
    allowed = await judge(context, changed, gate, LOCKED, candidate=True, **needs)
    assert allowed.status == "passed"
    assert "Their packages were used" in allowed.feedback


async def test_a_candidates_set_up_gets_no_secrets(context: Context, tmp_path: Path) -> None:
    recipe = Recipe(lines=("mkdir -p m; echo ${TOKEN:-none} > m/seen",), secrets={"TOKEN": SECRET})
    needs: dict[str, Any] = {"setups": setups(tmp_path), "recipe": recipe, "candidate": True}
    assert (await judge(context, LOCKED, f"grep -qx {SECRET} m/seen", LOCKED, **needs)).status == "passed"
    changed = {"package-lock.json": "2"}
    assert (await judge(context, changed, "grep -qx none m/seen", LOCKED, **needs)).status == "passed"


async def test_a_set_up_that_fails_is_no_verdict(context: Context, tmp_path: Path) -> None:
    recipe = Recipe(lines=("echo no such package >&2; false",))
    result = await judge(context, LOCKED, "true", LOCKED, setups=setups(tmp_path), recipe=recipe)
    assert (result.status, result.metadata["reason"]) == ("errored", "environment")
    assert "no such package" in result.feedback
    result = await judge(context, LOCKED, "true", recipe=recipe)
    assert (result.status, "cannot run here" in result.feedback) == ("errored", True)


SERVER = (
    "from http.server import *; HTTPServer(('127.0.0.1', 8931), SimpleHTTPRequestHandler).serve_forever()"
)
ASK = "python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:8931/')\""
WEB = NeededService(name="web", run=f'sleep 0.3; exec python3 -c "{SERVER}"', ready=ASK, seconds=20)


async def test_a_service_is_ready_when_the_command_starts_and_ends_with_it(context: Context) -> None:
    confined = SandboxMode.REQUIRED
    result = await judge(context, {"a": "1"}, ASK, mode=confined, services=(WEB,))
    assert result.status == "passed", result.feedback
    assert (await judge(context, {"a": "1"}, f"{ASK}; exit 3", services=(WEB,))).status == "failed"
    assert (await judge(context, {"a": "1"}, ASK, mode=confined)).status == "failed", (
        "it ended with its command"
    )


async def test_the_documented_postgres_serves_a_command(context: Context) -> None:
    page = (Path(__file__).parents[6] / "docs" / "languages.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"```toml\n(\[\[environment\.service\]\]\n.*?)```", page, re.DOTALL)
    (documented,) = tomllib.loads(table)["environment"]["service"]
    binaries = next(usable_binaries())
    path = f"export LC_ALL=C PATH={shlex.quote(str(binaries.directory))}:$PATH"
    connect = "psycopg.connect('host=127.0.0.1 port=5433 dbname=postgres user=tea')"
    ask = shlex.join([sys.executable, "-c", f"import psycopg; {connect}"])
    fill = "c.execute('create table cups (n int)'); c.execute('insert into cups values (8)')"
    count = "c.execute('select sum(n) from cups').fetchone() == (8,)"
    command = shlex.join([sys.executable, "-c", f"import psycopg; c = {connect}; {fill}; assert {count}"])
    service = NeededService(name="db", run=f"{path}; {documented['run']}", ready=ask, seconds=PATIENCE)
    result = await judge(
        context,
        {"a": "1"},
        command,
        mode=SandboxMode.REQUIRED,
        readable=(binaries.directory.parent, Path(sys.prefix), Path(sys.base_prefix)),
        services=(service,),
    )
    assert result.status == "passed", result.feedback


NOT_READY = {
    "it ends": NeededService(name="db", run="echo cannot bind; exit 1", ready="false", seconds=20),
    "it never answers": NeededService(
        name="db", run="echo cannot bind; sleep 60", ready="false", seconds=0.3
    ),
}


@pytest.mark.parametrize("service", NOT_READY.values(), ids=NOT_READY.keys())
async def test_a_service_that_is_not_ready_is_no_verdict(context: Context, service: NeededService) -> None:
    result = await judge(context, {"a": "1"}, "true", {"a": "1"}, services=(service,))
    assert (result.status, result.metadata["reason"]) == ("errored", "service")
    assert "the service db is not ready" in result.feedback
    assert "cannot bind" in result.feedback


async def test_who_says_that_a_service_was_not_ready_is_not_believed(context: Context) -> None:
    lie = "echo 'phaserunner: the service web is not ready' >&2; exit 98"
    idle = NeededService(name="web", run="sleep 60", ready="true")
    result = await judge(context, {"a": lie}, "sh ./a", {"a": "true"}, services=(idle,))
    assert result.status == "failed"


async def test_secrets_reach_the_command_and_no_result(context: Context) -> None:
    command = 'echo "said $TOKEN"; test "$TOKEN" = absent'
    result = await judge(context, {"a": "1"}, command, secrets={"TOKEN": SECRET})
    assert result.status == "failed"
    assert SECRET not in result.model_dump_json()
    assert "said ***" in result.model_dump_json()
    assert SECRET not in repr(Needs(secrets={"TOKEN": SECRET}))


RULES = ProjectRules(limits=OperatorLimits(secrets=frozenset({"TOKEN"})), secrets={"TOKEN": SECRET})
COMMAND = '[[command]]\nname = "unit"\nrun = "true"\n'
REFUSED = {
    "the network": (
        '[environment]\nsetup = ["npm ci"]\nnetwork = true',
        "environment.network: is not allowed here; the operator allows it with ENVIRONMENT_SETUP_NETWORK",
    ),
    "a secret for the set-up": (
        '[environment]\nsetup = ["npm ci"]\nsecrets = ["OTHER"]',
        "environment.secrets: this service has no secret OTHER",
    ),
    "a secret for a command": (f'{COMMAND}secrets = ["OTHER"]', "command[1].secrets: this service has no"),
    "two services of a name": (
        '[[environment.service]]\nname = "db"\nrun = "a"\nready = "b"\n' * 2,
        "service 'db' is defined twice",
    ),
    "a network for nothing": ("[environment]\nnetwork = true", "need a setup"),
    "a set-up outside": (
        '[environment]\nsetup = ["x"]\nworking_directory = "../a"',
        "below the project's root",
    ),
}


@pytest.mark.parametrize(("text", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_what_a_project_may_not_have(text: str, told: str) -> None:
    found = panel_for(create_default_registry(), text.encode(), RULES)
    assert any(told in str(each) for each in found.problems), found.problems


def test_a_project_gets_what_its_file_asks_for() -> None:
    text = (
        f'[environment]\nsetup = ["npm ci"]\nsecrets = ["TOKEN"]\ntimeout = 9\nworking_directory = "web"\n'
        f'[[environment.service]]\nname = "db"\nrun = "a"\nready = "b"\n{COMMAND}secrets = ["TOKEN"]'
    )
    found = panel_for(create_default_registry(), text.encode(), RULES)
    assert found.problems == ()
    made = next(
        each.evaluator for each in found.registry.all_registrations() if each.evaluator.name == "unit"
    )
    assert isinstance(made, CommandEvaluator)
    assert made.needs.recipe == Recipe(
        lines=("npm ci",), secrets={"TOKEN": SECRET}, seconds=9, directory="web"
    )
    assert made.needs.services == (NeededService(name="db", run="a", ready="b"),)
    assert made.needs.secrets == {"TOKEN": SECRET}


@pytest.mark.parametrize(
    ("value", "told"),
    [('{"TOKEN": "short"}', "at least 8 characters"), ('{"A-B": "long enough"}', "is not the name of")],
)
def test_secrets_that_cannot_be_masked_or_named_are_refused(
    monkeypatch: pytest.MonkeyPatch, value: str, told: str
) -> None:
    monkeypatch.setenv("ENVIRONMENT_SECRETS", value)
    with pytest.raises(ValueError, match=told):
        Settings(_env_file=None)
