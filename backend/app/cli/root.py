"""The command line's composition root: settings in, consoles and clients out."""

import getpass
import os
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TextIO
from uuid import UUID

from cyclopts import Parameter
from rich.console import Console

from app.cli.exits import STANDARD_STREAM, CliError, ExitCode
from app.cli.importing import quick_imports
from app.cli.standby.starting import start_standby
from app.cli.terminal import Terminal, console_for

if TYPE_CHECKING:
    import httpx
    from pydantic_settings import SettingsError

    from app.cli.api_client import ApiClient
    from app.cli.follow import Follow
    from app.client.events import Reset
    from app.core.config import Settings
    from app.core.websocket_events import Event
    from app.schemas.api.workspace_reports import EvaluateRequest, EvaluationReport


STATE_DIR = ".local/state/phaserunner"
"""Below the user's home: where hooks run, and where judging keeps the environments of tests."""

_NOT_READ = "The .env here is not read, because it is a file of the project that is evaluated."


class LocalJudging(Protocol):
    """Evaluates directories on this machine."""

    async def judge(self, request: "EvaluateRequest") -> "EvaluationReport":
        """Evaluate a copy of a directory.

        Raises:
            InvalidInputError, WorkspaceError: the path or the base cannot be used.
        """
        ...


def _judge_here(settings: "Settings") -> "AbstractAsyncContextManager[LocalJudging]":
    with quick_imports():
        from app.composition.judging import evaluation_service  # noqa: PLC0415 - only to evaluate: it imports the tools

    return evaluation_service(settings)


def _do_not_stand_by(seconds: float) -> None:
    pass


