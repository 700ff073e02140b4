"""The tools of a model: files, search and tests of one workspace.

If a tool fails, the model gets that as the tool's result. It does not end the work.
"""

import json
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_ai import Tool, ToolFailed

from app.agents.built_in import search_program
from app.agents.built_in.pytest_tool import clean_environment, run_pytest
from app.agents.files import MAX_SHOWN_CHARS, SKIPPED_DIRECTORIES, FileRefusedError, WorkspaceFiles
from app.agents.programs import RunProgram

MAX_HITS = 200
MAX_READ_LINES = 1_000
_SEARCH_SECONDS = 10.0
_SEARCH_OUTPUT_CHARS = 40_000
_SEARCH_SOURCE = Path(search_program.__file__).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class WorkspaceTools:
    """Tools for one workspace.

    Attributes:
        files: the workspace.
        run_program: starts searches and tests.
        python: the interpreter that runs the tests.
        test_seconds: time limit of one test run.
        changed: paths that were written, edited or deleted so far.
    """

    files: WorkspaceFiles
    run_program: RunProgram
    python: Path
    test_seconds: float = 120.0
    changed: set[str] = field(default_factory=set[str])

    def tools(self) -> list[Tool[object]]:
        """Return all tools. Those that change something run one after the other."""
        changing: list[Callable[..., Any]] = [
            self.write_file,
            self.edit_file,
            self.delete_file,
            self.run_tests,
        ]
        reading: list[Callable[..., Any]] = [self.list_files, self.read_file, self.search]
        return [Tool(each) for each in reading] + [Tool(each, sequential=True) for each in changing]

    def list_files(self, path: str = ".") -> str:
        """List the files below a directory, without caches and installed packages.

        Args:
            path: Directory, relative to the workspace.
        """
        with _told_to_the_model():
            return "\n".join(self.files.listing(path)) or "no files"

    def read_file(self, path: str, first_line: int = 1, max_lines: int = 400) -> str:
        """Read a text file, or a part of it.

        Args:
            path: File, relative to the workspace.
            first_line: Number of the first line to read, from 1.
            max_lines: How many lines to read.
        """
        with _told_to_the_model():
            text = self.files.read(path)
        return _part(text, max(1, first_line), max(1, min(max_lines, MAX_READ_LINES)))

    async def search(self, pattern: str, path: str = ".", files: str = "*") -> str:
        """Search files line by line for a regular expression (Python syntax).

        Args:
            pattern: The regular expression.
            path: File or directory to search, relative to the workspace.
            files: Only files whose name or path matches this shell pattern, such as `*.py`.
        """
        with _told_to_the_model():
            place = self.files.locate(path).relative_to(self.files.root)
            return await self._search({"pattern": pattern, "path": str(place), "files": files})

    def write_file(self, path: str, content: str) -> str:
        """Write a whole file. Creates it and its directories, or replaces what was there.

        Args:
            path: File, relative to the workspace.
            content: The complete new text.
        """
        with _told_to_the_model():
            is_new = self.files.write(path, content)
            self.changed.add(path)
            return f"{'created' if is_new else 'wrote'} {path}"

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace one piece of text in a file.

        Args:
            path: File, relative to the workspace.
            old: The text to replace. It must be in the file exactly once; include lines around it if needed.
            new: The text to put there.
        """
        with _told_to_the_model():
            self.files.replace(path, old, new)
            self.changed.add(path)
            return f"edited {path}"

    def delete_file(self, path: str) -> str:
        """Delete a file.

        Args:
            path: File, relative to the workspace.
        """
        with _told_to_the_model():
            self.files.delete(path)
            self.changed.add(path)
            return f"deleted {path}"

    async def run_tests(self, targets: list[str] | str | None = None, keyword: str = "") -> str:
        """Run pytest in the workspace.

        Args:
            targets: Files, directories or test ids such as `tests/test_a.py::test_b`. All when left out.
            keyword: Only tests that match this expression, as with pytest's -k.
        """
        with _told_to_the_model():
            return await run_pytest(
                self.files,
                self.run_program,
                self.python,
                targets=_listed(targets),
                keyword=keyword,
                timeout=self.test_seconds,
            )

    async def _search(self, wanted: dict[str, Any]) -> str:
        request = json.dumps({**wanted, "skip": sorted(SKIPPED_DIRECTORIES), "max_hits": MAX_HITS})
        with tempfile.TemporaryDirectory() as home:
            try:
                outcome = await self.run_program(
                    [str(self.python), "-I", "-X", "utf8", "-c", _SEARCH_SOURCE, request],
                    cwd=self.files.root,
                    env=clean_environment(self.python, Path(home)),
                    timeout=_SEARCH_SECONDS,
                    output_limit=_SEARCH_OUTPUT_CHARS,
                )
            except OSError as error:
                raise FileRefusedError(f"the search cannot be started: {error}") from error
        if outcome.timed_out:
            raise FileRefusedError(
                f"the search took longer than {_SEARCH_SECONDS:g} s; use a simpler pattern"
            )
        if outcome.returncode != 0:
            raise FileRefusedError(outcome.stderr.strip() or f"the search ended with {outcome.returncode}")
        return outcome.stdout or "nothing matches"


def _listed(targets: list[str] | str | None) -> list[str]:
    """Return targets as a list. Small models write a text, with spaces or commas between several targets."""
    return targets.replace(",", " ").split() if isinstance(targets, str) else targets or []


@contextmanager
def _told_to_the_model() -> Generator[None]:
    try:
        yield
    except FileRefusedError as error:
        raise ToolFailed(str(error)) from error


def _part(text: str, first: int, count: int) -> str:
    lines = text.splitlines(keepends=True)
    if first > len(lines):
        return f"[the file has {len(lines)} lines]"
    chosen = lines[first - 1 : first - 1 + count]
    shown = "".join(chosen)
    last = first - 1 + len(chosen)
    if len(shown) > MAX_SHOWN_CHARS:
        return shown[:MAX_SHOWN_CHARS] + f"\n[cut after {MAX_SHOWN_CHARS:,} characters; read fewer lines]"
    if (first, last) != (1, len(lines)):
        shown += f"\n[lines {first} to {last} of {len(lines)}]"
    return shown
