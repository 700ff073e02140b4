"""Finds missing modules whose files git ignores. An agent that wrote one sees it, and no commit holds it."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from app.runners.evaluators.source_places import source_places
from app.runners.evaluators.testing.running.dependencies import missing_module, missing_submodule
from app.runners.evaluators.tree_files import small_file

_RULES = ".gitignore"


def ignored_modules(messages: Iterable[str], tree: Path) -> dict[str, str]:
    """Return the files or directories of missing modules that git ignores, each with the rule that says so.

    The files may never have existed, because a commit without them looks the same.

    Args:
        messages: of errors and failures.
        tree: the candidate's.
    """
    named = (missing_submodule(each) or missing_module(each) for each in messages)
    found: dict[str, str] = {}
    for module in dict.fromkeys(filter(None, named)):
        ignored = next(_ignored(tree, module), None)
        if ignored is not None:
            found[ignored[0]] = ignored[1]
    return found


def _ignored(tree: Path, module: str) -> Iterator[tuple[str, str]]:
    path = module.replace(".", "/")
    places = [PurePosixPath(each, path) for each in ("", *source_places(tree))]
    if any((tree / each).exists() or (tree / f"{each}.py").exists() for each in places):
        return
    for place in places:
        for shown, file in ((f"{place}.py", f"{place}.py"), (f"{place}/", f"{place}/__init__.py")):
            if rule := _rule_for(tree, PurePosixPath(file)):
                yield shown, rule


def _rule_for(tree: Path, file: PurePosixPath) -> str:
    """Return the rule that makes git ignore a file, with the file that has it; `""` if git does not."""
    # Rules in a directory override those above it.
    for directory in file.parents:
        text = small_file(tree / directory / _RULES).decode("utf-8", "replace")
        rules = [line for line in text.splitlines() if _is_rule(line)]
        checked = GitIgnoreSpec.from_lines(rules).check_file(file.relative_to(directory))
        if checked.index is not None:
            return f"`{rules[checked.index].strip()}` in {directory / _RULES}" if checked.include else ""
    return ""


def _is_rule(line: str) -> bool:
    """Return True for a line that is neither empty nor a comment nor malformed. Git skips malformed ones."""
    if not line.strip() or line.startswith("#"):
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except GitIgnorePatternError:
        return False
    return True