def _follow_over_websocket(url: str, token: str | None) -> "Follow":
    def follow(run_id: UUID) -> "AsyncGenerator[Event | Reset]":
        # Only commands that follow a run need sockets and event types.
        from app.cli.follow import follow_over_websocket  # noqa: PLC0415 - only for following: keeps start-up quick

        return follow_over_websocket(url, token)(run_id)

    return follow


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that every command takes.

    Attributes:
        as_json: Write data as JSON to standard output; progress goes to standard error.
        url: Address of the service [default: PHASERUNNER_URL, else HOST and PORT].
        token: API token; needed where the service is not on loopback [default: PHASERUNNER_TOKEN].
    """

    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
    url: str | None = None
    token: str | None = None


DEFAULT_OPTIONS = Options()


@dataclass(frozen=True)
class Session:
    """The parts that one command works with."""

    api: "ApiClient"
    terminal: Terminal
    follow: "Follow"


@dataclass(frozen=True)
class Root:
    """The process's settings, streams and factories.

    Attributes:
        settings: read once, here.
        out: console on standard output.
        err: console on standard error.
        stdin: standard input.
        cwd: the directory to which relative paths refer.
        user: the name with which decisions are recorded.
        transport: carries HTTP requests; None is the network.
        make_follow: makes the function that follows a run's events, from the service's address and the token.
        make_judging: opens the evaluation of directories on this machine, from the settings.
        stand_by: called at the end of a hook with HOOK_STANDBY_SECONDS; may keep a process in memory for
            later hooks.
    """

    settings: "Settings"
    out: Console
    err: Console
    stdin: TextIO
    cwd: Path
    user: str = ""
    transport: "httpx.AsyncBaseTransport | None" = None
    make_follow: "Callable[[str, str | None], Follow]" = field(default=_follow_over_websocket)
    make_judging: "Callable[[Settings], AbstractAsyncContextManager[LocalJudging]]" = field(
        default=_judge_here
    )
    stand_by: Callable[[float], None] = field(default=_do_not_stand_by)

    @property
    def data_dir(self) -> Path:
        """DATA_DIR as an absolute path."""
        return (self.cwd / self.settings.DATA_DIR.expanduser()).absolute()

    def absolute(self, path: Path) -> str:
        """Return a given path as an absolute one, relative to `cwd`."""
        return str((self.cwd / path.expanduser()).resolve())

    def terminal(self, options: Options) -> Terminal:
        """Return the terminal to which a command writes."""
        return Terminal(self.out, self.err, options.as_json)

    def judging(self) -> AbstractAsyncContextManager[LocalJudging]:
        """Open the evaluation of directories, for one command."""
        return self.make_judging(self.settings)

    @asynccontextmanager
    async def session(self, options: Options) -> AsyncGenerator[Session]:
        """Open the connection to the service for one command."""
        # HTTP and its models take most of the start-up time. Local evaluation and help do not need them.
        from app.cli.api_client import ApiClient  # noqa: PLC0415 - only for a service: keeps start-up quick

        url = options.url or self.settings.service_url
        configured = self.settings.PHASERUNNER_TOKEN
        token = options.token or (configured.get_secret_value() if configured else None)
        async with ApiClient(url, token, self.user, self.transport) as api:
            yield Session(api, self.terminal(options), self.make_follow(url, token))

    def read_text(self, argument: str, field_name: str) -> str:
        """Return the text for an argument: `-` is standard input, `@path` a file, anything else the text.

        Raises:
            CliError: the file or standard input cannot be read as UTF-8 text.
        """
        if argument == STANDARD_STREAM:
            return self.read_stdin(field_name)
        if not argument.startswith("@"):
            return argument
        path = self.cwd / argument[1:]
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CliError(f"{field_name}: {path} cannot be read: {error}") from error

    def read_message(self, argument: str, field_name: str) -> str:
        """Return the text for an argument that may begin with a name, such as `@alice please look`.

        It is read as `read_text` does, unless several words follow the `@` and no file has that name.

        Raises:
            CliError: the file or standard input cannot be read as UTF-8 text.
        """
        if argument.startswith("@") and len(argument.split()) > 1 and not self._is_file(argument[1:]):
            return argument
        return self.read_text(argument, field_name)

    def read_stdin(self, field_name: str) -> str:
        """Return standard input.

        Raises:
            CliError: it is not UTF-8 text.
        """
        try:
            text = self.stdin.read()
            text.encode()  # in some locales, bytes that are not UTF-8 are read as lone surrogates
        except UnicodeError as error:
            raise CliError(f"{field_name}: standard input is not UTF-8") from error
        return text

    def _is_file(self, name: str) -> bool:
        try:
            return (self.cwd / name).is_file()
        except (OSError, ValueError):  # no file can have this name
            return False


RootArgument = Annotated[Root, Parameter(parse=False)]
"""The type of the command parameter that receives the root."""


def read_root(judged: Path | None = None) -> Root:
    """Read the settings and use the process's streams.

    Args:
        judged: the project that the command judges. What its repository holds must not configure the judge:
            no `.env` there is read, and environments of tests are not kept there.

    Raises:
        CliError, InvalidInputError: a setting is not valid. The message names it.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only when a command runs: keeps the help quick
    from pydantic_settings import SettingsError  # noqa: PLC0415 - only when a command runs: keeps the help quick

    from app.core.config import Settings  # noqa: PLC0415 - only when a command runs: keeps the help quick

    is_apart = judged is None or not Path.cwd().is_relative_to(_repository_of(judged))
    try:
        settings = Settings() if is_apart else _settings_apart()
    except ValidationError as error:
        first = error.errors()[0]
        name, told = first["loc"][0], first["msg"].removeprefix("Value error, ")
        raise CliError(f"{name}: {told} (environment variable or .env)", ExitCode.USAGE) from error
    except SettingsError as error:
        raise CliError(_unreadable(error)) from error
    except UnicodeDecodeError as error:
        raise CliError(".env: is not UTF-8") from error
    settings.outbound.apply(os.environ)  # noqa: TID251 - what every library and program reads
    for stream in (sys.stdout, sys.stderr):
        # If the terminal's encoding lacks a character, its code is shown instead of an error.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    out, err = console_for(sys.stdout), console_for(sys.stderr)
    if not is_apart and Path(".env").exists():
        err.print(_NOT_READ, style="dim", soft_wrap=True)
    return Root(settings, out, err, sys.stdin, Path.cwd(), _user(), stand_by=start_standby)


def _unreadable(error: "SettingsError") -> str:
    """Return the message for a setting that is not JSON, which only the error's text names."""
    named = re.search(r'field "(\w+)"', str(error))
    told = str(error.__cause__ or error)
    return f"{named[1]}: is not JSON: {told} (environment variable or .env)" if named else told


def _repository_of(path: Path) -> Path:
    """Return the root of the repository with a path, or the path if there is none."""
    place = path.expanduser().resolve()
    return next((each for each in (place, *place.parents) if (each / ".git").exists()), place)


def _settings_apart() -> "Settings":
    """Return the environment's settings. If they name no DATA_DIR, it is in the user's home."""
    from app.core.environment_settings import EnvironmentSettings  # noqa: PLC0415 - only to judge: it takes time

    settings = EnvironmentSettings()
    if "DATA_DIR" in settings.model_fields_set:
        return settings
    try:
        return settings.model_copy(update={"DATA_DIR": Path.home() / STATE_DIR})
    except RuntimeError as error:
        raise CliError("DATA_DIR: there is no home directory, so set it", ExitCode.USAGE) from error


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in some containers
        return ""
