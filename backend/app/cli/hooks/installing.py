"""Installs hooks where each program looks for them, and removes them again."""

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.cli.exits import CliError
from app.cli.hooks.clients import HookClient
from app.cli.hooks.scripts import opencode_plugin, pre_push_script
from app.cli.hooks.settings_file import hook_entries, with_hooks, without_hooks

SECONDS = 1800
"""Seconds that an agent waits for a hook."""

_EVENTS = {
    HookClient.CLAUDE_CODE: ("SessionStart", "Stop", "SessionEnd"),
    HookClient.CODEX: ("SessionStart", "Stop"),
}
_IN_PROJECT = {
    HookClient.CLAUDE_CODE: ".claude/settings.json",
    HookClient.CODEX: ".codex/hooks.json",
    HookClient.OPENCODE: ".opencode/plugins/phaserunner.js",
}
_IN_HOME = {
    HookClient.CLAUDE_CODE: ".claude/settings.json",
    HookClient.CODEX: ".codex/hooks.json",
    HookClient.OPENCODE: ".config/opencode/plugins/phaserunner.js",
}
_SAVED = ".before-phaserunner"


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook to install.

    Attributes:
        client: the program that calls it.
        state_dir: where it runs, so that no file of the evaluated project configures PhaseRunner.
        arguments: options of `phaserunner hook CLIENT --run`.
    """

    client: HookClient
    state_dir: Path
    arguments: Sequence[str] = ()

    @property
    def mark(self) -> str:
        """A text that every such hook contains."""
        return f"hook {self.client.value} {'--uninstall' if self.client is HookClient.OPENCODE else '--run'}"

    @property
    def words(self) -> list[str]:
        """The command as a list of words."""
        return [*program(), "hook", self.client.value, "--run", *self.arguments]

    @property
    def line(self) -> str:
        """The command for a shell. Exit status 2 would send an agent back, so errors end with 1."""
        return f"cd {shlex.quote(str(self.state_dir))} && {shlex.join(self.words)} || exit 1"

    def content(self, existing: str | None, file: str) -> str:
        """Return the new text of the file that holds the hook.

        Raises:
            CliError: the existing file cannot be read.
        """
        match self.client:
            case HookClient.OPENCODE:
                return opencode_plugin(self.words, self.state_dir)
            case HookClient.GIT_PRE_PUSH:
                return pre_push_script(self.words, self.state_dir, self.mark, _SAVED)
            case _:
                entries = hook_entries(_EVENTS[self.client], self.line, SECONDS)
                return with_hooks(existing, file, entries, self.mark)


def program() -> list[str]:
    """Return the command of this program.

    `-P` keeps Python from importing modules of the current directory.
    """
    script = Path(sys.executable).parent / "phaserunner"
    return [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "phaserunner"]


def place_of(client: HookClient, directory: Path, *, user: bool) -> Path:
    """Return the file for an agent's hook, in a project or in the user's home `directory`."""
    return directory / (_IN_HOME if user else _IN_PROJECT)[client]


def install(hook: Hook, path: Path) -> bool:
    """Write the hook. Return False if it was already there.

    Raises:
        CliError: the file cannot be read or written; it is unchanged.
    """
    existing = _text(path)
    _make_directory(hook.state_dir, 0o700)
    if hook.client is HookClient.GIT_PRE_PUSH and existing is not None and hook.mark not in existing:
        saved = path.with_name(path.name + _SAVED)
        if saved.exists():
            raise CliError(f"{saved} exists already; move it away, for {path} is to be saved there")
        path.rename(saved)
    if hook.client is HookClient.OPENCODE and existing is not None and hook.mark not in existing:
        raise CliError(f"{path} is not PhaseRunner's plugin; move it away first")
    new = hook.content(existing, str(path))
    if new == existing:
        return False
    _replace(path, new, executable=hook.client is HookClient.GIT_PRE_PUSH)
    return True


def uninstall(hook: Hook, path: Path) -> bool:
    """Remove the hook. Return False if there is none.

    Raises:
        CliError: the file cannot be read or written; it is unchanged.
    """
    existing = _text(path)
    if existing is None or hook.mark not in existing:
        return False
    left = "" if hook.client in (HookClient.OPENCODE, HookClient.GIT_PRE_PUSH) else None
    if left is None:
        left = without_hooks(existing, str(path), hook.mark)
    if left:
        _replace(path, left, executable=False)
        return True
    path.unlink()
    saved = path.with_name(path.name + _SAVED)
    if hook.client is HookClient.GIT_PRE_PUSH and saved.exists():
        saved.rename(path)
    return True


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{path} cannot be read, so nothing was changed: {error}") from error


def _make_directory(path: Path, mode: int = 0o777) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    except OSError as error:
        raise CliError(f"{path} cannot be created: {error.strerror}") from error


def _replace(path: Path, text: str, *, executable: bool) -> None:
    """Write a file atomically. A link stays a link."""
    target = path.resolve()
    _make_directory(target.parent)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode | 0o111 if executable else mode)
        os.replace(name, target)
    except OSError as error:
        raise CliError(f"{target} cannot be written: {error.strerror}") from error
