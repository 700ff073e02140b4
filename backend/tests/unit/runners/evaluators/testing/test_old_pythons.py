"""The code that runs beside a project's tests runs with the oldest Python that projects pin."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.runners.evaluators.testing import pytest_outside, pytest_runner

OLDEST = (3, 9)
NEWER = frozenset({"stdlib_module_names", "pairwise", "aclosing", "get_annotations", "bit_count"})
PROGRAMS = {
    "outside": (Path(str(pytest_outside.__file__)).parent, ("judge", "candidate")),
    "runner": (Path(str(pytest_runner.__file__)).parent, ("__main__", "runner")),
}


def imported(package: Path, names: tuple[str, ...]) -> set[str]:
    """Find the modules of a package that some of them import, directly or not."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((package / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                left += [node.module] if node.module else [each.name for each in node.names]
    return found


def unions(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield expressions such as `int | None` that Python evaluates when it runs the module."""
    is_late = any(isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in tree.body)
    for node in ast.walk(tree):
        places: list[ast.expr | None] = []
        if isinstance(node, ast.arg):
            places = [] if is_late else [node.annotation]
        elif isinstance(node, ast.Module | ast.ClassDef):  # in functions they are not evaluated
            annotated = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            places = [] if is_late else [each.annotation for each in annotated]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            places = [] if is_late else [node.returns]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            places = [*node.args[1:]]
        for place in filter(None, places):
            if any(
                isinstance(each, ast.BinOp) and isinstance(each.op, ast.BitOr) for each in ast.walk(place)
            ):
                yield place


CASES = [
    pytest.param(package / f"{name}.py", id=f"{which}-{name}")
    for which, (package, programs) in PROGRAMS.items()
    for name in sorted(imported(package, programs))
]


@pytest.mark.parametrize("module", CASES)
def test_a_module_runs_with_the_oldest_python(module: Path) -> None:
    tree = ast.parse(module.read_text(), feature_version=OLDEST)
    assert [ast.unparse(each) for each in unions(tree)] == []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("zip", "dataclass"):
            named = {each.arg for each in node.keywords}
            assert not named & {"strict", "slots", "kw_only"}, ast.unparse(node)
        if isinstance(node, ast.Attribute | ast.Name):
            assert (node.attr if isinstance(node, ast.Attribute) else node.id) not in NEWER


@pytest.mark.parametrize("which", PROGRAMS)
def test_all_parts_of_a_program_are_looked_at(which: str) -> None:
    package, programs = PROGRAMS[which]
    assert len(imported(package, programs)) > 10
