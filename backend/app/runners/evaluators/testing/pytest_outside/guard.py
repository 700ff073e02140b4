"""Protects the judge's process: limits what it does for the candidate, and what the tests may do in it."""

# Values of any type pass through here.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import inspect
import operator
import os
import sys
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .link import PeerLink, UncarriedError, refuse
from .shapes import FORWARDED
from .standard_modules import STANDARD_MODULES
from .values import NAMED_TYPES

_ASKED = frozenset({"get", "call", "dunder", "method"})
_READABLE = frozenset({"__name__", "__qualname__", "__doc__", "__module__", "__len__", "__call__"})
_PUSHED = frozenset({"__next__", "send", "throw", "close"})
_FRAMES = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "im_")
_FINDS_CONSTANTS = os.path.join("", "hypothesis", "internal", "constants_ast.py")
_ABOUT_MACHINE = frozenset(
    os.path.join(os.path.dirname(os.__file__), *each)
    for each in (("ctypes", "util.py"), ("platform.py",), ("uuid.py",))
)
"""Modules of Python that start the system's own programs to learn about the machine."""

_STARTS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn"}
)
_HEARD = frozenset({"exec", "open", *_STARTS})


def check_request(op: str, args: list[Any]) -> None:
    """Let the candidate use the test's objects as any called function would, and no more.

    Raises:
        UncarriedError: it reaches behind an object, or wants to change one.
    """
    if op not in _ASKED:
        raise refuse(f"the candidate asks for {op!r} on an object of the test")
    if op == "call":
        return
    name = args[1]
    allowed = FORWARDED if op == "dunder" else _READABLE if op == "get" else _PUSHED
    if name in allowed:
        return
    if op != "get" or type(name) is not str or name.startswith(("_", *_FRAMES)):
        # Code often looks for an attribute that does not exist. Only existing ones are withheld.
        if type(name) is str and op == "get" and not hasattr(args[0], name):
            raise AttributeError(name)
        raise refuse(f"the candidate reaches behind an object of the test ({name})")


def named_for_candidate(value: Any) -> list[str] | None:
    """Return module and name of a standard library class or function, of which the candidate has its own."""
    if not isinstance(
        value, (type, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
    ):
        return None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, types.MethodDescriptorType):
        module = value.__objclass__.__module__
    if type(module) is not str or type(name) is not str or "<locals>" in name:
        return None
    if (module, name) in NAMED_TYPES:
        return [module, name]
    if module.partition(".")[0] not in STANDARD_MODULES or module == "__main__":
        return None
    try:
        found = operator.attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        return None
    return [module, name] if found is value else None


def _is_for_constants() -> bool:
    """Return True if hypothesis looks for constants in code, to try them as input. It does without."""
    return any(file.endswith(_FINDS_CONSTANTS) for file in _running_files())


def _is_about_machine() -> bool:
    """Return True if Python asks a program of the system, such as for the name of a library."""
    return not _ABOUT_MACHINE.isdisjoint(_running_files())


def _running_files() -> list[str]:
    """Return the files of the functions that are running, the innermost first."""
    files: list[str] = []
    frame = inspect.currentframe()
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files


class CandidateCodeGuard:
    """An audit hook that keeps all code of the candidate out of this process.

    As a plug-in of pytest, it notices when the others are loaded: some of them start processes meanwhile.

    Args:
        tree: the candidate's tree.
        support: the files in it that are tests.
        link: receives notes about what was kept out.

    """

    def __init__(self, tree: Path, support: frozenset[str], link: PeerLink) -> None:
        self._tree = f"{tree}/"
        self._support = support
        self._link = link
        self._lets_start = True

    def install(self) -> None:
        """Install the hook. It cannot be removed."""
        sys.addaudithook(self._hear)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self) -> Generator[None, Any, Any]:
        """Let nothing start processes from now on, as code of the tests follows."""
        self._lets_start = False
        return (yield)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        # Most events are calls of `id`, thousands in each test.
        if event not in _HEARD:
            return
        if event in _STARTS:
            if not (self._lets_start or _is_about_machine()):
                self._keep_back("the test starts another process")
        elif event == "exec" and self._is_candidates(getattr(args[0], "co_filename", "")):
            self._keep_back("the test executes a file of the candidate")
        elif (
            event == "open"
            and type(args[0]) is str
            and args[0].endswith(".py")
            and self._is_candidates(args[0])
        ):
            if _is_for_constants():
                raise PermissionError(args[0])
            self._keep_back("the test reads source code of the candidate")

    def _is_candidates(self, file: str) -> bool:
        return file.startswith(self._tree) and file.removeprefix(self._tree) not in self._support

    def _keep_back(self, reason: str) -> None:
        self._link.note(reason, hard=True)
        raise UncarriedError(reason)
