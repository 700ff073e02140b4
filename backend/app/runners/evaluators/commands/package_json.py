"""Puts the base's scripts and test tool settings into the candidate's `package.json` and the like."""

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import cast

from app.runners.evaluators.commands.scripts import script_bytes, script_text
from app.runners.evaluators.protection.rules import matches

_PROGRAMS = {
    "package.json": frozenset({"npm", "npx", "yarn", "pnpm", "bun"}),
    "composer.json": frozenset({"composer"}),
    "deno.json": frozenset({"deno"}),
}
"""Manifests, each with the programs that run its scripts."""

_OF_TESTS = re.compile(r"(?:pre|post)?test(?![a-z])")
_SCRIPT = re.compile(r"[\w:.-]+")
_KEYS = {
    "package.json": (
        *("scripts", "jest", "mocha", "ava", "c8", "nyc", "vitest", "tap"),
        *("eslintConfig", "eslintIgnore"),
    ),
    "composer.json": ("scripts",),
    "deno.json": ("tasks", "test", "lint"),
}
"""The members that are the base's; scripts come first."""


def packages_of(names: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return the manifests that a command's programs may read: a project's own and its workspaces'.

    Args:
        names: files of the tree.
        words: of the command.
    """
    programs = set(map(posixpath.basename, words))
    manifests = {manifest for manifest, known in _PROGRAMS.items() if known & programs}
    return sorted(name for name in names if posixpath.basename(name) in manifests)


def scripts_run(path: Path, words: Collection[str]) -> list[str]:
    """Return the texts of a manifest's scripts that a command runs: those for tests, and those that it names.

    Args:
        path: the manifest.
        words: of the command.
    """
    scripts = (_document(path) or {}).get(_KEYS[path.name][0])
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
    own = {posixpath.normpath(posixpath.join(directory, each)) for each in _PROGRAMS}
    closed = [each for each in packages_of(names, words) if not matches(each, opened)]
    there = (each for each in closed if each in own or (tree / each).is_symlink() or (tree / each).exists())
    found = ((each, _merged(base / each, tree / each)) for each in there)
    return {name: text for name, text in found if text is not None}


def _merged(base: Path, tree: Path) -> bytes | None:
    before, after = _document(base), _document(tree)
    if before is None:
        return None
    if after is None:
        return script_bytes(base)
    scripts, *tools = _KEYS[base.name]
    merged = {**after, scripts: _scripts(before.get(scripts), after.get(scripts))}
    for each in tools:
        if each in before:
            merged[each] = before[each]
        else:
            merged.pop(each, None)
    if merged == {**after, scripts: after.get(scripts, {})}:
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
