"""Finds out which functions a change can affect."""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from app.runners.evaluators.testing.source_questions.new_source import NewSource, parsed

_FOR_OTHER_READERS = frozenset({".css", ".js", ".md", ".png", ".rst", ".scss", ".svg", ".ts", ".tsx"})
"""Endings of files that people or browsers read."""

_CYTHON = frozenset({".pyx", ".pxd"})
"""Endings of sources that are compiled to a module of their name."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def affected_among(source: NewSource, functions: Collection[str]) -> list[str]:
    """Return those of some functions that a change may affect.

    A function that is the same as at the base, and names nothing that was changed, is not among them, unless
    files changed that it may read, or sources are gone: what it reads or imports may be another. Only code
    that names them reads pages, pictures, and the styles and scripts of browsers, or imports what is compiled
    from Cython.

    Args:
        source: the changed sources.
        functions: their dotted names, of which the last part counts.
    """
    changed = _changed(source)
    if (
        "" in changed
        or not functions
        or _are_gone(source)
        or any(_may_be_read(source, each) for each in source.data)
    ):
        return [*functions]
    uses = _uses({**source.known, **source.texts})
    return [each for each in functions if _reaches(each.rpartition(".")[2], uses, changed)]


def steps_to_changes(source: NewSource) -> Mapping[str, int]:
    """Return by how many steps code leads to what a change defines otherwise, for each name that does.

    A changed name is no step away, and one whose definition mentions it is one step away.
    """
    users = defaultdict[str, set[str]](set)
    for name, mentioned in _uses({**source.known, **source.texts}).items():
        for each in mentioned:
            users[each].add(name)
    found = dict.fromkeys(_changed(source) - {""}, 0)
    left = [*found]
    for name in left:
        new = users[name] - found.keys()
        found |= dict.fromkeys(new, found[name] + 1)
        left += new
    return found


def _may_be_read(source: NewSource, name: str) -> bool:
    path = PurePosixPath(name)
    if path.suffix in _CYTHON:
        return False
    if path.suffix.lower() not in _FOR_OTHER_READERS:
        return True
    words = (path.name, f"*{path.suffix}", f'"{path.suffix}"', f"'{path.suffix}'")
    return any(word in text for text in source.known.values() for word in words)


def _are_gone(source: NewSource) -> bool:
    return not all((source.workspace / name).exists() for name in source.known)


def _reaches(name: str, uses: Mapping[str, frozenset[str]], changed: Collection[str]) -> bool:
    """Return True if a name is not defined in sight, or leads to a changed one."""
    if name not in uses:
        return True
    reached, left = {name}, [name]
    while left:
        new = uses.get(left.pop(), frozenset()) - reached
        reached |= new
        left += new
    return any(each in reached for each in changed)


def _changed(source: NewSource) -> set[str]:
    """Return the names that changed files define otherwise than the base."""
    found = set[str]()
    for name, text in source.texts.items():
        before, after = (_definitions(each) for each in (source.known.get(name, ""), text))
        found |= {each for each in {*before, *after} if before.get(each) != after.get(each)}
    paths = map(PurePosixPath, source.data)
    return found | {path.stem for path in paths if path.suffix in _CYTHON}


def _definitions(text: str) -> dict[str, list[str]]:
    """Return what a module has for each name; statements that define nothing have an empty one."""
    found = defaultdict[str, list[str]](list)
    for _, module in parsed({"": text}):
        for name, node in _named(module):
            found[name].append(ast.dump(node))
    return found


def _uses(texts: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """Return which names the definitions of each name mention."""
    found = defaultdict[str, frozenset[str]](frozenset)
    for _, module in parsed(texts):
        for name, node in _named(module):
            found[name] |= frozenset(_mentioned(ast.walk(node)))
    return found


def _named(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names = [each.asname or each.name.partition(".")[0] for each in imported]
                yield from (("" if name == "*" else name, node) for name in names)
            case _:
                continue
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_set(each)]
            yield from ((name, node) for name in targets or [""])
        elif not isinstance(node, _Definition | ast.Import | ast.ImportFrom):
            yield "", node


def _is_set(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _mentioned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name) | ast.ImportFrom(module=str() as name):
                yield name
                yield from name.split(".")
            case _:
                continue
