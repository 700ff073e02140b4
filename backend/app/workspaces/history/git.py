"""Calls git so that neither the user's configuration nor a workspace can make it run code."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import UnavailableError, WorkspaceError
from app.workspaces.process import BytesOutcome, run_for_bytes

TRANSPORT_VARIABLES = (
    "HOME",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
"""Environment variables that a fetch over a network may need."""

# Some builds of git use a TLS library that does not read the names on the left.
_SAME_FOR_GIT = {"SSL_CERT_FILE": "GIT_SSL_CAINFO", "SSL_CERT_DIR": "GIT_SSL_CAPATH"}

_CONFIG_FILE = Path(__file__).with_name("isolated.gitconfig")
_CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.quotePath": "true",
    "core.logAllRefUpdates": "false",
    "core.fsync": "none",  # lasting data is in the database
    "gc.auto": "0",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "fetch.unpackLimit": "1",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "protocol.ext.allow": "never",
    "credential.helper": "",
    "safe.directory": "*",
    "diff.renames": "true",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
}
_IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "PhaseRunner"), ("EMAIL", "phaserunner@localhost"))
}
_OUTPUT_LIMIT = 256_000_000
_MESSAGE_CHARS = 600


class GitError(WorkspaceError):
    """git ended with an error. The message holds git's output."""


@dataclass(frozen=True, slots=True)
class GitTarget:
    """The target of a call: a git directory, and optionally a working tree with its own index.

    If `git_dir` is None, git looks for a repository from the current directory upwards. If `objects` is set,
    new objects go there, and those of the git directory are still found.
    """

    git_dir: Path | None
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None

    def environment(self) -> dict[str, str]:
        """The variables that tell git these paths."""
        named = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.work_tree, "GIT_INDEX_FILE": self.index}
        if self.objects is not None and self.git_dir is not None:
            named["GIT_OBJECT_DIRECTORY"] = self.objects
            named["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = self.git_dir / "objects"
        return {name: str(path) for name, path in named.items() if path is not None}


@dataclass(frozen=True, slots=True)
class Git:
    """The git program.

    Attributes:
        executable: absolute path.
        transport_env: variables for fetches over a network, from `TRANSPORT_VARIABLES`.
        timeout: time limit for one local command, in seconds.
    """

    executable: str
    transport_env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float = 300.0

    @classmethod
    def find(cls, transport_env: Mapping[str, str] | None = None) -> "Git":
        """Find git on the search path.

        Raises:
            UnavailableError: it is not installed.
        """
        found = shutil.which("git")
        if found is None:
            raise UnavailableError("git is not installed or not in PATH; install it")
        allowed = {k: v for k, v in (transport_env or {}).items() if k in TRANSPORT_VARIABLES and v}
        same = {theirs: allowed[ours] for ours, theirs in _SAME_FOR_GIT.items() if ours in allowed}
        return cls(found, {**same, **allowed})

    async def run(
        self,
        arguments: Sequence[str],
        target: GitTarget,
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run a command that must succeed. Return its standard output.

        Raises:
            GitError: it failed, took too long, or printed more than 256 MB.
        """
        outcome = await self.attempt(arguments, target, stdin=stdin, env=env)
        if outcome.returncode != 0 or outcome.timed_out:
            raise GitError(f"git {arguments[0]} failed: {reason(outcome)}")
        if outcome.truncated:
            raise GitError(f"git {arguments[0]} printed more than {_OUTPUT_LIMIT} bytes")
        return outcome.stdout

    async def attempt(
        self,
        arguments: Sequence[str],
        target: GitTarget,
        *,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_limit: int = _OUTPUT_LIMIT,
    ) -> BytesOutcome:
        """Run a command that may fail. Return its outcome.

        Args:
            arguments: the command and its arguments.
            target: where it works.
            cwd: current directory; by default the working tree, else the git directory.
            stdin: standard input.
            env: further variables, which override the isolated environment.
            timeout: time limit in seconds, instead of the usual one.
            output_limit: bytes of standard output to keep.
        """
        return await run_for_bytes(
            [self.executable, *arguments],
            cwd=cwd or target.work_tree or target.git_dir or Path("/"),
            env={**self.environment(), **target.environment(), **(env or {})},
            timeout=self.timeout if timeout is None else timeout,
            output_limit=output_limit,
            stdin=stdin,
        )

    def environment(self) -> dict[str, str]:
        """Return the variables of each call: nothing of the user's own configuration counts."""
        return {
            "PATH": f"{Path(self.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(_CONFIG_FILE),
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            **_IDENTITY,
            **configuration(_CONFIG),
        }


def configuration(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that set configuration for one call. They override every file."""
    variables = {"GIT_CONFIG_COUNT": str(len(extra))}
    for number, (key, value) in enumerate(extra.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def configuration_with(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the isolating configuration with further settings, as `env` of one call."""
    return configuration({**_CONFIG, **extra})


def reason(outcome: BytesOutcome) -> str:
    """Return a few lines that say why a call failed."""
    if outcome.timed_out:
        return "it took too long"
    text = outcome.stderr.strip() or f"exit status {outcome.returncode}"
    return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]} …"
