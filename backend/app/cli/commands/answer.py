"""`answer`: answers a question from evidence, and checks the answer before showing it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.commands.run import Watching
from app.cli.commands.watch import tell_started, watch_and_report
from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument, Session
from app.cli.starting import agent_of, source_of
from app.schemas.agents import AgentBackend
from app.schemas.api.answers import AnswerCreate, AnswerDetail

DEFAULT_WATCHING = Watching()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AnswerEvidence:
    """The evidence for an answer, and its rules.

    Attributes:
        entries: A piece of evidence; @FILE reads a file; repeatable.
        repo: Git repository, a path or a URL, whose files are evidence; retries search it for missing data.
        ref: Branch, tag or commit of the repository.
        credential: Name of a credential in FORGES_FILE, for a private repository.
        domains: Name of a rule set in ANSWER_RULES_FILE; repeatable.
        rules: Another rule for the answer; repeatable.
        max_retries: Attempts after the first one.
        name: Name of the answer in lists.
        model: provider:model that writes.
        script: TOML file that plays writer and evaluator instead of models.
        max_tokens: Tokens the answer may use before a person is asked.
        max_cost: US dollars the answer may cost before a person is asked.
    """

    entries: Annotated[list[str] | None, Parameter(name="--entry", negative="")] = None
    repo: str | None = None
    ref: str | None = None
    credential: str | None = None
    domains: Annotated[list[str] | None, Parameter(name="--domain", negative="")] = None
    rules: Annotated[list[str] | None, Parameter(name="--rule", negative="")] = None
    max_retries: Annotated[int, Parameter(validator=Number(gte=0, lte=2))] = 2
    name: str | None = None
    model: str | None = None
    script: Path | None = None
    max_tokens: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    max_cost: Annotated[float | None, Parameter(validator=Number(gt=0))] = None


async def answer(
    query: str,
    /,
    *,
    evidence: AnswerEvidence = AnswerEvidence(),
    watching: Watching = DEFAULT_WATCHING,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Answer a question from evidence. The exit code is 0 only if all four dimensions are sufficient.

    A partial answer is shown with its gaps; the exit code is 1.

    Args:
        query: Your question; - reads standard input, @FILE reads a file.
    """
    watching.require_effect()
    request = describe(root, query, evidence)
    async with root.session(options) as session:
        started = await session.api.start_answer(request, str(uuid4()))
        if watching.watch:
            code = await watch_and_report(session, started.id, stay=watching.stay, timeout=watching.timeout)
            if code not in (ExitCode.PASSED, ExitCode.FAILED):
                return code
            return _report(session, await session.api.answer(started.id))
        tell_started(session, started, started.id)
    return ExitCode.PASSED


def describe(root: Root, query: str, evidence: AnswerEvidence) -> AnswerCreate:
    """Make the request for an answer from a command line.

    Raises:
        CliError: something is missing or not valid. The message names it.
        InvalidInputError: the script cannot be read.
    """
    budget = {"tokens": evidence.max_tokens, "cost_usd": evidence.max_cost}
    fields: dict[str, Any] = {
        "query": root.read_text(query, "QUERY"),
        "entries": [root.read_text(each, "--entry") for each in evidence.entries or ()],
        "source": source_of(evidence.repo, evidence.ref, root.cwd, evidence.credential),
        "domains": evidence.domains or [],
        "rules": evidence.rules or [],
        "max_retries": evidence.max_retries,
        "name": evidence.name,
        "agent": agent_of(AgentBackend.AUTO, evidence.script, {"model": evidence.model}, root.cwd),
        "budget": budget if any(budget.values()) else None,
    }
    return read_given(AnswerCreate, fields)


def _report(session: Session, found: AnswerDetail) -> ExitCode:
    """Write the answer to standard output, and its gaps to standard error."""
    result = found.result
    accepted = result is not None and result.status == "accepted"
    if result is not None and not session.terminal.as_json:
        if result.answer is not None:
            session.terminal.line(result.answer)
        if result.withheld:
            session.terminal.say("Withheld: no attempt met the safety rules", "yellow")
        elif not accepted:
            session.terminal.say(f"{result.status.capitalize()}: {result.reason}", "yellow")
        for gap in result.gaps:
            session.terminal.say(f"Gap: {gap}", "yellow")
    return ExitCode.PASSED if accepted else ExitCode.FAILED
