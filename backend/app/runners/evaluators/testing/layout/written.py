"""Finds the tests that a file defines by its text, and how certain that is without running it.

The text of most test files shows plainly which tests they hold. For these, no process is needed to check that
a run had all of them. For all others, the base's tests are listed.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath

from app.core.python_source import parse_module
from app.runners.evaluators.testing.layout.inventory import function_of

_HARMLESS_BASES = frozenset({"object", "TestCase", "IsolatedAsyncioTestCase"})
_DECIDING_NAMES = ("pytest_generate_tests", "pytest_collect", "pytest_pycollect", "collect_ignore")
_SKIPS = frozenset({"pytest.mark.skip", "unittest.skip"})
_TOOLS = ("pytest", "_pytest", "pluggy", "unittest", "doctest")
_TRANSPARENT = ("pytest.", "mark.", "unittest.", "mock.", "patch", "staticmethod", "classmethod")


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """A test function in its file's text.

    Attributes:
        id: file, classes and name, joined like pytest's ids.
        cases: the number of its literal parameters, multiplied; 1 without any.
        certain: whether the number of cases is certain.
        skipped: whether a mark always skips it.
        plain: whether no decorator can replace the function by another one.
    """

    id: str
    cases: int = 1
    certain: bool = True
    skipped: bool = False
    plain: bool = True


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """The tests of some files. `certain` is False if the text does not show all of them."""

    tests: tuple[WrittenTest, ...]
    certain: bool

    @property
    def tells_all(self) -> bool:
        """True if the text shows every test with all its parameters. Otherwise only a run does."""
        return self.certain and all(each.certain for each in self.tests)

    def are_all_in(self, ids: Iterable[str]) -> bool:
        """Return True if the given ids certainly contain every test, with all its parameters."""
        found = Counter(function_of(each) for each in ids)
        return self.tells_all and all(found[each.id] >= each.cases for each in self.tests)


def read_tests(tree: Path, files: Iterable[str], conftests: Iterable[str] = ()) -> WrittenTests:
    """Read test files. A file that cannot be parsed adds no tests and makes the result uncertain."""
    tests: list[WrittenTest] = []
    certain = True
    for name in files:
        module = _parse(tree / name)
        if module is None:
            certain = False
            continue
        found, plain = _of_body(module.body, f"{name}::", inside=None)
        tests += found
        certain &= plain and not _decides_elsewhere(module)
    for name in conftests:
        module = _parse(tree / name)
        certain &= module is not None and not _decides_elsewhere(module)
    return WrittenTests(tuple(tests), certain)


def written_tests(tree: Path, files: Iterable[str]) -> list[str]:
    """Return the ids of the test functions that files define.

    This is for files that cannot be imported, as in a project with tests written before their code.
    """
    return [each.id for each in read_tests(tree, files).tests]


def pinned_modules(tree: Path, names: Iterable[str], test_files: Iterable[str]) -> frozenset[str]:
    """Return the modules that test files import and the tree itself does not have.

    A candidate could add a module with such a name and thereby judge itself (a `hypothesis` that tries
    nothing, a `unittest` that always agrees). If the interpreter has no module with the name, it is one that
    must be written.

    Args:
        tree: the base.
        names: all its files.
        test_files: its test files and conftests.
    """
    own = {part.partition(".")[0] for name in names for part in PurePosixPath(name).parts}
    found: set[str] = set(_TOOLS)
    for name in test_files:
        module = _parse(tree / name)
        for node in ast.walk(module) if module else ():
            if isinstance(node, ast.Import):
                found.update(each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return frozenset(found - own)


def _parse(path: Path) -> ast.Module | None:
    try:
        return parse_module(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_body(
    body: Sequence[ast.stmt], prefix: str, inside: ast.ClassDef | None
) -> tuple[list[WrittenTest], bool]:
    """Return the tests of a module or class, and whether its text shows all of them."""
    tests: list[WrittenTest] = []
    certain = True
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                tests.append(_test(node, prefix, inside))
        elif isinstance(node, ast.ClassDef):
            if is_test_class(node):
                found, plain = _of_body(node.body, f"{prefix}{node.name}::", node)
                tests += found
                certain &= plain and all(_name_of(base) in _HARMLESS_BASES for base in node.bases)
            elif _may_hold_tests(node):
                certain = False
        elif not _is_harmless(node):
            certain = False
    return tests, certain


def _test(
    node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str, inside: ast.ClassDef | None
) -> WrittenTest:
    decorators = [*node.decorator_list, *(inside.decorator_list if inside else ())]
    counts = [_cases(each) for each in decorators]
    return WrittenTest(
        id=f"{prefix}{node.name}",
        cases=prod(count for count in counts if count),
        certain=None not in counts,
        skipped=any(_name_of(each, whole=True) in _SKIPS for each in decorators),
        plain=all(_name_of(each, whole=True).startswith(_TRANSPARENT) for each in decorators),
    )


def _cases(decorator: ast.expr) -> int | None:
    """Count the cases of a parametrisation. Return None if only a run shows them, 1 for other decorators."""
    if not isinstance(decorator, ast.Call) or _name_of(decorator) != "parametrize":
        return 1
    values = decorator.args[1] if len(decorator.args) > 1 else None
    if isinstance(values, ast.Call):
        return _numbers_in(values)
    if not isinstance(values, ast.List | ast.Tuple) or any(
        isinstance(each, ast.Starred) for each in values.elts
    ):
        return None
    return len(values.elts)


def _numbers_in(call: ast.Call) -> int | None:
    """Count the numbers in a `range` of literal numbers."""
    if _name_of(call, whole=True) != "range" or call.keywords:
        return None
    try:
        return len(range(*(ast.literal_eval(each) for each in call.args)))
    except (ValueError, TypeError, OverflowError):
        return None


def _is_harmless(node: ast.stmt) -> bool:
    """Return True if a statement defines no tests, as far as its text shows."""
    if isinstance(node, ast.ImportFrom):
        return not any(each.name == "*" or _looks_like_test(each.asname or each.name) for each in node.names)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        return not any(_looks_like_test(name) for name in names)
    inner = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    return not any(_looks_like_test(each.name) for each in inner)


def _looks_like_test(name: str) -> bool:
    return name.startswith(("test", "Test")) and name not in ("testing",)


def _decides_elsewhere(module: ast.Module) -> bool:
    """Return True if hooks, or fixtures with computed parameters, determine which tests exist."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name | ast.FunctionDef):
            name = node.id if isinstance(node, ast.Name) else node.name
            if name.startswith(_DECIDING_NAMES) or name == "load_tests":
                return True
        elif isinstance(node, ast.keyword) and node.arg == "params" and not _is_literal(node.value):
            return True
    return False


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple)


def is_test_class(node: ast.ClassDef) -> bool:
    """Return True if pytest looks for tests in a class."""
    return node.name.startswith("Test") or any(_name_of(base).endswith("TestCase") for base in node.bases)


def _may_hold_tests(node: ast.ClassDef) -> bool:
    """Return True if a class that does not look like a test class may be one by inheritance."""
    functions = [each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any(each.startswith("test") for each in functions) or any(
        "test" in ast.unparse(base).lower() for base in node.bases
    )


def _name_of(node: ast.expr, *, whole: bool = False) -> str:
    """Return the last part of a dotted name, called or not, or with `whole` the whole name."""
    text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    return text if whole else text.rpartition(".")[2]
