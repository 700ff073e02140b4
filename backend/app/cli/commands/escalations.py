"""`escalations`: lists what waits for a person, and records the decision."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from app.cli.commands.watch import watch_and_report
from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.identify import find_escalation
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.terminal import Terminal
from app.cli.view.asking import how_to_resolve
from app.cli.view.questions import question_lines
from app.cli.view.tables import (
    attempt_lines,
    escalation_lines,
    escalations_table,
    output_lines,
    print_table,
)
from app.cli.view.words import KIND_WORDS
from app.schemas.api.escalations import EscalationAssign, EscalationResolve, EscalationView
from app.schemas.runs import EscalationDecision, RunKind

app = App(name="escalations")

_COMMENT = re.compile(
    r"(?P<path>.+?):(?:(?P<start>\d+)-)?(?P<line>\d+)(?P<old>@old)?:(?P<body>.*)", re.DOTALL
)
_Flag = Parameter(negative="")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Resolution:
    """A reviewer's decision.

    Attributes:
        accept: Accept the output and start the next phase. A loop ends with this output, an answer with its
            best attempt.
        retry: Let the agent try again with your guidance in its prompt.
        reject: Fail the run.
        guidance: What the agent should do differently, or the reason; - reads standard input, @FILE reads a
            file. A sentence may begin with @.
        attempts: Number of attempts that a retry grants [default: 1].
        comment: PATH:LINE:TEXT, a comment on a line of the diff; PATH:FIRST-LAST:TEXT on several lines,
            PATH:LINE@old:TEXT on a removed line; repeatable.
        open_paths: GLOB of protected files that the run may change; repeatable.
        known_failures: Later runs of the repository ask no more about the tests in question that fail at the
            base.
    """

    accept: Annotated[bool, _Flag] = False
    retry: Annotated[bool, _Flag] = False
    reject: Annotated[bool, _Flag] = False
    guidance: str = ""
    attempts: Annotated[int | None, Parameter(validator=Number(gte=1, lte=20))] = None
    comment: Annotated[list[str] | None, Parameter(negative="")] = None
    open_paths: Annotated[list[str] | None, Parameter(name="--open", negative="")] = None
    known_failures: Annotated[bool, _Flag] = False


@app.default
@app.command(name="list")
async def list_escalations(
    *,
    status: Literal["open", "resolved", "withdrawn", "any"] = "open",
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """List escalations, oldest first.

    Args:
        status: Only escalations with this status.
    """
    async with root.session(options) as session:
        found = [each async for each in session.api.escalations(None if status == "any" else status)]
        terminal = session.terminal
        if terminal.as_json:
            terminal.json([each.model_dump(mode="json") for each in found])
        elif found:
            print_table(terminal.out, escalations_table(found, datetime.now(UTC)))
            terminal.say("Show one: phaserunner escalations show ID")
        else:
            terminal.say("Nothing waits for a person" if status == "open" else "There is none")
    return ExitCode.PASSED


@app.command(name="show")
async def show_escalation(
    escalation: str | None = None, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Show an escalation: the reason, what failed, and how to resolve it.

    Args:
        escalation: Its id, at least the first 6 characters of it, or those of its run; not needed if
            exactly one is open.
    """
    async with root.session(options) as session:
        # A list of escalations does not hold their questions.
        found = await session.api.escalation((await find_escalation(session.api, escalation)).id)
        terminal = session.terminal
        if terminal.as_json:
            terminal.json(found.model_dump(mode="json"))
            return ExitCode.PASSED
        run = await session.api.run(found.run_id)
        lines = escalation_lines(found, run)
        lines += [line for asked in found.questions for line in question_lines(asked)]
        for attempt in run.attempts:
            if (attempt.phase, attempt.number) == (found.phase, found.attempt):
                is_said = attempt.verdict_reason == found.reason
                lines += attempt_lines(
                    attempt.model_copy(update={"verdict_reason": ""}) if is_said else attempt
                )
                lines += [] if found.kind is RunKind.SPRINT else output_lines(attempt)
        for text, style in lines:
            terminal.prose(text, style)
        if found.status == "open":
            if found.kind is RunKind.SPRINT:
                short = str(found.run_id)[:8]
                terminal.line(f"  diff    phaserunner diff {short} --attempt {found.phase}/{found.attempt}")
            ways = how_to_resolve(
                found.id,
                found.reason_kind,
                session.api.url,
                red_tests=any(each.tests for each in found.questions),
                with_token=session.api.has_token,
            )
            for line in ["", "Decide with one of:", *ways]:
                terminal.line(line)
    return ExitCode.PASSED


