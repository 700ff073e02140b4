"""Finds where the values of a test's names come from, as far as its text shows."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class NameOrigin:
    """An expression that gives a name its value.

    Attributes:
        node: the expression.
        row: the row of parameters that holds it, counted from 0; None if it is not a parameter.
    """

    node: ast.expr
    row: int | None = None


class Names:
    """The names of one test function.

    Args:
        function: the test.
        constants: module-level names that only this function uses, with their values.
    """

    def __init__(self, function: Function, constants: Mapping[str, ast.expr]) -> None:
        self._origins: dict[str, list[NameOrigin]] = defaultdict(list)
        self._loads = Counter(_loads(function))
        self.rows = 0
        """The number of rows of parameters; 0 where the text does not tell."""
        self.ambiguous: frozenset[str] = frozenset()
        for name, value in constants.items():
            self._origins[name].append(NameOrigin(value))
        self._read_rows(function, constants)
        stores = Counter(_stores(function))
        for name, origin in _assigned(function):
            self._origins[name].append(origin)
        self.ambiguous = frozenset(name for name, count in stores.items() if count > 1)

    def origins(self, name: str) -> Sequence[NameOrigin]:
        """Return the expressions whose values a name takes in turn; none if that is unclear."""
        return () if name in self.ambiguous else self._origins.get(name, ())

    def is_only_read_once(self, name: str) -> bool:
        """Return True if a name is read in one place, so that its value serves only that place."""
        return self._loads[name] == 1

    def _read_rows(self, function: Function, constants: Mapping[str, ast.expr]) -> None:
        decorators = [each for each in function.decorator_list if _is_parametrize(each)]
        if len(decorators) != 1 or not isinstance(call := decorators[0], ast.Call):
            return
        arguments = _arguments(call)
        if arguments is None:
            return
        names, values = arguments
        if isinstance(values, ast.Name):
            values = constants.get(values.id, values)
        if not isinstance(values, ast.List | ast.Tuple) or _has_stars(values.elts):
            return
        self.rows = len(values.elts)
        for row, value in enumerate(values.elts):
            for name, cell in zip(names, _cells(value, len(names)), strict=False):
                self._origins[name].append(NameOrigin(cell, row))


def _is_parametrize(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.parametrize")


def _arguments(call: ast.Call) -> tuple[list[str], ast.expr] | None:
    given = {each.arg: each.value for each in call.keywords}
    names = call.args[0] if call.args else given.get("argnames")
    values = call.args[1] if len(call.args) > 1 else given.get("argvalues")
    if names is None or values is None or "indirect" in given:
        return None
    match names:
        case ast.Constant(value=str() as text):
            return [each.strip() for each in text.split(",") if each.strip()], values
        case ast.List() | ast.Tuple():
            return [str(each.value) for each in names.elts if isinstance(each, ast.Constant)], values
        case _:
            return None


def _cells(row: ast.expr, columns: int) -> Sequence[ast.expr]:
    if isinstance(row, ast.Call):
        return row.args if ast.unparse(row.func).rpartition(".")[2] == "param" else ()
    if columns == 1:
        return [row]
    return row.elts if isinstance(row, ast.List | ast.Tuple) and not _has_stars(row.elts) else ()


def _has_stars(nodes: Iterable[ast.expr]) -> bool:
    return any(isinstance(each, ast.Starred) for each in nodes)


def _loads(function: Function) -> Iterator[str]:
    for part in function.body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield node.id


def _stores(function: Function) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from [*node.names, *node.names]


def _assigned(function: Function) -> Iterator[tuple[str, NameOrigin]]:
    for part in function.body:
        for node in ast.walk(part):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]):
                    yield name, NameOrigin(node.value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    yield name, NameOrigin(value)
                case ast.For(iter=(ast.List() | ast.Tuple()) as rows):
                    yield from _looped(node.target, rows.elts)
                case ast.For(target=ast.Tuple(elts=targets), iter=ast.Call(func=ast.Name(id="zip")) as call):
                    yield from _paired(targets, call.args)
                case _:
                    pass


def _looped(target: ast.expr, rows: Sequence[ast.expr]) -> Iterator[tuple[str, NameOrigin]]:
    if isinstance(target, ast.Name):
        yield from ((target.id, NameOrigin(row)) for row in rows if not isinstance(row, ast.Starred))
    elif isinstance(target, ast.Tuple):
        for row in rows:
            if isinstance(row, ast.Tuple | ast.List) and not _has_stars(row.elts):
                pairs = zip(target.elts, row.elts, strict=False)
                yield from ((each.id, NameOrigin(cell)) for each, cell in pairs if isinstance(each, ast.Name))


def _paired(targets: Sequence[ast.expr], columns: Sequence[ast.expr]) -> Iterator[tuple[str, NameOrigin]]:
    """Yield the first values for the names of a loop over pairs. Code may provide fewer pairs than that."""
    for target, column in zip(targets, columns, strict=False):
        rows = column.elts if isinstance(column, ast.List | ast.Tuple) else []
        if isinstance(target, ast.Name) and rows and not isinstance(rows[0], ast.Starred):
            yield target.id, NameOrigin(rows[0])


def lone_constants(module: ast.Module) -> dict[str, ast.expr]:
    """Return the module-level names that are set once and read in one place, with their values."""
    reads = Counter(
        each.id for each in ast.walk(module) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    )
    writes = Counter(
        each.id for each in ast.walk(module) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
    found: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and reads[target.id] == writes[target.id] == 1:
                found[target.id] = statement.value
    return found
