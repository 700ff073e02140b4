"""`run`: starts a sprint and watches it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.commands.watch import Seconds, tell_started, watch_and_report
from app.cli.examples import place_example
from app.cli.exits import CliError, ExitCode
from app.cli.given import read_given
from app.cli.held_out import held_out_from
from app.cli.root import DEFAULT_OPTIONS, Options, Root, RootArgument
from app.cli.starting import (
    agent_of,
    candidates_of,
    phases_of,
    require_one_choice,
    source_of,
    start_sprint,
)
from app.schemas.agents import AgentBackend
from app.schemas.api.forges import IssueSprintCreate
from app.schemas.api.sprints import SprintCreate
from app.schemas.held_out import MAX_SHARE
from app.schemas.questions import BaseFailures, ProtectedPolicy
from app.schemas.runs import HeldOutFeedback, RetryContext


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SprintLimits:
    """Limits of a sprint.

    Attributes:
        max_attempts: Attempts per phase before a person is asked.
        max_tokens: Tokens the sprint may use before a person is asked.
        max_cost: US dollars the sprint may cost before a person is asked.
        deterministic_only: Evaluate with tools only, without models.
        open_paths: GLOB of protected files that the sprint may change; repeatable.
        protected: What becomes of changed tests: fail, ask a person, or note.
        base_failures: Which tests that fail at the base count: goal, must_pass or ignore.
        goal_tests: GLOB of ids of failing tests that are to pass; repeatable.
        held_out_feedback: What the agent learns of failing held-out tests: none, names or messages.
    """

    max_attempts: Annotated[int | None, Parameter(validator=Number(gte=1, lte=20))] = None
    max_tokens: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    max_cost: Annotated[float | None, Parameter(validator=Number(gt=0))] = None
    deterministic_only: Annotated[bool, Parameter(negative="")] = False
    open_paths: Annotated[list[str] | None, Parameter(name="--open", negative="")] = None
    protected: ProtectedPolicy | None = None
    base_failures: BaseFailures | None = None
    goal_tests: Annotated[list[str] | None, Parameter(name="--goal-test", negative="")] = None
    held_out_feedback: HeldOutFeedback | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WorkOptions(SprintLimits):
    """What the sprint works on, and its limits.

    Attributes:
        repo: Git repository to work on, a path or a URL [default: a new project].
        ref: Branch, tag or commit to start from.
        credential: Name of a credential in FORGES_FILE, for a private repository.
        example: Run an example project; a script plays the agent, unless --agent names another one.
        name: Name of the sprint in lists.
        phases: Some of discovery,coding,verification, separated by commas.
        held_out: Patch, or directory of files, with tests that no agent sees; they judge each attempt.
        held_out_share: Share of the goal's test cases to hide from the agent, such as 0.3; 0 hides none.
    """

    repo: str | None = None
    ref: str | None = None
    credential: str | None = None
    example: str | None = None
    name: str | None = None
    phases: str | None = None
    held_out: Path | None = None
    held_out_share: Annotated[float | None, Parameter(validator=Number(gte=0, lte=MAX_SHARE))] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Worker:
    """The agent.

    Attributes:
        agent: Who works: auto, pydantic-ai, scripted, or one of `phaserunner agents`.
        model: provider:model, such as anthropic:claude-sonnet-4-20250514.
        script: TOML file that a scripted agent plays.
        candidates: Agents that work on each attempt in parallel; the gates choose between them.
        retry_context: Begin retries with a fresh conversation, or continue the one before.
        candidate: AGENT or AGENT:MODEL, one of several that work in parallel; repeatable.
    """

    agent: str = AgentBackend.AUTO
    model: str | None = None
    script: Path | None = None
    candidates: Annotated[int | None, Parameter(validator=Number(gte=1, lte=8))] = None
    retry_context: RetryContext | None = None
    candidate: Annotated[list[str] | None, Parameter(negative="")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Watching:
    """What happens after the start.

    Attributes:
        watch: Watch until the run ends or needs a person; --no-watch only prints its id.
        stay: Keep watching while the run waits for a person.
        timeout: Seconds to watch; then the exit code is 124 and the run continues.
    """

    watch: Annotated[bool, Parameter(name="--watch", negative=("--no-watch", "--detach"))] = True
    stay: Annotated[bool, Parameter(negative="")] = False
    timeout: Seconds = None

    def require_effect(self) -> None:
        """Refuse options that change nothing, because nothing is watched.

        Raises:
            CliError: there is one.
        """
        if not self.watch and (self.stay or self.timeout is not None):
            raise CliError(f"{'--stay' if self.stay else '--timeout'}: has no effect with --no-watch")


async def run(
    goal: str | None = None,
    /,
    *,
    issue: str | None = None,
    work: WorkOptions = WorkOptions(),
    worker: Worker = Worker(),
    watching: Watching = Watching(),
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Start a sprint and watch it until it ends or needs a person.

    Args:
        goal: What to do, in your words; - reads standard input, @FILE reads a file.
        issue: URL of an issue that gives goal and repository, in place of GOAL and --repo.
    """
    watching.require_effect()
    if issue is not None:
        sprint = describe_issue(root, issue, goal, work, worker)
    else:
        sprint = await describe(root, goal, work, worker)
    async with root.session(options) as session:
        started = await start_sprint(session, sprint)
        if watching.watch:
            return await watch_and_report(session, started.id, stay=watching.stay, timeout=watching.timeout)
        tell_started(session, started, started.id)
    return ExitCode.PASSED


