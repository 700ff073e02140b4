"""A module that an agent wrote and git ignores: no commit holds it, and the feedback says why."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.ignored_modules import ignored_modules
from tests.unit.runners.evaluators.testing.gate_support import GOOD, run

MISSING = "ModuleNotFoundError: No module named '{}'"
RULES = "# build output\n\nlib/\n*.generated.py\n!\n!keep.py\nsrc/**/tmp_*.py\n"


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("lib.roman", {"lib/roman.py": "`lib/` in .gitignore"}),
        ("lib", {"lib/": "`lib/` in .gitignore"}),
        ("pkg.tmp_a", {"src/pkg/tmp_a.py": "`src/**/tmp_*.py` in .gitignore"}),
        ("roman", {}),
        ("keep", {}),
        ("there.done", {}),
        ("pkg.secret", {"src/pkg/secret.py": "`secret.py` in src/pkg/.gitignore"}),
    ],
)
def test_missing_modules_are_found_by_the_rules_of_git(
    module: str, found: dict[str, str], tmp_path: Path
) -> None:
    files = {".gitignore": f"{RULES}there/\n", "there/done.py": "", "src/pkg/.gitignore": "secret.py\n"}
    assert ignored_modules([MISSING.format(module)], write(tmp_path, files)) == found


def test_a_rule_further_down_takes_a_file_back(tmp_path: Path) -> None:
    tree = write(tmp_path, {".gitignore": "work.py\n", "pkg/.gitignore": "!work.py\n"})
    messages = [MISSING.format("pkg.work"), MISSING.format("work"), "AssertionError: assert 1 == 2"]
    assert ignored_modules(messages, tree) == {"work.py": "`work.py` in .gitignore"}


def test_without_rules_nothing_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").symlink_to("/etc/passwd")
    assert ignored_modules([MISSING.format("lib.roman")], tmp_path) == {}


@pytest.mark.anyio
async def test_the_feedback_names_the_rule(context) -> None:
    hidden = {**GOOD, "calc.py": "from lib.work import add\n", ".gitignore": "lib/\n"}
    result = await run(context, hidden, GOOD)
    assert result.status == "failed"
    said = (
        "If you wrote lib/: it is not part of the change, because git ignores it (rule `lib/` in .gitignore)"
    )
    assert f"- {said}" in result.feedback.splitlines()
    assert said in result.suggestions
