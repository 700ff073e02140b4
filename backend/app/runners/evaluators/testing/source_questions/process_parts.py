"""Finds where code asks about its own process, such as for Python's options or the parent process. Pure."""

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.runners.evaluators.testing.source_questions.handlers import swallows

OF_MODULES = {
    "sys": (
        *("flags", "_xoptions", "warnoptions", "gettrace", "getprofile", "monitoring", "getrefcount"),
        *("meta_path", "path_hooks", "__stdout__", "__stderr__"),
    ),
    "threading": ("main_thread", "active_count", "enumerate"),
    "gc": ("isenabled", "get_count", "get_stats", "get_threshold", "callbacks"),
    "asyncio": ("get_running_loop", "_get_running_loop", "current_task"),
    "os": ("getpid", "getppid", "getpgid", "getsid", "getloadavg", "getpriority"),
    "resource": ("getrlimit", "prlimit"),
    "time": ("tzname", "timezone", "daylight", "altzone"),
    "site": ("ENABLE_USER_SITE",),
    "faulthandler": ("is_enabled",),
    "warnings": ("filters",),
}
"""What the modules of Python's library tell about the process."""

_TELLING = frozenset({"`threading.main_thread`", "`os.getppid`", "`os.getpgid`", "`os.getsid`"})
"""What hardly serves anything else, so that it counts wherever it is."""

_OF_DEPTH = frozenset({"RecursionError"})
_WARNINGS = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, Warning)
)
_FILES = re.compile(r"/proc/?|/proc/(?:self|thread-self)\b.*")


@dataclass(frozen=True, slots=True)
class PartsOfProcess:
    """What a module names of its process.

    Attributes:
        nodes: where it does so, each with the part's name.
        names: its own names for values made of such parts.
        telling: what counts even if no condition has it, with the line.
    """

    nodes: Mapping[ast.AST, str]
    names: Mapping[str, str]
    telling: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, module: ast.Module) -> "PartsOfProcess":
        """Read a module with its names spelt out."""
        nodes = dict(_parts(module))
        return cls({**nodes}, _names(module, nodes), tuple(_telling(module, nodes)))

    def named_by(self, node: ast.AST) -> str:
        """Return the part that a node names, directly or by a name; empty if it names none."""
        own = self.names.get(node.id, "") if isinstance(node, ast.Name) else ""
        return self.nodes.get(node, own)


def _parts(module: ast.Module) -> Iterator[tuple[ast.Attribute, str]]:
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in OF_MODULES.get(owner, ()):
                yield node, f"`{owner}.{name}`"
            case _:
                continue


def _names(module: ast.Module, nodes: Mapping[ast.Attribute, str]) -> dict[str, str]:
    names = dict[str, str]()
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                of_process = [node for node in ast.walk(value) if isinstance(node, ast.Attribute)]
                if found := [nodes[each] for each in of_process if each in nodes]:
                    names[name] = found[0]
            case _:
                continue
    return names


def _telling(module: ast.Module, nodes: Mapping[ast.Attribute, str]) -> Iterator[tuple[str, int]]:
    yield from ((name, node.lineno) for node, name in nodes.items() if name in _TELLING)
    for node in ast.walk(module):
        match node:
            case ast.Name(id="__debug__"):
                yield "`__debug__`", node.lineno
            case ast.Constant(value=str() as text) if _FILES.fullmatch(text):
                yield "`/proc`", node.lineno
            case ast.ExceptHandler() if swallows(node, _OF_DEPTH):
                yield "how deep the stack is (`RecursionError`)", node.lineno
            case ast.ExceptHandler() if swallows(node, _WARNINGS):
                yield "whether warnings are errors", node.lineno
            case _:
                continue
