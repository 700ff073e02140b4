"""`scripted-model`: serves a script in place of a model provider."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from app.agents.scripted.examples import find_example
from app.agents.scripted.script_file import load_script
from app.cli.exits import CliError, ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.cli.terminal import Terminal
from app.gateway.scripted.play import ScriptPlayer
from app.gateway.scripted.server import ScriptedModelServer
from app.schemas.agent_script import AgentScript

DEFAULT_PORT = 9911


def scripted_model(
    *,
    example: str | None = None,
    script: Path | None = None,
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65_535))] = DEFAULT_PORT,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Serve a script in place of a model until Ctrl-C. Agents need no key.

    Args:
        example: Play the script of this example.
        script: Play this TOML file.
        port: Port of 127.0.0.1 to listen on, 0 for any free one.
    """
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_script(_script(example, script, root), port, root.terminal(options)))
    return ExitCode.PASSED


def _script(example: str | None, script: Path | None, root: Root) -> AgentScript:
    if (example is None) == (script is None):
        raise CliError("--example NAME or --script FILE.toml: give one of both")
    if example is not None:
        return find_example(example).load_script()
    assert script is not None  # noqa: S101 - one of both is given
    return load_script(root.cwd / script.expanduser())


async def serve_script(script: AgentScript, port: int, terminal: Terminal) -> None:
    """Serve until cancelled. Print how agents connect to this server.

    Raises:
        CliError: the port is taken.
    """
    server = ScriptedModelServer(ScriptPlayer(script), port=port, keeps_requests=False)
    try:
        await server.__aenter__()
    except OSError as error:
        told = f"port {port} cannot be listened on: {error.strerror}; choose another with --port"
        raise CliError(told, ExitCode.INFRASTRUCTURE) from error
    try:
        settings = {
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_BASE_URL": server.url,
            "GEMINI_BASE_URL": server.url,
        }
        if terminal.as_json:
            terminal.json({"url": server.url, "script": script.title, "settings": settings})
        else:
            terminal.say(f"A script answers at {server.url} (Ctrl-C stops it): {script.title}")
            terminal.say("Start the service with one of these settings:")
            for name, value in settings.items():
                terminal.line(f"{name}={value}")
        await asyncio.Event().wait()
    finally:
        await server.__aexit__(None, None, None)