@app.command(name="take")
async def take_escalation(
    escalation: str | None = None,
    /,
    *,
    take_over: Annotated[bool, _Flag] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Assign an escalation to yourself.

    Args:
        escalation: Its id, at least the first 6 characters of it, or those of its run; not needed if
            exactly one is open.
        take_over: Also take it from another reviewer.
    """
    async with root.session(options) as session:
        found = await find_escalation(session.api, escalation)
        taken = await session.api.assign(found.id, EscalationAssign(take_over=take_over))
        _say_who(session.terminal, taken, f"Escalation {taken.id} is taken by {taken.assigned_to}")
    return ExitCode.PASSED


@app.command(name="release")
async def release_escalation(
    escalation: str | None = None, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument
) -> int:
    """Release an escalation that you have taken.

    Args:
        escalation: Its id, at least the first 6 characters of it, or those of its run; not needed if
            exactly one is open.
    """
    async with root.session(options) as session:
        found = await find_escalation(session.api, escalation)
        given = await session.api.release(found.id)
        _say_who(session.terminal, given, f"Escalation {given.id} is released")
    return ExitCode.PASSED


@app.command(name="resolve")
async def resolve_escalation(
    escalation: str | None = None,
    /,
    *,
    resolution: Resolution = Resolution(),
    watch: Annotated[bool, _Flag] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Resolve an escalation: accept, retry or reject.

    Args:
        escalation: Its id, at least the first 6 characters of it, or those of its run; not needed if
            exactly one is open.
        watch: Watch the run afterwards.
    """
    decision = decision_of(resolution)
    guidance = root.read_message(resolution.guidance, "--guidance").strip()
    async with root.session(options) as session:
        found = await find_escalation(session.api, escalation)
        terminal = session.terminal
        if escalation is None:
            terminal.say(f"The only open escalation: {str(found.id)[:8]}, {found.phase} of {found.run_name}")
        known = (await session.api.run(found.run_id)).last_sequence if watch else 0
        resolved = await session.api.resolve(found.id, _resolution(found, decision, guidance, resolution))
        if not terminal.as_json:
            terminal.line(f"Escalation {found.id} is resolved: {decision.value}")
        elif not watch:
            terminal.json(resolved)
        if watch:
            return await watch_and_report(session, found.run_id, after=known)
        if decision is not EscalationDecision.REJECT:
            word, short = KIND_WORDS[found.kind].lower(), str(found.run_id)[:8]
            terminal.say(f"The {word} continues. Watch it with: phaserunner watch {short}")
    return ExitCode.PASSED


def _say_who(terminal: Terminal, escalation: EscalationView, words: str) -> None:
    if terminal.as_json:
        terminal.json(escalation.model_dump(mode="json"))
    else:
        terminal.line(words)


def decision_of(resolution: Resolution) -> EscalationDecision:
    """Return the one decision that a command line names.

    Raises:
        CliError: it names none or several.
    """
    chosen = [each for each in EscalationDecision if getattr(resolution, each.value)]
    if len(chosen) != 1:
        raise CliError("decision: give exactly one of --accept, --retry and --reject")
    if resolution.attempts is not None and chosen[0] is not EscalationDecision.RETRY:
        raise CliError("--attempts: works only with --retry")
    return chosen[0]


def comments_of(given: Sequence[str]) -> list[dict[str, str | int]]:
    """Parse line comments: `PATH:LINE:TEXT`, `PATH:FIRST-LAST:TEXT`, `PATH:LINE@old:TEXT` for removed lines.

    Raises:
        CliError: one does not have that form.
    """
    comments: list[dict[str, str | int]] = []
    for each in given:
        match = _COMMENT.fullmatch(each)
        if match is None:
            raise CliError(f"--comment: {each!r} is not PATH:LINE:TEXT")
        comment: dict[str, str | int] = {
            "path": match["path"],
            "line": int(match["line"]),
            "body": match["body"].strip(),
        }
        if match["start"]:
            comment["start_line"] = int(match["start"])
        if match["old"]:
            comment["side"] = "old"
        comments.append(comment)
    return comments


def _resolution(
    found: EscalationView, decision: EscalationDecision, guidance: str, resolution: Resolution
) -> EscalationResolve:
    fields = {
        "decision": decision,
        "guidance": guidance,
        "line_comments": comments_of(resolution.comment or ()),
        "additional_attempts": resolution.attempts,
        "open_paths": resolution.open_paths or [],
        "known_failures": resolution.known_failures,
        # The service refuses this if another reviewer has decided since.
        "version": found.version,
    }
    return read_given(EscalationResolve, fields)
