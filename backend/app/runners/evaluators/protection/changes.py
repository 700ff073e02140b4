"""Compares a Python file of the test setting with the base's, definition by definition. Pure."""

import ast
import builtins
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.core.python_source import parse_to_change
from app.runners.evaluators.protection.additions import names_in
from app.runners.evaluators.protection.imports import imported_names, imports_of, is_successor
from app.runners.evaluators.protection.meaning import (
    Definition,
    Meaning,
    MeaningChange,
    compare_decorators,
    compare_functions,
)
from app.runners.evaluators.protection.normal_form import (
    forget_letters,
    is_same_statement,
    is_silencer,
    normal_form,
)
from app.runners.evaluators.protection.row_tables import assigned_names, has_more_rows
from app.runners.evaluators.protection.spellings import real_bases, with_short_super

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_MAX_BYTES = 1_000_000
_MAX_STATEMENTS = 4_000
_HOOKS = ("pytest_", "pytestmark", "__", "collect_ignore")
_SET_UP = frozenset(
    f"{when}{what}"
    for when in ("setup", "teardown")
    for what in ("", "_module", "_class", "_method", "_function")
) | {"setUp", "tearDown", "setUpClass", "tearDownClass", "setUpModule", "tearDownModule", "load_tests"}


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A test, fixture, helper or statement with a changed meaning.

    Attributes:
        name: qualified, such as `TestMore::test_one`; `""` for statements outside all definitions.
        change: weaker or different.
        why: the rest of a sentence about it.
        old: its nodes at the base; empty if it was added.
        new: its nodes in the candidate; empty if it was removed.
        is_test: whether pytest would collect it as a test.
        origin: for an imported name, its old and new origin.
    """

    name: str
    change: MeaningChange
    why: str
    old: tuple[ast.stmt, ...] = ()
    new: tuple[ast.stmt, ...] = ()
    is_test: bool = False
    origin: tuple[str, str] = ("", "")


def changes_between(before: bytes, after: bytes) -> list[DefinitionChange] | None:
    """Return the definitions that do not mean the same or more.

    Return None if a version is too large or no Python.
    """
    if max(len(before), len(after)) > _MAX_BYTES:
        return None
    try:
        old, new = (with_short_super(forget_letters(parse_to_change(each))) for each in (before, after))
        if max(len(old.body), len(new.body)) > _MAX_STATEMENTS:
            return None
        return list(_Scope(old.body, new.body, "", old, new).changes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Scope:
    """One module or class in both versions."""

    def __init__(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], prefix: str, module: ast.AST, other: ast.AST
    ) -> None:
        self._old, self._new = _definitions(old), _definitions(new)
        self._rest = [each for each in old if _counts(each)]
        self._new_rest = [each for each in new if _counts(each)]
        self._imports = (imports_of(old), imports_of(new))
        self._prefix = prefix
        self._module, self._modules = module, (module, other)
        self._needed = set(names_in([module]))

    def changes(self) -> Iterator[DefinitionChange]:
        yield from self._of_imports()
        yield from self._of_statements()
        renamed = _renamed(self._old, self._new)
        for name, node in self._old.items():
            if name in self._new:
                yield from self._of_pair(name, node, self._new[name])
            elif name not in renamed:
                yield self._change(name, Meaning(MeaningChange.WEAKER, "was removed"), node, None)
        for name, node in self._new.items():
            if name not in self._old and name not in renamed.values():
                yield from self._of_added(name, node)

    def _of_pair(self, name: str, old: Definition, new: Definition) -> Iterator[DefinitionChange]:
        if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
            meaning = _compare_heads(old, new)
            inner = _Scope(old.body, new.body, f"{self._prefix}{name}::", *self._modules)
            yield from inner.changes()
        elif isinstance(old, _FUNCTIONS) and isinstance(new, _FUNCTIONS):
            meaning = compare_functions(old, new)
        else:
            meaning = Meaning(MeaningChange.DIFFERENT, "is another kind of definition")
        if not meaning.is_harmless:
            yield self._change(name, meaning, old, new)

    def _of_added(self, name: str, node: Definition) -> Iterator[DefinitionChange]:
        bare = name.partition("#")[0]
        why = ""
        if _decides(bare) or _is_automatic(node):
            why = "was added and affects existing tests"
        elif not self._prefix and bare in self._needed and not _is_bound(bare, self._module):
            why = "was added and replaces what tests used under this name"
        elif name != bare or bare in self._imports[0] or bare in assigned_names(self._rest):
            why = "was added and replaces another definition"
        if why:
            yield self._change(name, Meaning(MeaningChange.DIFFERENT, why), None, node)

    def _of_imports(self) -> Iterator[DefinitionChange]:
        old, new = self._imports
        if old == new:
            return
        used = set(names_in([self._modules[1]])) - _only_annotating(self._modules[1])
        own = {*self._old, *assigned_names(self._rest)}
        for name, place in new.items():
            before = old.get(name, "")
            is_other = before not in ("", place) and name in used and not is_successor(before, place)
            takes = not before and (name in own or (hasattr(builtins, name) and name in self._needed))
            if is_other or takes or (not before and name.startswith("*")):
                yield self._of_import(name, "is imported from elsewhere")
        for name in old:
            if name not in new and name in used:
                yield self._of_import(name, "is no longer imported")

    def _of_import(self, name: str, why: str) -> DefinitionChange:
        old, new = (each.get(name, "") for each in self._imports)
        return DefinitionChange(f"{self._prefix}{name}", MeaningChange.DIFFERENT, why, origin=(old, new))

    def _of_statements(self) -> Iterator[DefinitionChange]:
        wanted = list(self._rest)
        bound = {*self._old, *self._imports[0], *assigned_names(self._rest)}
        for each in self._new_rest:
            if wanted and (
                is_same_statement(wanted[0], each) or has_more_rows(wanted[0], each, self._module)
            ):
                wanted.pop(0)
            elif not self._may_be_added(each, bound):
                yield self._statement(each, wanted)
        for each in wanted:
            yield self._change(
                "", Meaning(MeaningChange.DIFFERENT, "a statement was removed or changed"), each, None
            )

    def _statement(self, added: ast.stmt, wanted: list[ast.stmt]) -> DefinitionChange:
        """Pair an added statement with an old one that binds the same names."""
        silences = any(isinstance(node, ast.expr) and is_silencer(node) for node in ast.walk(added))
        names = set(assigned_names([added]))
        old = next((each for each in wanted if names and names == set(assigned_names([each]))), None)
        if old is not None:
            wanted.remove(old)
        if silences:
            meaning = Meaning(MeaningChange.WEAKER, "all tests are now skipped or expected to fail")
        else:
            why = "a statement was changed" if old else "a statement was added"
            meaning = Meaning(MeaningChange.DIFFERENT, why)
        return self._change("", meaning, old, added)

    def _may_be_added(self, statement: ast.stmt, bound: Collection[str]) -> bool:
        names = set(assigned_names([statement]))
        if not names or not names.isdisjoint(bound) or any(map(_decides, names)):
            return False
        return not any(name in self._needed and not self._prefix for name in names)

    def _change(
        self, name: str, meaning: Meaning, old: ast.stmt | None, new: ast.stmt | None
    ) -> DefinitionChange:
        qualified = f"{self._prefix}{name}" if name else self._prefix.removesuffix("::")
        return DefinitionChange(
            name=qualified,
            change=meaning.change,
            why=meaning.why,
            old=(old,) if old else (),
            new=(new,) if new else (),
            is_test=name.startswith(("test", "Test")),
        )


def _only_annotating(module: ast.AST) -> set[str]:
    """Return the names that a module reads in annotations of arguments and results, and nowhere else."""
    nodes = list(ast.walk(module))
    annotations = [each.annotation for each in nodes if isinstance(each, ast.arg)]
    annotations += [each.returns for each in nodes if isinstance(each, _FUNCTIONS)]
    inside = [node for each in annotations if each is not None for node in ast.walk(each)]
    seen = {id(node) for node in inside}
    others = (node for node in nodes if id(node) not in seen)
    named = [{node.id for node in group if isinstance(node, ast.Name)} for group in (inside, others)]
    return named[0] - named[1] - {node.arg for node in nodes if isinstance(node, ast.arg)}


def _definitions(body: Iterable[ast.stmt]) -> dict[str, Definition]:
    """Return the definitions of a body by name. A second one with a name is `name#2`."""
    found: dict[str, Definition] = {}
    seen = Counter[str]()
    for each in body:
        if isinstance(each, _DEFINITIONS):
            seen[each.name] += 1
            found[each.name if seen[each.name] == 1 else f"{each.name}#{seen[each.name]}"] = each
    return found


def _counts(statement: ast.stmt) -> bool:
    """Return True if a statement outside definitions can affect tests."""
    if isinstance(statement, (*_DEFINITIONS, *_IMPORTS, ast.Pass)):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    return not (
        isinstance(statement, ast.If)
        and ast.unparse(statement.test) in ("__name__ == '__main__'", "TYPE_CHECKING", "typing.TYPE_CHECKING")
        and not statement.orelse
    )


def _compare_heads(old: ast.ClassDef, new: ast.ClassDef) -> Meaning:
    heads = [[ast.dump(part) for part in (*real_bases(each), *each.keywords)] for each in (old, new)]
    if heads[0] != heads[1]:
        return Meaning(MeaningChange.DIFFERENT, "has different base classes")
    return compare_decorators(old.decorator_list, new.decorator_list)


def _renamed(old: Mapping[str, Definition], new: Mapping[str, Definition]) -> dict[str, str]:
    """Return old and new names of tests that were only renamed."""
    left = dict(_tests(new, without=old))
    found: dict[str, str] = {}
    for name, form in _tests(old, without=new):
        prefix = "test_" if "_" in name else "test"
        same = (other for other, its in left.items() if its == form and other.startswith(prefix))
        if (other := next(same, None)) is not None:
            found[name] = other
            del left[other]
    return found


def _tests(scope: Mapping[str, Definition], without: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of test functions, each with its normal form."""
    for name, node in scope.items():
        if name.startswith("test") and name not in without and isinstance(node, _FUNCTIONS):
            yield name, f"{type(node).__name__}\n{normal_form(node)}"


def _decides(name: str) -> bool:
    return name.startswith(_HOOKS) or name in _SET_UP


def _is_automatic(node: Definition) -> bool:
    """Return True if a definition is a fixture that every test gets automatically."""
    return any(
        isinstance(each, ast.Call) and any(word.arg == "autouse" for word in each.keywords)
        for each in node.decorator_list
    )


def _is_bound(name: str, module: ast.AST) -> bool:
    """Return True if the module binds a name itself, other than as an argument."""
    return any(
        (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, _DEFINITIONS) and node.name == name)
        or (isinstance(node, ast.alias) and name in imported_names([node]))
        for node in ast.walk(module)
    )
