"""Finds where code asks about its own process, such as for Python's options or the parent process. Pure."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

OF_MODULES = {
    "sys": (
        *("flags", "_xoptions", "warnoptions", "gettrace", "getprofile", "monitoring", "getrefcount"),
        *("meta_path", "path_hooks"),
    ),
    "threading": ("main_thread", "active_count", "enumerate"),
    "gc": ("isenabled", "get_count", "get_stats", "get_threshold", "callbacks"),
    "asyncio": ("get_running_loop", "_get_running_loop", "current_task"),
    "os": ("getppid", "getpgid", "getsid"),
}
"""What the modules of Python's library tell about the process."""

_TELLING = frozenset({"`threading.main_thread`", "`os.getppid`", "`os.getpgid`", "`os.getsid`"})
"""What hardly serves anything else, so that it counts wherever it is."""

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
        """Read a module."""
        nodes = dict(_parts(module))
        return cls({**nodes}, _names(module, nodes), tuple(_telling(module, nodes)))

    def named_by(self, node: ast.AST) -> str:
        """Return the part that a node names, directly or by a name; empty if it names none."""
        own = self.names.get(node.id, "") if isinstance(node, ast.Name) else ""
        return self.nodes.get(node, own)


def _parts(module: ast.Module) -> Iterator[tuple[ast.Attribute | ast.Name, str]]:
    modules, names = _imported(module)
    for node in ast.walk(module):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if found := _part(
                modules.get(owner, ""), name
            ):
                yield node, found
            case ast.Name(id=name, ctx=ast.Load()) if found := names.get(name, ""):
                yield node, found
            case _:
                continue


def _imported(module: ast.Module) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of modules, and those of parts, as a module imports them."""
    modules, names = dict[str, str](), dict[str, str]()
    for node in ast.walk(module):
        match node:
            case ast.Import(names=imported):
                modules |= {each.asname or each.name: each.name for each in imported}
            case ast.ImportFrom(module=str() as owner, names=imported, level=0):
                names |= {each.asname or each.name: _part(owner, each.name) for each in imported}
            case _:
                continue
    return modules, names


def _part(module: str, name: str) -> str:
    return f"`{module}.{name}`" if name in OF_MODULES.get(module, ()) else ""


def _names(module: ast.Module, nodes: Mapping[ast.Attribute | ast.Name, str]) -> dict[str, str]:
    names = dict[str, str]()
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                of_process = [node for node in ast.walk(value) if isinstance(node, ast.Attribute | ast.Name)]
                if found := [nodes[each] for each in of_process if each in nodes]:
                    names[name] = found[0]
            case _:
                continue
    return names


def _telling(module: ast.Module, nodes: Mapping[ast.Attribute | ast.Name, str]) -> Iterator[tuple[str, int]]:
    yield from ((name, node.lineno) for node, name in nodes.items() if name in _TELLING)
    for node in ast.walk(module):
        match node:
            case ast.Name(id="__debug__"):
                yield "`__debug__`", node.lineno
            case ast.Constant(value=str() as text) if _FILES.fullmatch(text):
                yield "`/proc`", node.lineno
            case _:
                continue
