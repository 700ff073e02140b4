"""The git program, with a clock on every call."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.workspaces.history.git import Git, GitTarget
from app.workspaces.process import BytesOutcome


@dataclass(frozen=True, slots=True)
class GitCall:
    """One call: the command, and wall-clock seconds."""

    command: str
    seconds: float


@dataclass(frozen=True, slots=True)
class TimedGit(Git):
    """Git that notes how long each call took."""

    calls: list[GitCall] = field(default_factory=list[GitCall])

    async def attempt(
        self,
        arguments: Sequence[str],
        target: GitTarget,
        *,
        cwd: Path | None = None,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        output_limit: int = 256_000_000,
    ) -> BytesOutcome:
        """Run a command as `Git` does."""
        started = time.perf_counter()
        try:
            # Not super(): a class with slots is made twice, and super() knows only the first.
            return await Git.attempt(
                self,
                arguments,
                target,
                cwd=cwd,
                stdin=stdin,
                env=env,
                timeout=timeout,
                output_limit=output_limit,
            )
        finally:
            self.calls.append(GitCall(arguments[0], time.perf_counter() - started))
