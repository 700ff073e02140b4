"""Records which lines of some files run in this process, at hardly any cost.

Python 3.12 and later report each line once and then never again. Earlier versions would report each call of
every function, which makes tests slow and disturbs debuggers, so nothing is recorded there.
"""

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import Any, cast

_FREE_TOOLS = (4, 3)
"""Numbers of tools that Python reserves for none; coverage and debuggers have others."""


class WatchedLines:
    """The lines of files that have run.

    Attributes:
        ran: by path relative to the tree, the lines that have run; empty if Python cannot tell.

    Args:
        tree: the tree that is run.
        names: the files, relative to the tree.
    """

    def __init__(self, tree: Path, names: Iterable[str]) -> None:
        self.ran: dict[str, set[int]] = {}
        self._files = {str(tree / name): name for name in names}

    @contextmanager
    def on(self) -> "Generator[None]":
        """Record lines, also of threads."""
        monitoring = cast("Any", getattr(sys, "monitoring", None))
        tool = _reserved(monitoring) if self._files and monitoring else None
        if tool is None:
            yield
            return
        self.ran = {name: set() for name in self._files.values()}
        self._watch(monitoring, tool)
        try:
            yield
        finally:
            if monitoring.get_tool(tool) is not None:
                monitoring.set_events(tool, 0)

    def _watch(self, monitoring: Any, tool: int) -> None:
        lines = {file: self.ran[name] for file, name in self._files.items()}
        event, disable = monitoring.events, monitoring.DISABLE

        def begun(code: CodeType, _offset: int) -> object:
            file = code.co_filename
            if file in lines or (".." in file and os.path.normpath(file) in lines):
                with suppress(ValueError):  # the code under test freed the tool
                    monitoring.set_local_events(tool, code, event.LINE)
            return disable

        def reached(code: CodeType, line: int) -> object:
            file = code.co_filename
            lines[file if file in lines else os.path.normpath(file)].add(line)
            return disable

        monitoring.register_callback(tool, event.PY_START, begun)
        monitoring.register_callback(tool, event.LINE, reached)
        monitoring.set_events(tool, event.PY_START)


def _reserved(monitoring: Any) -> "int | None":
    for tool in _FREE_TOOLS:
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "new lines")
            return tool
    return None
