"""The lint gate finds new faults, and nobody but the base chooses its rules."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators import source_tree
from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.protocol import EvaluationCategory, Evaluator
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "x = 1\n"}
WRONG = {"a.py": "print(gone)\n"}


async def lint(context, files: Mapping[str, str | bytes], base: Mapping[str, str | bytes] | None = None):
    return await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", context(files, base))


async def test_clean_code_passes(context) -> None:
    result = await lint(context, CLEAN)
    assert (result.passed, result.score, result.status) == (True, 1.0, "passed")
    assert "passes all lint checks" in result.feedback
    assert result.metadata["error_count"] == 0
    assert result.metadata["files_checked"] == 1


async def test_errors_are_counted_and_named(context) -> None:
    result = await lint(context, {"pkg/a.py": "import os\nimport sys\n", "b.py": "import re\n"})
    assert result.status == "failed"
    assert result.score == 0.7
    assert "3 new lint errors" in result.feedback
    assert result.metadata["error_count"] == 3
    assert "Fix F401 in pkg/a.py line 2: `sys` imported but unused" in result.suggestions


async def test_no_workspace() -> None:
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", {})
    assert (result.feedback, result.status, result.score) == ("No workspace to lint", "skipped", 1.0)


async def test_missing_workspace() -> None:
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", {"workspace_ref": "/no/such/place"}
    )
    assert (result.status, result.score) == ("failed", 0.0)
    assert "not found" in result.feedback


async def test_missing_base(context) -> None:
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate(
        "coding", "", {**context(CLEAN), "base_ref": "/no/such/place"}
    )
    assert result.status == "errored"


async def test_nothing_to_lint_is_skipped(context) -> None:
    result = await lint(context, {"README.md": "x", ".hidden/a.py": "import os\n"})
    assert result.status == "skipped"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"ruff.toml": 'exclude = ["*"]\nforce-exclude = true\n'}, id="excluded by ruff.toml"),
        pytest.param({"pyproject.toml": '[tool.ruff]\nexclude = ["*"]\n'}, id="excluded by pyproject"),
        pytest.param({"ruff.toml": "lint.ignore = ['ALL']\n"}, id="ignored"),
        pytest.param({".gitignore": "*.py\n", ".git/HEAD": "ref: refs/heads/main\n"}, id="gitignored"),
        pytest.param({"a.py": "print(gone)  # noqa\n"}, id="noqa"),
        pytest.param({"a.py": "# ruff: noqa\nprint(gone)\n"}, id="file-wide noqa"),
        pytest.param({"a.py": "# flake8: noqa\nprint(gone)\n"}, id="file-wide flake8 noqa"),
        pytest.param({"a.py": "print(gone)  # ruff: ignore[F821]\n"}, id="ruff: ignore"),
        pytest.param({"pyvenv.cfg": ""}, id="posing as a virtual environment"),
    ],
)
@pytest.mark.parametrize("base", [pytest.param(CLEAN, id="base"), pytest.param(None, id="no base")])
async def test_the_candidate_cannot_silence_it(context, files, base) -> None:
    result = await lint(context, {**WRONG, **files}, base)
    assert result.status == "failed"
    assert result.metadata["error_count"] == 1


async def test_a_comment_that_does_not_count_is_named(context) -> None:
    result = await lint(context, {"a.py": "def f():\n    return y  # noqa: F821\n"}, CLEAN)
    note = "(`# noqa: F821` is new and does not count; fix the code instead)"
    assert result.suggestions == [f"Fix F821 in a.py line 2: Undefined name `y` {note}"]


@pytest.mark.parametrize(
    ("files", "base"),
    [
        pytest.param(
            {"a.py": "\n\nprint(gone)  # noqa\n"}, {"a.py": "print(gone)  # noqa\n"}, id="the base has it"
        ),
        pytest.param({"b.py": "print(gone)  # noqa\n"}, {"a.py": "print(gone)  # noqa\n"}, id="it moved"),
        pytest.param(
            {"a.py": "import os  # noqa: F401 - for its effect\n"}, CLEAN, id="an import for its effect"
        ),
    ],
)
async def test_comments_that_count(context, files, base) -> None:
    assert (await lint(context, files, base)).status == "passed"


async def test_new_comments_count_where_the_operator_allows_it(context) -> None:
    evaluator = RuffLintEvaluator(timeout=PATIENCE, allow_silencers=True)
    silenced = context({"a.py": "print(gone)  # noqa\n"}, CLEAN)
    assert (await evaluator.evaluate("coding", "", silenced)).status == "passed"


FAULTY = "print(no_such_name)\n"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({".work/b.py": FAULTY}, id="hidden directory"),
        pytest.param({".b.py": FAULTY}, id="hidden file"),
        pytest.param({"venv/pyvenv.cfg": "", "venv/b.py": FAULTY}, id="virtual environment"),
        pytest.param({"lib/site-packages/b.py": FAULTY}, id="installed packages"),
        pytest.param({"node_modules/b.py": FAULTY}, id="node_modules"),
        pytest.param({"build/b.py": FAULTY}, id="a directory that ruff leaves out by itself"),
        pytest.param({"b.pyi": FAULTY}, id="a stub"),
        pytest.param({"b.py": "# coding: latin-1\n" + FAULTY + "x = '\xe9'\n"}, id="latin-1"),
        pytest.param({"b.py": FAULTY.replace("\n", "\r")}, id="carriage returns"),
        pytest.param({"b.py": "\ufeff" + FAULTY}, id="a byte order mark"),
        pytest.param({"b.py": "\f" + FAULTY}, id="a form feed"),
        pytest.param(
            {"sub/b.py": FAULTY, "sub/ruff.toml": "lint.ignore = ['ALL']\n"}, id="a nested ruff.toml"
        ),
        pytest.param({"sub/b.py": FAULTY, "sub/.gitignore": "*\n"}, id="a nested .gitignore"),
    ],
)
@pytest.mark.parametrize(
    "rules", [pytest.param({}, id="built-in"), pytest.param({"ruff.toml": "lint.select = ['F']\n"}, id="own")]
)
async def test_code_cannot_get_out_of_sight(context, files, rules) -> None:
    result = await lint(context, {**CLEAN, **files}, {**CLEAN, **rules})
    assert [each["rule"] for each in result.metadata["findings"]] == ["F821"]


async def test_a_module_behind_a_link_is_linted(context) -> None:
    made = context({**CLEAN, "lib/b.txt": FAULTY}, CLEAN)
    (Path(made["workspace_ref"]) / "b.py").symlink_to("lib/b.txt")
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert [each["file"] for each in result.metadata["findings"]] == ["b.py"]


async def test_links_that_lead_nowhere_or_away_are_passed_over(context) -> None:
    made = context(CLEAN, CLEAN)
    for name, target in {
        "loop.py": "loop.py",
        "gone.py": "none",
        "root": "/",
        "out.py": "/etc/hostname",
    }.items():
        (Path(made["workspace_ref"]) / name).symlink_to(target)
    result = await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)
    assert (result.status, result.metadata["files_checked"]) == ("passed", 1)


async def test_what_the_base_has_out_of_sight_stays_there(context) -> None:
    hidden = {"venv/pyvenv.cfg": "", "venv/b.py": FAULTY, ".tools/c.py": FAULTY}
    result = await lint(context, {**CLEAN, **hidden}, {**CLEAN, **hidden})
    assert (result.status, result.metadata["files_checked"]) == ("passed", 1)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("# coding: raw_unicode_escape\n# \\u000aprint(1)\n", id="escapes"),
        pytest.param("# coding: utf-7\n# +AAo-print(1)\n", id="utf-7"),
        pytest.param("# coding: no-such\n", id="unknown"),
        pytest.param("x = " + "-" * 200_000 + "1\n", id="a depth over which ruff ends"),
    ],
)
async def test_what_tools_do_not_read_as_python_does_fails(context, source: str) -> None:
    result = await lint(context, {**CLEAN, "b.py": source, "c.py": FAULTY}, CLEAN)
    assert sorted(each["file"] for each in result.metadata["findings"]) == ["b.py", "c.py"]
    assert (await lint(context, {**CLEAN, "b.py": source}, {**CLEAN, "b.py": source})).status == "passed"


async def test_too_many_files_are_a_reason(context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_tree, "MAX_PYTHON_FILES", 3)
    result = await lint(context, {f"{n}.py": "" for n in range(4)})
    assert (result.status, result.feedback) == (
        "errored",
        "the tree has more than 3 Python files; that is too many to analyse",
    )


async def test_rules_of_directories_hold_and_may_extend_others(context) -> None:
    rules = {
        "pyproject.toml": "[tool.ruff.lint]\nselect = ['F']\n",
        ".config/common.toml": "lint.select = ['D100']\n",
        "sub/ruff.toml": "extend = '../.config/common.toml'\n",
    }
    result = await lint(context, {"a.py": "import os\n", "sub/b.py": "import os\n"}, rules)
    findings = [(each["file"], each["rule"]) for each in result.metadata["findings"]]
    assert findings == [("a.py", "F401"), ("sub/b.py", "D100")]


async def test_rules_of_a_directory_alone(context) -> None:
    rules = {"sub/pyproject.toml": "[tool.ruff.lint]\nselect = ['D100']\n"}
    result = await lint(context, {"a.py": "import os\n", "sub/b.py": "import os\n"}, rules)
    findings = [(each["file"], each["rule"]) for each in result.metadata["findings"]]
    assert findings == [("a.py", "F401"), ("sub/b.py", "D100")]
    assert result.metadata["configuration"] == "base sub/pyproject.toml"


async def test_old_findings_are_shown_and_not_counted(context) -> None:
    result = await lint(context, {"a.py": "\n\nprint(gone)\n"}, WRONG)
    assert result.status == "passed"
    assert result.score == 1.0
    assert result.metadata["known_count"] == 1
    assert "base already has" in result.feedback


async def test_one_more_of_an_old_finding_counts(context) -> None:
    result = await lint(context, {"a.py": "print(gone)\n", "b.py": "print(gone)\n"}, WRONG)
    assert [each["file"] for each in result.metadata["findings"]] == ["b.py"]


async def test_a_moved_file_brings_nothing_new(context) -> None:
    assert (await lint(context, {"pkg/a.py": "print(gone)\n"}, WRONG)).status == "passed"


async def test_the_rules_of_the_base_hold(context) -> None:
    rules = {"pyproject.toml": '[tool.ruff]\nextend-exclude = ["old"]\nlint.select = ["D100"]\n'}
    result = await lint(context, {"a.py": "import os\n", "old/b.py": "x = 1\n"}, rules)
    assert [each["rule"] for each in result.metadata["findings"]] == ["D100"]
    assert result.metadata["configuration"] == "base pyproject.toml"
    assert result.metadata["files_checked"] == 1


COMPLEX = "def f(a):\n    if a:\n        return 1\n    if a is None:\n        return 2\n    return 3\n"
LIMIT = '[lint]\nselect = ["C90"]\nmccabe.max-complexity = '


@pytest.mark.parametrize(
    ("own", "is_asked"),
    [
        pytest.param({"ruff.toml": f"{LIMIT}3\n"}, True, id="raised"),
        pytest.param({"ruff.toml": '[lint]\nselect = ["F"]\n'}, True, id="dropped"),
        pytest.param({"ruff.toml": f"{LIMIT}1\n"}, False, id="lowered"),
        pytest.param({"ruff.toml": f'exclude = ["a.py"]\n{LIMIT}2\n'}, False, id="excluded"),
        pytest.param({"ruff.toml": "no toml ["}, False, id="unreadable"),
        pytest.param({}, False, id="deleted"),
    ],
)
async def test_a_finding_that_its_own_configuration_allows_is_asked(context, own, is_asked: bool) -> None:
    base = {"ruff.toml": f"{LIMIT}2\n", "a.py": "x = 1\n"}
    result = await lint(context, {**own, "a.py": COMPLEX}, base)
    assert result.status == "failed"
    assert bool(result.questions) is is_asked
    if is_asked:
        assert "edits ruff's configuration" in result.questions[0].why


async def test_a_new_file_that_its_own_configuration_excludes_is_asked(context) -> None:
    rules = '[lint]\nselect = ["C90", "F"]\nmccabe.max-complexity = 2\n'
    base = {"ruff.toml": rules, "a.py": "x = 1\n"}
    own = {"ruff.toml": f'exclude = ["b.py"]\n{rules}', "a.py": "x = 2\n", "b.py": COMPLEX}
    result = await lint(context, own, base)
    assert (result.status, len(result.questions)) == ("failed", 1)
    assert "excludes this new file" in result.questions[0].why
    kept = await lint(context, {**own, "b.py": f"{COMPLEX}\n\nprint(gone)\n"}, base)
    assert (kept.status, kept.questions) == ("failed", [])


ANNOTATED = "def f(a: 'Gone') -> None: ...\n"
FORMAT = "Date = list\nx: Date['%d %b'] = []\n"


@pytest.mark.parametrize(
    ("base", "own", "is_asked"),
    [
        pytest.param({"a.py": ANNOTATED}, {"b.py": "def g() -> 'Lost': ...\n"}, True, id="in quotes"),
        pytest.param({"a.py": ANNOTATED}, {"b.pyi": "x: Lost\n"}, True, id="in a stub"),
        pytest.param(
            {"a.py": ANNOTATED},
            {"b.py": "from __future__ import annotations\n\nx: list[Lost] = []\n"},
            True,
            id="postponed",
        ),
        pytest.param(
            {"a.py": "x: Date['%d %b'] = 1\n"}, {"b.py": "y: Date['%Y %b'] = 2\n"}, False, id="with a name"
        ),
        pytest.param({"a.py": FORMAT}, {"b.py": FORMAT.replace("%d", "%Y")}, True, id="no annotation"),
        pytest.param({"a.py": "x = 1\n"}, {"b.py": FORMAT}, False, id="a first text"),
        pytest.param({"a.py": ANNOTATED}, {"b.py": "def g() -> Lost: ...\n"}, False, id="evaluated"),
        pytest.param({"a.py": ANNOTATED}, {"b.py": "def g(a: 'str'):\n    Lost\n"}, False, id="in code"),
        pytest.param({"a.py": "x = 1\n"}, {"b.py": "def g() -> 'Lost': ...\n"}, False, id="a first one"),
    ],
)
async def test_a_fault_in_an_unread_annotation_is_asked_if_the_base_has_some(
    context, base, own, is_asked: bool
) -> None:
    result = await lint(context, {**base, **own}, base)
    assert (result.status, bool(result.questions)) == ("failed", is_asked), result.feedback
    if is_asked:
        assert "in annotations itself, 1 in all" in result.questions[0].why


@pytest.mark.parametrize(
    ("line", "is_asked"),
    [
        ("def g(a: 'Lost') -> None: ...  # noqa: F821\n", True),
        ("def g(a: 'Lost') -> None: ...  # noqa\n", False),
        ("def g(a: 'Lost') -> None: ...  # noqa: E501\n", False),
        ("g = Lost  # noqa: F821\n", False),
    ],
)
async def test_a_fault_in_an_unread_annotation_is_asked_if_a_comment_says_that_it_is_meant(
    context, line: str, is_asked: bool
) -> None:
    base = {"a.py": "x = 1\n"}
    result = await lint(context, {**base, "b.py": line}, base)
    assert (result.status, bool(result.questions)) == ("failed", is_asked), result.feedback
    if is_asked:
        assert "`# noqa: F821` says that it is meant" in result.questions[0].why


async def test_its_own_configuration_allows_no_fault(context) -> None:
    base = {"ruff.toml": '[lint]\nselect = ["F"]\n', "a.py": "x = 1\n"}
    result = await lint(context, {"ruff.toml": '[lint]\nselect = ["E"]\n', **WRONG}, base)
    assert (result.status, result.questions) == ("failed", [])


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"ruff.toml": "no-such-setting = 1\n"}, id="unknown setting"),
        pytest.param({"pyproject.toml": "[tool.ruff]\n= broken"}, id="broken file"),
    ],
)
async def test_an_unusable_configuration_is_replaced_and_named(context, config) -> None:
    result = await lint(context, CLEAN, config)
    assert result.status == "passed"
    assert result.metadata["configuration"].startswith("built-in")


async def test_without_the_rules_of_the_project_only_faults_count(context) -> None:
    config = {"ruff.toml": "no-such-setting = 1\n"}
    taste = await lint(context, {"a.py": "import os\n"}, config)
    assert (taste.status, taste.metadata["advice_count"]) == ("passed", 1)
    assert "its exceptions are unknown" in taste.feedback
    assert (await lint(context, WRONG, config)).status == "failed"


async def test_programs_stay_programs(context) -> None:
    made = context({"a.py": "#!/usr/bin/env python3\nprint(1)\n"}, {"ruff.toml": "lint.select = ['EXE']\n"})
    program = Path(made["workspace_ref"]) / "a.py"
    assert (await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)).status == "failed"
    program.chmod(0o755)
    assert (await RuffLintEvaluator(timeout=PATIENCE).evaluate("coding", "", made)).status == "passed"


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("required-version = '==0.0.1'", id="another release"),
        pytest.param("lint.extend-select = ['ANN101']", id="a removed rule"),
        pytest.param("lint.extend-select = ['ANN101', 'PT004',\n'UP038']", id="removed rules"),
        pytest.param("lint.ignore = ['ZZZ9']", id="a rule of a later release"),
        pytest.param("lint.extend-select = ['ZZZ9', 'ANN102', 'PLR0']", id="both"),
    ],
)
async def test_the_rules_of_another_release_still_hold(context, named: str) -> None:
    config = {"ruff.toml": f"{named}\nlint.select = ['F']\nlint.per-file-ignores = {{'a.py' = ['F841']}}\n"}
    unused = "def f():\n    x = 1\n"
    excepted = await lint(context, {"a.py": unused}, config)
    assert (excepted.status, excepted.metadata["advice_count"]) == ("passed", 0)
    assert excepted.metadata["configuration"].startswith("base ruff.toml")
    assert (await lint(context, {"b.py": unused}, config)).status == "failed"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            'def f():\n    """No blank lines, long: ' + "x" * 200 + '"""\n    return 1\n', id="style"
        ),
        pytest.param("from typing import List\nx: List[int] = []\n", id="old typing"),
        pytest.param("for l in [1]: print(l)\n", id="E701 E741"),
        pytest.param("x = not 1 in [2]; y = x == False;\n", id="E702 E703 E712 E713"),
        pytest.param("try:\n    x = 1\nexcept:\n    x = 2\n", id="E722"),
    ],
)
async def test_good_code_is_not_failed_for_style(context, source: str) -> None:
    assert (await lint(context, {"a.py": source})).status == "passed"


async def test_re_exports_are_no_fault(context) -> None:
    files = {"pkg/__init__.py": "from pkg.a import x\n", "pkg/a.py": "x = 1\n"}
    assert (await lint(context, files)).status == "passed"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.py": "def f(:\n"}, id="syntax error"),
        pytest.param({"a.py": b"x = '\xff'\n"}, id="not UTF-8"),
        pytest.param({"a.py": b"x = 1\0\n"}, id="a null byte"),
        pytest.param({"a\nb.py": "x = 1\n"}, id="a line break in the name"),
    ],
)
async def test_unreadable_files_fail(context, files) -> None:
    assert (await lint(context, files)).status == "failed"


@pytest.mark.parametrize("settings", [{}, {"ruff.toml": "lint.select = ['E', 'F']\n"}], ids=["none", "own"])
@pytest.mark.parametrize(("name", "status"), [("cases/new.py", "passed"), ("new.py", "failed")])
async def test_a_directory_of_files_that_do_not_parse_may_get_one_more(
    context, name: str, status: str, settings: Mapping[str, str]
) -> None:
    base = {**CLEAN, **settings, **{f"cases/{number}.py": "print 'x'\n" for number in range(3)}}
    assert (await lint(context, {**base, name: "def f(:\n"}, base)).status == status


@pytest.mark.parametrize(("name", "status"), [("cases/new.py", "passed"), ("new.py", "failed")])
async def test_a_directory_of_files_with_undefined_names_may_get_one_more(context, name: str, status) -> None:
    base = {**CLEAN, **{f"cases/{number}.py": f"print(some_{number})\n" for number in range(10)}}
    assert (await lint(context, {**base, name: "print(other)\n"}, base)).status == status


@pytest.mark.parametrize("name", ["-x.py", "#h.py", "@list.py", "a b.py", "café.py", "q'\".py"])
async def test_odd_names_are_linted(context, name: str) -> None:
    assert (await lint(context, {name: "import os\n"})).metadata["error_count"] == 1


async def test_out_of_time_is_no_verdict(context) -> None:
    result = await RuffLintEvaluator(timeout=0.0001).evaluate("coding", "", context(CLEAN))
    assert result.status == "errored"
    assert "did not finish" in result.feedback


def test_it_is_an_evaluator() -> None:
    evaluator = RuffLintEvaluator(timeout=PATIENCE)
    assert isinstance(evaluator, Evaluator)
    assert (evaluator.name, evaluator.category) == ("ruff_lint", EvaluationCategory.COMPLIANCE)


EXCLUDING = {"pyproject.toml": '[tool.ruff]\nextend-exclude = ["made"]\n', "a.py": "x = 1\n"}


async def test_an_undefined_name_counts_in_new_excluded_code_that_the_project_imports(context) -> None:
    new = {**EXCLUDING, "a.py": "from made.b import f\n\nf()\n", "made/b.py": "def f():\n    return gone\n"}
    result = await lint(context, new, EXCLUDING)
    assert result.suggestions == ["Fix F821 in made/b.py line 2: Undefined name `gone`"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"a.py": "from made.b import f\n\nf()\n", "made/b.py": "import os\n\ndef f(): ...\n"}, id="style"
        ),
        pytest.param({"made/b.py": "def f():\n    return gone\n"}, id="nothing imports it"),
    ],
)
async def test_other_excluded_code_stays_excluded(context, files) -> None:
    assert (await lint(context, {**EXCLUDING, **files}, EXCLUDING)).status == "passed"


async def test_excluded_code_of_the_base_stays_excluded(context) -> None:
    base = {**EXCLUDING, "made/b.py": "def f():\n    return gone\n"}
    assert (await lint(context, {**base, "a.py": "from made.b import f\n\nf()\n"}, base)).status == "passed"
