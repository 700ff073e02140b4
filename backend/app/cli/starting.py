"""Builds parts of requests from command line options."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from app.agents.scripted.script_file import load_script
from app.cli.exits import CliError
from app.cli.root import Session
from app.schemas.agent_script import AgentScript
from app.schemas.agents import AgentBackend
from app.schemas.api.forges import IssueSprintCreate
from app.schemas.api.runs import RunView
from app.schemas.api.sprints import SprintCreate
from app.schemas.runs import Phase
from app.schemas.workspaces import is_url


def source_of(repo: str | None, ref: str | None, cwd: Path, credential: str | None = None) -> dict[str, Any]:
    """Return the source for `--repo`: a URL, a path (made absolute with `cwd`), or an empty project.

    Raises:
        CliError: `--ref` without `--repo`, or `--credential` without a URL.
    """
    if credential is not None and (repo is None or not is_url(repo)):
        raise CliError("--credential: needs --repo with a URL")
    if repo is None:
        if ref is not None:
            raise CliError("--ref: needs --repo")
        return {"kind": "empty"}
    at = {"ref": ref} if ref else {}
    if is_url(repo):
        return {"kind": "git", "url": repo} | at | ({"credential": credential} if credential else {})
    return {"kind": "local", "path": str((cwd / Path(repo).expanduser()).resolve())} | at


def phases_of(given: str | None) -> dict[str, Any]:
    """Parse a comma-separated list of phases.

    Raises:
        CliError: there is no such phase.
    """
    if given is None:
        return {}
    names = [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in names if name not in list(Phase)]
    if unknown or not names:
        raise CliError(f"--phases: {given!r}; give some of {', '.join(Phase)}, separated by commas")
    return {"phases": names}


def agent_of(
    backend: str, script: Path | AgentScript | None, others: Mapping[str, Any], cwd: Path
) -> dict[str, Any]:
    """Return the agent of a request. A script selects the scripted backend.

    Raises:
        InvalidInputError: the script cannot be read.
        CliError: a script is missing, or is given with an agent that plays none.
    """
    if isinstance(script, Path):
        script = load_script(cwd / script.expanduser())
    if script is None:
        if backend == AgentBackend.SCRIPTED:
            raise CliError("--agent: scripted needs --script FILE.toml or --example NAME")
        return {"backend": backend} | _given(others)
    if backend not in (AgentBackend.AUTO, AgentBackend.SCRIPTED):
        raise CliError(f"--script: needs the agent scripted, not {backend}")
    return {"backend": AgentBackend.SCRIPTED, "script": script} | _given(others)


def candidates_of(count: int | None, named: Sequence[str] | None) -> int | list[dict[str, str]] | None:
    """Return the candidates of a request: their number, or agents as AGENT or AGENT:MODEL.

    Raises:
        CliError: both are given, or an agent has no name.
    """
    if not named:
        return count
    if count is not None:
        raise CliError("--candidate: names the agents one by one, so --candidates must be absent")
    found: list[dict[str, str]] = []
    for each in named:
        agent, colon, model = each.partition(":")
        if not agent or (colon and not model):
            raise CliError(f"--candidate: {each!r}; write AGENT or AGENT:MODEL, such as codex:gpt-5")
        found.append({"agent": agent} | ({"model": model} if model else {}))
    return found


def require_one_choice(agent: str, model: str | None, named: Sequence[str] | None) -> None:
    """Refuse agents that are named in two ways.

    Raises:
        CliError: `--candidate` names agents and models, and another option does so, too.
    """
    if named and (agent != AgentBackend.AUTO or model is not None):
        option = "--model" if agent == AgentBackend.AUTO else "--agent"
        raise CliError(
            f"--candidate: names every agent and model, so {option} must be absent; "
            "name one more candidate as AGENT or AGENT:MODEL"
        )


async def start_sprint(session: Session, sprint: SprintCreate | IssueSprintCreate) -> RunView:
    """Start a sprint exactly once, even if the first response is lost. Print notes on it."""
    path = "/forges/issues" if isinstance(sprint, IssueSprintCreate) else "/sprints"
    started = await session.api.start(sprint, str(uuid4()), path)
    for note in started.notes:
        session.terminal.say(f"Note: {note}", "yellow")
    return started


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
