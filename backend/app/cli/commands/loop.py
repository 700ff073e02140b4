"""`loop`: starts a director-evaluator loop and watches it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.commands.run import Watching
from app.cli.commands.watch import tell_started, watch_and_report
from app.cli.exits import STANDARD_STREAM, CliError, ExitCode
from app.cli.given import read_given
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.cli.starting import agent_of, source_of
from app.cli.view.text import one_line
from app.schemas.agents import AgentBackend
from app.schemas.api.loops import LoopCreate
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.xml import MAX_BYTES, LoopDefinitionError

DEFAULT_WATCHING = Watching()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LoopStart:
    """What a loop starts with.

    Attributes:
        inputs: NAME=VALUE of a task input; repeatable. The VALUE @FILE reads a file.
        query: Your question [default: the description].
        repo: Git repository, a path or a URL, for scripts, evaluators and the search for context.
        ref: Branch, tag or commit of the repository.
        credential: Name of a credential in FORGES_FILE, for a private repository.
        name: Name of the loop in lists.
        model: provider:model of the director, if the definition names none.
        script: TOML file that plays director and evaluator instead of models.
        max_tokens: Tokens the loop may use before a person is asked.
        max_cost: US dollars the loop may cost before a person is asked.
    """

    inputs: Annotated[list[str] | None, Parameter(name="--input", negative="")] = None
    query: str | None = None
    repo: str | None = None
    ref: str | None = None
    credential: str | None = None
    name: str | None = None
    model: str | None = None
    script: Path | None = None
    max_tokens: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    max_cost: Annotated[float | None, Parameter(validator=Number(gt=0))] = None


async def loop(
    file: str,
    /,
    *,
    start: LoopStart = LoopStart(),
    watching: Watching = DEFAULT_WATCHING,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Start a director-evaluator loop and watch it until it ends or needs a person.

    Args:
        file: The definition, in XML or JSON; - reads standard input.
    """
    watching.require_effect()
    request = describe(root, file, start)
    async with root.session(options) as session:
        started = await session.api.start_loop(request, str(uuid4()))
        if watching.watch:
            code = await watch_and_report(session, started.id, stay=watching.stay, timeout=watching.timeout)
            if code is ExitCode.PASSED and not session.terminal.as_json:
                found = (await session.api.loop(started.id)).result
                session.terminal.line(found.final_output if found else "")
            return code
        tell_started(session, started, started.id)
    return ExitCode.PASSED


def describe(root: Root, file: str, start: LoopStart) -> LoopCreate:
    """Make the request for a loop from a command line.

    Raises:
        CliError: something is missing or not valid. The message names it.
        InvalidInputError: the script cannot be read.
    """
    budget = {"tokens": start.max_tokens, "cost_usd": start.max_cost}
    fields: dict[str, Any] = {
        "definition": _definition(root, file),
        "inputs": dict(_input(root, each) for each in start.inputs or ()),
        "query": start.query,
        "name": start.name,
        "source": source_of(start.repo, start.ref, root.cwd, start.credential),
        "agent": agent_of(AgentBackend.AUTO, start.script, {"model": start.model}, root.cwd),
        "budget": budget if any(budget.values()) else None,
    }
    return read_given(LoopCreate, fields)


def _definition(root: Root, file: str) -> DirectorEvaluatorLoop:
    text = root.read_text(file if file == STANDARD_STREAM else f"@{file}", "FILE")
    if len(text) > MAX_BYTES:
        raise CliError(f"FILE: {one_line(file)} has more than {MAX_BYTES:,} characters")
    read = (
        DirectorEvaluatorLoop.from_xml if text.lstrip().startswith("<") else DirectorEvaluatorLoop.from_json
    )
    try:
        return read(text)
    except LoopDefinitionError as error:
        raise CliError(f"{one_line(file)}: {error}") from error


def _input(root: Root, given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise CliError(f"--input: {one_line(given)!r}; write NAME=VALUE")
    return name, root.read_text(value, f"--input {name}") if value.startswith("@") else value
