"""Takes from a source what hides types from a checker: casts, Any, and names that are looked up as texts."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from app.core.python_source import parse_module
from app.runners.evaluators.source_edits import Edit, Source, apply_edits, outermost
from app.runners.evaluators.static.type_names import typing_names

_ANY_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?:typing\.)?Any[ \t]*(?=\r?\n|$)")

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.ClassDef
_Names = Mapping[str, str]


def without_escapes(text: bytes, base: bytes) -> bytes | None:
    """Return a source without the escapes from the checker that its base does not have.

    Lines stay in their places. Return None if there are none, or if the source cannot be parsed.
    """
    try:
        module, known = parse_module(text), _shown(base)
        source = Source(text)
        new = [(each, edit) for each, edit in _escapes(module, source) if ast.unparse(each) not in known]
        edits = [edit for _, edit in new]
        if not _ANY_COMMENT.search(base):
            edits += [Edit(each.start(), each.end(), b"") for each in _ANY_COMMENT.finditer(text)]
        changed = apply_edits(text, outermost(edits))
        parse_module(changed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return changed if edits else None


def _shown(base: bytes) -> Collection[str]:
    module = parse_module(base)
    return {ast.unparse(each) for each, _ in _escapes(module, Source(base))}


def _escapes(module: ast.Module, source: Source) -> Iterator[tuple[ast.expr | ast.stmt, Edit]]:
    names = typing_names(module)
    for node in ast.walk(module):
        if isinstance(node, _Scope):
            yield from _variables(node, names, source)
        if isinstance(node, ast.expr) and (edit := _shorter(node, names, source)) is not None:
            yield node, edit
        elif isinstance(node, ast.If) and _swaps_imports(node):
            start, end = source.start(node.test), source.end(node.body[-1])
            lines = source.content[start:end].count(b"\n")
            yield node, Edit(start, end, b"False: pass" + b"\n" * lines)


def _shorter(node: ast.expr, names: _Names, source: Source) -> Edit | None:
    """Return the edit that writes an expression without its escape."""
    if isinstance(node, ast.Call):
        return _uncast(node, names, source) or _looked_up(node, source)
    return _subscripted(node, source) if isinstance(node, ast.Subscript) else None


def _variables(scope: _Scope, names: _Names, source: Source) -> Iterator[tuple[ast.stmt, Edit]]:
    """Yield the variables of type Any that are assigned once, and those that are functions to Any."""
    anys = [each for each in scope.body if isinstance(each, ast.AnnAssign) and _is_any(each, names)]
    if not anys:
        return
    stored = [
        each.id for each in ast.walk(scope) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    for each in anys:
        once = isinstance(each.target, ast.Name) and stored.count(each.target.id) == 1
        if once and each.value is not None and each.value.lineno == each.lineno:
            start = source.end(each.target)
            yield each, Edit(start, source.start(each.value), b" = ")


def _is_any(node: ast.AnnAssign, names: _Names) -> bool:
    annotation = node.annotation
    if _means_any(annotation, names):
        return True
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Constant(value=value), result])) if value is ...:
            return _means_any(result, names)
        case _:
            return False


def _means_any(annotation: ast.expr, names: _Names) -> bool:
    shown = ast.unparse(annotation)
    return names.get(shown, shown) in ("Any", "typing.Any")


def _uncast(call: ast.Call, names: _Names, source: Source) -> Edit | None:
    """Return the edit of a cast that leaves its value in brackets."""
    if names.get(ast.unparse(call.func), ast.unparse(call.func)) not in ("cast", "typing.cast"):
        return None
    if len(call.args) != 2 or call.keywords:
        return None
    start, value = source.start(call), source.start(call.args[1])
    if not source.content[source.end(call.args[1]) :].lstrip().startswith(b")"):
        return None
    return Edit(start, value, b"(" + b"\n" * source.content[start:value].count(b"\n"))


def _looked_up(call: ast.Call, source: Source) -> Edit | None:
    """Return the edit that writes an attribute for `getattr(x, "name")`."""
    match call:
        case ast.Call(args=[holder, ast.Constant(value=str() as name)], keywords=[]):
            function = ast.unparse(call.func)
        case _:
            return None
    if function not in ("getattr", "object.__getattribute__") or not name.isidentifier():
        return None
    return source.replaced(call, b"(" + source.text(holder) + b")." + name.encode())


def _subscripted(node: ast.Subscript, source: Source) -> Edit | None:
    """Return the edit that writes a name for `globals()["name"]`, or an attribute for `vars(x)["name"]`."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()) if name.isidentifier():
            pass
        case _:
            return None
    match node.value:
        case ast.Call(func=ast.Name(id="globals" | "locals"), args=[]):
            return source.replaced(node, name.encode())
        case ast.Call(func=ast.Name(id="vars"), args=[holder]) | ast.Attribute(value=holder, attr="__dict__"):
            return source.replaced(node, b"(" + source.text(holder) + b")." + name.encode())
        case _:
            return None


def _swaps_imports(node: ast.If) -> bool:
    """Return True if the checker reads an import of the same names from another place than Python does."""
    if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        return False
    seen, real = _imported(node.body), _imported(node.orelse)
    return bool(real) and set(real) <= set(seen) and seen != real


def _imported(body: Sequence[ast.stmt]) -> dict[str, str]:
    """Return the places from which names are imported; nothing if there are other statements."""
    found: dict[str, str] = {}
    for each in body:
        if not isinstance(each, ast.ImportFrom):
            return {}
        found |= {name.asname or name.name: f"{'.' * each.level}{each.module}" for name in each.names}
    return found
