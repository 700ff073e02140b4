"""Puts the base's scripts and test tool settings into the candidate's `package.json`."""

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import cast

from app.runners.evaluators.commands.scripts import script_bytes, script_text
from app.runners.evaluators.protection.rules import matches

_NODE_PROGRAMS = frozenset({"npm", "npx", "yarn", "pnpm", "bun"})
_MANIFEST = "package.json"
_OF_TESTS = re.compile(r"(?:pre|post)?test(?![a-z])")
_SCRIPT = re.compile(r"[\w:.-]+")
_NODE_TOOLS = (
    "scripts",
    "jest",
    "mocha",
    "ava",
    "c8",
    "nyc",
    "vitest",
    "tap",
    "eslintConfig",
    "eslintIgnore",
)


def packages_of(names: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return the manifests that a command of Node's programs may read: a project's own and its workspaces'.

    Args:
        names: files of the tree.
        words: of the command.
    """
    if not _NODE_PROGRAMS.intersection(map(posixpath.basename, words)):
        return []
    return sorted(name for name in names if posixpath.basename(name) == _MANIFEST)


def scripts_run(path: Path, words: Collection[str]) -> list[str]:
    """Return the texts of a manifest's scripts that a command runs: those for tests, and those that it names.

    Args:
        path: the manifest.
        words: of the command.
    """
    scripts = (_document(path) or {}).get("scripts")
    known = cast("dict[str, object]", scripts) if isinstance(scripts, dict) else {}
    waiting = [name for name in known if name in words or _OF_TESTS.match(name)]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = str(known[name])
            around = (f"pre{name}", f"post{name}", *_SCRIPT.findall(found[name]))
            waiting += [each for each in around if each in known]
    return list(found.values())


def package_texts(
    base: Path,
    tree: Path,
    words: Sequence[str],
    names: Iterable[str],
    opened: Sequence[str],
    directory: str = "",
) -> dict[str, bytes]:
    """Return each `package.json` with the base's scripts and test tool settings, if these differ.

    Args:
        base: the tree at the base commit.
        tree: the candidate's tree.
        words: of the command.
        names: files of the base.
        opened: globs of paths that the candidate may change.
        directory: where the command starts. Its manifest cannot be removed, unlike that of a workspace.
    """
    own = posixpath.normpath(posixpath.join(directory, _MANIFEST))
    closed = [each for each in packages_of(names, words) if not matches(each, opened)]
    there = (each for each in closed if each == own or (tree / each).is_symlink() or (tree / each).exists())
    found = ((each, _merged(base / each, tree / each)) for each in there)
    return {name: text for name, text in found if text is not None}


def _merged(base: Path, tree: Path) -> bytes | None:
    before, after = _document(base), _document(tree)
    if before is None:
        return None
    if after is None:
        return script_bytes(base)
    merged = {**after}
    for each in _NODE_TOOLS:
        if each == "scripts":
            merged[each] = _scripts(before.get(each), after.get(each))
        elif each in before:
            merged[each] = before[each]
        else:
            merged.pop(each, None)
    if merged == {**after, "scripts": after.get("scripts", {})}:
        return None
    return json.dumps(merged, indent=2).encode()


def _scripts(before: object, after: object) -> dict[str, object]:
    """Return the base's scripts, and those of the candidate that npm does not run along with them."""
    known = cast("dict[str, object]", before) if isinstance(before, dict) else {}
    new = cast("dict[str, object]", after) if isinstance(after, dict) else {}
    beside = {f"{part}{name}" for name in known for part in ("pre", "post")}
    kept = {name: text for name, text in new.items() if name not in beside or name in known}
    return {**kept, **known}


def _document(path: Path) -> dict[str, object] | None:
    try:
        document: object = json.loads(script_text(path))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", document) if isinstance(document, dict) else None
