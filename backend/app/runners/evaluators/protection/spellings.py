"""Writes code in one of several spellings that mean the same in Python 3. Pure.

Tools that modernise code, such as pyupgrade and Ruff, convert between them: `set([1, 2])` and `{1, 2}`,
`super(Case, self)` and `super()`, `@pytest.fixture()` and `@pytest.fixture`, `IOError` and `OSError`. Names
are taken for what Python, pytest, unittest and six call so.
"""

import ast

from app.runners.evaluators.protection.spellings_of_six import call_of_six, name_of_six

_OS_ERRORS = frozenset({"IOError", "EnvironmentError", "select.error", "socket.error"})
_READING = frozenset({"r", "rt"})
# Names that unittest had until Python 3.12.
_UNITTEST = {
    "assert_": "assertTrue",
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
}
_SEQUENCES = {"list": ast.List, "tuple": ast.Tuple}


class Respelled(ast.NodeTransformer):
    """Rewrites a tree in place."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.bases = real_bases(node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("OSError", node.ctx) if node.id in _OS_ERRORS else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in _OS_ERRORS:
            return ast.Name("OSError", node.ctx)
        node.attr = _UNITTEST.get(node.attr, node.attr)
        return name_of_six(node) or self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func, node.args, node.keywords:
            case ast.Name("isinstance" | "issubclass"), [value, ast.BinOp() as union], []:
                return ast.Call(node.func, [value, _tuple_of(union)], [])
            case ((ast.Name("open") | ast.Attribute(ast.Name("io"), "open")), [path, *mode], words):
                return _opened(path, mode, words)
            case ast.Name(name), arguments, words:
                return _container(name, arguments, words) or node
            case _:
                return call_of_six(node) or _with_joined_names(node)


def with_short_super(module: ast.Module) -> ast.Module:
    """Shorten `super(Case, self)` to `super()` in the methods of `Case`. Return the module."""
    for outer in ast.walk(module):
        if isinstance(outer, ast.ClassDef):
            for node in ast.walk(outer):
                match node:
                    case ast.Call(ast.Name("super"), [ast.Name(name), ast.Name("self" | "cls")], []):
                        node.args = [] if name == outer.name else node.args
                    case _:
                        pass
    return module


def respelled_decorator(decorator: ast.expr) -> ast.expr:
    """Return `@pytest.fixture()` and `@pytest.mark.name()` without the empty call."""
    match decorator:
        case ast.Call(func, [], []):
            name = ast.unparse(func)
            is_pytests = name.rpartition(".")[2] == "fixture" or ".mark." in f".{name}"
            return func if is_pytests else decorator
        case _:
            return decorator


def real_bases(node: ast.ClassDef) -> list[ast.expr]:
    """Return the bases of a class without `object`, which every class has."""
    return [each for each in node.bases if not (isinstance(each, ast.Name) and each.id == "object")]


def _container(name: str, arguments: list[ast.expr], words: list[ast.keyword]) -> ast.expr | None:
    """Return the literal or comprehension for `set([...])`, `list(x for ...)` and `dict(a=1)`."""
    match name, arguments, words:
        case ("set", [ast.GeneratorExp(element, generators)], []):
            return ast.SetComp(element, generators)
        case ("list", [ast.GeneratorExp(element, generators)], []):
            return ast.ListComp(element, generators)
        case ("set", [ast.List([_, *_] as elements) | ast.Tuple([_, *_] as elements)], []):
            return ast.Set(elements)
        case ("list" | "tuple", [ast.List(elements) | ast.Tuple(elements)], []):
            return _SEQUENCES[name](elements, ast.Load())
        case ("list" | "tuple", [], []):
            return _SEQUENCES[name]([], ast.Load())
        case ("dict", [], _) if all(each.arg for each in words):
            return ast.Dict([ast.Constant(each.arg) for each in words], [each.value for each in words])
        case _:
            return None


def _opened(path: ast.expr, mode: list[ast.expr], words: list[ast.keyword]) -> ast.expr:
    """Return a call of `open` that does not say that it reads text."""
    match mode:
        case [ast.Constant(str(how))] if how in _READING:
            mode = []
        case _:
            pass
    others = [each for each in words if not (each.arg == "mode" and _is_reading(each.value))]
    return ast.Call(ast.Name("open", ast.Load()), [path, *mode], others)


def _is_reading(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and mode.value in _READING


def _tuple_of(union: ast.expr) -> ast.expr:
    """Return the types of `A | B` as a tuple."""
    parts: list[ast.expr] = []
    while isinstance(union, ast.BinOp) and isinstance(union.op, ast.BitOr):
        parts.insert(0, union.right)
        union = union.left
    return ast.Tuple([union, *parts], ast.Load()) if parts else union


def _with_joined_names(node: ast.Call) -> ast.Call:
    """Return a parametrisation whose names are one text: `"a, b"` for `("a", "b")`."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "parametrize" and node.args):
        return node
    match node.args[0]:
        case ast.List(elements) | ast.Tuple(elements) if len(elements) > 1:
            names = [each.value if isinstance(each, ast.Constant) else None for each in elements]
        case ast.Constant(str(text)):
            names = [each.strip() for each in text.split(",")]
        case _:
            return node
    texts = [each for each in names if isinstance(each, str)]
    if len(texts) == len(names):
        node.args[0] = ast.Constant(",".join(texts))
    return node
