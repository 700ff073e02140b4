"""Finds expressions that depend on nothing but the time or chance. Pure."""

import ast
from collections import defaultdict
from dataclasses import dataclass, field

NOW = frozenset(
    {
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"),
        *("now", "utcnow", "today", "localtime", "gmtime", "strftime", "ctime"),
    }
)
"""Functions that give the time, by the last part of their names."""

CHANCE = frozenset(
    {"random", "randrange", "randint", "uniform", "getrandbits", "randbelow", "urandom", "uuid4", "choice"}
)
"""Functions that give random values, by the last part of their names."""

_PLAIN = frozenset({"date", "datetime", "timedelta", "int", "float", "abs", "len", "str", "bool"})
"""Functions that give the same for the same arguments, by the last part of their names."""

_DATE = "the date or time"
_CHANCE = "random numbers"
_AGE = "how long the process runs"


@dataclass(frozen=True, slots=True)
class ClosedNames:
    """The names of a module that stand for constants, the time or random values.

    Attributes:
        constant: all of them.
        circumstances: by name, on what it depends.
        begun: names for the time at which the module was imported.
    """

    constant: set[str] = field(default_factory=set[str])
    circumstances: dict[str, str] = field(default_factory=dict[str, str])
    begun: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, module: ast.Module) -> "ClosedNames":
        """Read a module. A name counts if all that it stands for is assigned in plain sight."""
        known = cls()
        for name, values in _values(module).items():
            if values and all(known.is_closed(each) for each in values):
                known.constant.add(name)
                found = [one for each in values if (one := known.circumstance(each))]
                known.circumstances[name] = found[0] if found else ""
        imported = {each for node in module.body for each in _assigned_by(node)}
        known.begun.update(each for each in imported if known.circumstances.get(each) == _DATE)
        return known

    def is_closed(self, node: ast.expr) -> bool:
        """Return True if nothing but constants, the time and random values is in an expression."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self.constant
            case ast.Attribute(value=value):
                return self.is_closed(value)
            case ast.Call(func=function, args=args, keywords=[]):
                is_known = called(node) in NOW | CHANCE | _PLAIN or self._is_method(function)
                return is_known and all(self.is_closed(each) for each in args)
            case ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Tuple() | ast.Subscript():
                parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
                return all(self.is_closed(each) for each in parts)
            case _:
                return False

    def circumstance(self, node: ast.expr) -> str:
        """Return on what an expression depends, or "".

        The difference of two times depends on neither, unless one is when the module was imported.
        """
        found = [each for one in ast.walk(node) if (each := self._of_node(one))]
        if len(found) > 1 and any(
            isinstance(each, ast.Name) and each.id in self.begun for each in ast.walk(node)
        ):
            return _AGE
        return found[0] if len(found) == 1 else ""

    def _of_node(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return self.circumstances.get(node.id, "")
        name = called(node)
        return _DATE if name in NOW else _CHANCE if name in CHANCE else ""

    def _is_method(self, function: ast.expr) -> bool:
        """Return True for a method of something closed, as in `date.today().isoformat()`."""
        return isinstance(function, ast.Attribute) and self.is_closed(function.value)


def called(node: ast.AST) -> str:
    """Return the last part of the name of a called function; empty if nothing is called."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
        case _:
            return ""


def _assigned_by(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _values(module: ast.Module) -> dict[str, list[ast.expr]]:
    """Return by name all values that are assigned to it; none if it also gets others, as in a loop."""
    values = defaultdict[str, list[ast.expr]](list)
    others = set[str]()
    plain = set[ast.Name]()
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                values[target.id].append(value)
                plain.add(target)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                values[target.id].append(value)
                plain.add(target)
            case ast.arg(arg=name):
                others.add(name)
            case ast.Name(id=name, ctx=ast.Store()) if node not in plain:
                others.add(name)
            case _:
                continue
    return {name: found for name, found in values.items() if name not in others}
