"""`hook`: evaluates work when an agent wants to stop or a branch is pushed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio.to_thread
from cyclopts import Parameter
from cyclopts.validators import Number

from app.cli.exits import CliError, ExitCode
from app.cli.hooks.clients import HookClient
from app.cli.root import STATE_DIR, Root, RootArgument
from app.cli.view.text import one_line

if TYPE_CHECKING:
    from app.cli.hooks.installing import Hook

_Flag = Parameter(negative="")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class HookOptions:
    """What to do.

    Attributes:
        install: Write the hook where the program looks for it; everything else there stays.
        uninstall: Remove the hook.
        user: Install an agent's hook for all projects of this user.
        base: Git reference to compare with [default: the commit at which the session started].
        times: How often a session may have findings back.
        models: Ask models, too; they advise.
        run: Evaluate; the agent or git calls this.
        remote: The remote that git pushes to; git names it.
    """

    install: Annotated[bool, _Flag] = False
    uninstall: Annotated[bool, _Flag] = False
    user: Annotated[bool, _Flag] = False
    base: str | None = None
    times: Annotated[int, Parameter(validator=Number(gte=0, lte=100))] = 3
    models: Annotated[bool, _Flag] = False
    run: Annotated[bool, _Flag] = False
    remote: Annotated[str, Parameter(show=False)] = "origin"


async def hook(
    client: HookClient, path: Path = Path(), /, *, given: HookOptions = HookOptions(), root: RootArgument
) -> int:
    """Print, install or remove a hook that evaluates the project when an agent stops or before a push.

    Args:
        client: The program that calls the hook.
        path: The project.
    """
    if sum((given.install, given.uninstall, given.run)) > 1:
        raise CliError("hook: give one of --install, --uninstall and --run")
    if given.user and client is HookClient.GIT_PRE_PUSH:
        raise CliError("--user: git has no pre-push hook for a user; install it in each project")
    if given.run:
        code = await _run(client, path, given, root)
        root.stand_by(root.settings.HOOK_STANDBY_SECONDS)
        return code
    return await _manage(client, path, given, root)


async def _manage(client: HookClient, path: Path, given: HookOptions, root: Root) -> int:
    from app.cli.hooks.git_places import pre_push_path  # noqa: PLC0415 - only to install
    from app.cli.hooks.installing import install, place_of, uninstall  # noqa: PLC0415 - only to install

    project = Path(root.absolute(path))
    if not await anyio.Path(project).is_dir():
        raise CliError(f"path: {project} is not a directory")
    made = _hook(client, given)
    if client is HookClient.GIT_PRE_PUSH:
        place = await pre_push_path(project)
    else:
        place = place_of(client, Path.home() if given.user else project, user=given.user)
    if given.install:
        changed = await anyio.to_thread.run_sync(install, made, place)
        root.out.file.write(f"{'Installed in' if changed else 'Already installed in'} {place}\n")
    elif given.uninstall:
        changed = await anyio.to_thread.run_sync(uninstall, made, place)
        root.out.file.write(f"{'Removed from' if changed else 'There is no hook in'} {place}\n")
    else:
        root.err.file.write(f"This belongs in {place}; --install puts it there\n")
        root.out.file.write(made.content(None, str(place)))
    if given.install and client is HookClient.CODEX:
        root.err.file.write("Start codex and approve the hook with /hooks; codex runs no hook before that\n")
    return ExitCode.PASSED


def _hook(client: HookClient, given: HookOptions) -> "Hook":
    from app.cli.hooks.installing import Hook  # noqa: PLC0415 - only to install

    arguments = [*(["--base", given.base] if given.base else []), *(["--models"] if given.models else [])]
    if client is not HookClient.GIT_PRE_PUSH:
        arguments += ["--times", str(given.times)]
    return Hook(client, Path.home() / STATE_DIR, tuple(arguments))


async def _run(client: HookClient, path: Path, given: HookOptions, root: Root) -> int:
    if client is HookClient.GIT_PRE_PUSH:
        return await _run_push(path, given, root)
    from app.cli.hooks.answer import no_verdict  # noqa: PLC0415 - only to evaluate
    from app.cli.hooks.protocol import read_event, write_answer  # noqa: PLC0415 - only to evaluate
    from app.cli.hooks.session import AgentHook  # noqa: PLC0415 - only to evaluate
    from app.cli.hooks.state import SessionStates  # noqa: PLC0415 - only to evaluate

    event = read_event(await anyio.to_thread.run_sync(root.read_stdin, "hook"))
    states = SessionStates(root.data_dir / "hooks")
    agent = AgentHook(root, states, given.base, given.times, deterministic_only=not given.models)
    try:
        answer = await agent.handle(event)
    except Exception as error:  # noqa: BLE001 - an agent must not be held up by a fault of its judge
        answer = no_verdict(f"{type(error).__name__}: {error}; please report it")
    root.out.file.write(write_answer(answer))
    return ExitCode.PASSED


async def _run_push(path: Path, given: HookOptions, root: Root) -> int:
    from app.cli.hooks.pre_push import judge_push, read_refs  # noqa: PLC0415 - only to evaluate
    from app.core.errors import PhaseRunnerError  # noqa: PLC0415 - only to evaluate

    try:
        refs = read_refs(await anyio.to_thread.run_sync(root.read_stdin, "hook"))
        verdicts = await judge_push(
            root,
            Path(root.absolute(path)),
            refs,
            given.remote,
            given.base,
            deterministic_only=not given.models,
        )
    except (CliError, PhaseRunnerError) as error:
        return _let_through(root, error.message if isinstance(error, CliError) else str(error))
    except Exception as error:  # noqa: BLE001 - a fault of the judge must not hold up a push
        return _let_through(root, one_line(f"{type(error).__name__}: {error}; please report it", 2000))
    for each in verdicts:
        root.err.file.write(f"PhaseRunner: {each.ref} {each.verdict}: {each.text}\n")
    return ExitCode.FAILED if any(each.verdict == "failed" for each in verdicts) else ExitCode.PASSED


def _let_through(root: Root, told: str) -> int:
    root.err.file.write(f"PhaseRunner reached no verdict, and lets the push through: {told}\n")
    return ExitCode.PASSED