def describe_issue(
    root: Root, issue: str, goal: str | None, work: WorkOptions, worker: Worker
) -> IssueSprintCreate:
    """Make the request for an issue's sprint from a command line.

    Raises:
        CliError: an option contradicts `--issue` or is not valid.
        InvalidInputError: the script cannot be read.
    """
    others = {"--repo": work.repo, "--ref": work.ref, "--example": work.example}
    others |= {"--credential": work.credential}
    if goal is not None or any(each is not None for each in others.values()):
        raise CliError(f"--issue: gives goal and source; leave out GOAL, {', '.join(others)}")
    more = _choice(worker)
    fields = _common(root, work, worker)
    fields |= {"issue": issue, "agent": agent_of(worker.agent, worker.script, more, root.cwd)}
    return read_given(IssueSprintCreate, fields)


async def describe(root: Root, goal: str | None, work: WorkOptions, worker: Worker) -> SprintCreate:
    """Make the request for a sprint from a command line.

    Raises:
        CliError: something is missing, contradictory or not valid. The message names it.
        InvalidInputError: the script cannot be read.
    """
    fields = _common(root, work, worker)
    others = _choice(worker)
    if work.example is not None:
        if any(each is not None for each in (work.repo, work.ref, work.credential, worker.script)):
            raise CliError("--example: brings its own --repo, --ref, --credential and --script")
        example, repository = await place_example(work.example, root.data_dir)
        is_played = worker.agent in (AgentBackend.AUTO, AgentBackend.SCRIPTED) and not worker.candidate
        agent = agent_of(worker.agent, example.script if is_played else None, others, root.cwd)
        words = root.read_text(goal, "GOAL") if goal is not None else example.goal
        source = {"kind": "local", "path": str(repository)}
        # The title describes what the script does; another agent may do something else.
        name = work.name or (example.title if is_played else None)
        return read_given(
            SprintCreate, fields | {"name": name, "goal": words, "source": source, "agent": agent}
        )
    if goal is None:
        raise CliError(
            'GOAL: is missing. Say what to do, for example: phaserunner run "Make the tests pass" --repo PATH'
        )
    agent = agent_of(worker.agent, worker.script, others, root.cwd)
    source = source_of(work.repo, work.ref, root.cwd, work.credential)
    return read_given(
        SprintCreate, fields | {"goal": root.read_text(goal, "GOAL"), "source": source, "agent": agent}
    )


def _common(root: Root, work: WorkOptions, worker: Worker) -> dict[str, Any]:
    """Return the fields of sprints with and without an issue."""
    fields: dict[str, Any] = {"name": work.name, "policy": policy_of(work, worker)} | phases_of(work.phases)
    if work.held_out is not None and work.held_out_share is not None:
        raise CliError("--held-out-share: give only one of --held-out and --held-out-share")
    if work.held_out is not None:
        fields["held_out"] = held_out_from(root.cwd / work.held_out.expanduser())
    if work.held_out_share is not None:
        fields["held_out"] = {"share": work.held_out_share}
    return fields


def _choice(worker: Worker) -> dict[str, Any]:
    require_one_choice(worker.agent, worker.model, worker.candidate)
    return {"model": worker.model, "candidates": candidates_of(worker.candidates, worker.candidate)}


def policy_of(work: SprintLimits, worker: Worker = Worker()) -> dict[str, Any]:
    """Return the policy of a sprint in the API's form."""
    policy: dict[str, Any] = {"attempts_per_phase": work.max_attempts, "open_paths": work.open_paths}
    about_tests = {
        "protected": work.protected,
        "base_failures": work.base_failures,
        "goal_tests": work.goal_tests,
        "held_out_feedback": work.held_out_feedback,
    }
    policy |= {name: value for name, value in about_tests.items() if value is not None}
    if worker.retry_context is not None:
        policy["retry_context"] = worker.retry_context
    if work.deterministic_only:
        policy["deterministic_only"] = True
    if work.max_tokens is not None or work.max_cost is not None:
        policy["budget"] = {"tokens": work.max_tokens, "cost_usd": work.max_cost}
    return policy
