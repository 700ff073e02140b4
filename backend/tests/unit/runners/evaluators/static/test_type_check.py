"""The type gate finds new faults, and nobody but the base chooses its rules."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.static import mypy_tool
from app.runners.evaluators.static.checker_memory import pack, unpack
from app.runners.evaluators.static.module_names import batches, nameable
from app.runners.evaluators.static.type_settings import settings_of
from app.workspaces.process import ProcessOutcome
from tests.patience import PATIENCE
from tests.unit.runners.evaluators.static.types_support import check_types

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "def f(x: int) -> int:\n    return x\n"}
WRONG = {"a.py": "def f(x: int) -> str:\n    return x\n"}


async def check(context, files, base=None):
    return await check_types(context(files, base), unconfigured="fail")


async def test_clean_code_passes(context) -> None:
    files = {**CLEAN, "tests/test_a.py": "import numpyx\nfrom a import f\n\ndef test_f():\n    assert f(1)\n"}
    result = await check(context, files)
    assert (result.passed, result.score, result.metadata["error_count"]) == (True, 1.0, 0)
    assert result.metadata["files_checked"] == 2


async def test_an_end_that_is_never_reached_is_no_error(context) -> None:
    loop = (
        "def last(x: int) -> int:\n    for i in range(x, -1, -1):\n        if i == 0:\n            return i\n"
    )
    result = await check(context, {"a.py": loop}, {})
    assert (result.status, result.metadata["error_count"]) == ("passed", 0)


async def test_a_remark_of_the_checker_is_no_error(context) -> None:
    # mypy remarks that it passes such a body by, and ends with 1 all the same.
    result = await check(context, {"a.py": "def f(x):\n    y: int = x\n    return y\n"}, {})
    assert (result.status, result.metadata["error_count"]) == ("passed", 0)


async def test_errors_are_named(context) -> None:
    result = await check(context, WRONG, {})
    assert result.status == "failed"
    assert result.score == 0.9
    assert result.suggestions[0].startswith("Fix return-value in a.py line 2: ")


STRICT = "[mypy]\ndisallow_untyped_defs = True\n"
BARE = {"a.py": "def f(x: int) -> int:\n    return x\n\n\ndef g():\n    return f(1)\n"}


@pytest.mark.parametrize(
    ("own", "is_asked"),
    [
        pytest.param({"mypy.ini": "[mypy]\ndisallow_untyped_defs = False\n"}, True, id="less strict"),
        pytest.param({"mypy.ini": f"{STRICT}[mypy-a]\nignore_errors = True\n"}, False, id="ignored"),
        pytest.param({"mypy.ini": f"{STRICT}exclude = a.py\n"}, False, id="excluded"),
        pytest.param({"mypy.ini": f"{STRICT}warn_return_any = True\n"}, False, id="stricter"),
        pytest.param({"mypy.ini": "[mypy\n"}, False, id="unreadable"),
        pytest.param({}, False, id="deleted"),
        pytest.param({"pyproject.toml": "[tool.ruff]\n"}, False, id="replaced by another kind of tool"),
    ],
)
async def test_an_error_that_its_own_configuration_allows_is_asked(context, own, is_asked: bool) -> None:
    result = await check(context, {**own, **BARE}, {"mypy.ini": STRICT, **CLEAN})
    assert result.status == "failed"
    assert bool(result.questions) is is_asked
    if is_asked:
        assert "edits mypy's configuration" in result.questions[0].why


@pytest.mark.parametrize(
    ("own", "is_asked"),
    [
        pytest.param(f"{STRICT}[mypy-gen.*]\nignore_errors = True\n", True, id="ignored"),
        pytest.param(f"{STRICT}exclude = ^gen/\n", True, id="excluded"),
        pytest.param(STRICT, False, id="the same settings"),
    ],
)
async def test_a_new_file_that_its_own_configuration_leaves_out_is_asked(
    context, own, is_asked: bool
) -> None:
    base = {"mypy.ini": STRICT, **CLEAN}
    result = await check(
        context, {**base, "mypy.ini": own, "gen/client.py": "def call(x):\n    return x\n"}, base
    )
    assert (result.status, bool(result.questions)) == ("failed", is_asked)


@pytest.mark.parametrize(
    ("files", "checker"),
    [
        pytest.param({"pyproject.toml": "[tool.ty.rules]\nall = 'error'\n"}, "ty", id="ty"),
        pytest.param({"pyrightconfig.json": "{}"}, "pyright", id="pyright"),
    ],
)
async def test_an_error_is_asked_about_if_the_change_replaces_mypy(context, files, checker: str) -> None:
    result = await check(context, {**files, **BARE}, {"mypy.ini": STRICT, **CLEAN})
    assert result.questions[0].why == f"the change replaces mypy by {checker}"
    kept = await check(context, {"mypy.ini": STRICT, **files, **BARE}, {"mypy.ini": STRICT, **CLEAN})
    assert (kept.status, kept.questions) == ("failed", [])


HOOK = {".pre-commit-config.yaml": "repos:\n- repo: https://github.com/pre-commit/mirrors-mypy\n"}
CAST = {
    "a.py": "from typing import cast\nfrom packaging.version import Version\n\n\n"
    "def f(x: Version) -> str:\n    return cast(str, x.public)\n"
}


@pytest.mark.parametrize(("hook", "is_asked"), [(HOOK, True), ({}, False)], ids=["a hook", "none"])
async def test_an_error_that_a_hook_apart_from_the_packages_does_not_see_is_asked(
    context, hook, is_asked
) -> None:
    base = {"mypy.ini": "[mypy]\nwarn_redundant_casts = True\n", **hook, **CLEAN}
    result = await check(context, {**base, **CAST}, base)
    assert result.status == "failed"
    assert bool(result.questions) is is_asked
    if is_asked:
        assert "pre-commit hook runs mypy without its packages" in result.questions[0].why
    # What is wrong without any package is wrong in every setting.
    result = await check(context, {**base, **WRONG}, base)
    assert (result.status, result.questions) == ("failed", [])


async def test_its_own_configuration_allows_no_fault(context) -> None:
    own = {
        "mypy.ini": "[mypy]\ndisable_error_code = name-defined\n",
        "a.py": "def f() -> int:\n    return gone\n",
    }
    result = await check(context, own, {"mypy.ini": STRICT, **CLEAN})
    assert (result.status, result.questions) == ("failed", [])


async def test_old_errors_are_not_counted(context) -> None:
    result = await check(context, {"a.py": "\n\n" + WRONG["a.py"]}, WRONG)
    assert result.status == "passed"
    assert result.metadata["known_count"] == 1


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"mypy.ini": "[mypy]\nplugins = evil.py\n", "evil.py": "import os\nos._exit(0)\n"}, id="plugin"
        ),
        pytest.param({"mypy.ini": "[mypy]\nignore_errors = True\n"}, id="ignored in mypy.ini"),
        pytest.param({"a.py": "# mypy: ignore-errors\n" + WRONG["a.py"]}, id="ignored in the file"),
        pytest.param({"a.py": "# type: ignore\n" + WRONG["a.py"]}, id="type: ignore for the file"),
        pytest.param({"a.py": "import typing as t\n@t.no_type_check\n" + WRONG["a.py"]}, id="no_type_check"),
        pytest.param(
            {
                "a.py": "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n"
                "    def f(x: int) -> str:\n        return x\n"
            },
            id="not for checkers",
        ),
        pytest.param({"a.pyi": "def f(x: int) -> str: ...\n"}, id="a stub beside it"),
        pytest.param({"a.py": "x = 1\n", "venv/pyvenv.cfg": "", "venv/a.py": WRONG["a.py"]}, id="hidden"),
    ],
)
async def test_the_candidate_cannot_silence_it(context, files) -> None:
    assert (await check(context, {**WRONG, **files}, CLEAN)).status == "failed"


SILENCED = {"a.py": "def f(x: int) -> str:\n    return x  # type: ignore[return-value]\n"}


async def test_what_the_base_silences_stays_silenced(context) -> None:
    result = await check(context, {"b.py": "y = 1\n\n" + SILENCED["a.py"]}, SILENCED)
    assert (result.status, result.metadata["known_count"]) == ("passed", 0)


async def test_a_new_comment_does_not_count_and_the_verdict_says_so(context) -> None:
    result = await check(context, SILENCED, CLEAN)
    assert result.status == "failed"
    assert "`# type: ignore[return-value]` is new and does not count" in result.suggestions[0]


async def test_new_comments_count_where_the_operator_allows_it(context) -> None:
    made = context(SILENCED, CLEAN)
    assert (await check_types(made, allow_silencers=True, unconfigured="fail")).status == "passed"


async def test_the_rules_of_the_base_hold(context) -> None:
    base = {
        "pyproject.toml": '[tool.mypy]\ndisallow_untyped_defs = true\nfiles = ["src"]\nexclude = "/old/"\n'
    }
    files = dict.fromkeys(("src/a.py", "src/old/b.py", "tests/test_a.py"), "def f(x): pass\n")
    result = await check(context, files, base)
    assert [(each["file"], each["rule"]) for each in result.metadata["findings"]] == [
        ("src/a.py", "no-untyped-def")
    ]
    assert result.metadata["configuration"] == "base pyproject.toml"


async def test_only_the_plugins_of_a_base_are_dropped(context) -> None:
    rules = {"mypy.ini": "[mypy]\nplugins = x.y\ndisallow_untyped_defs = true\n"}
    result = await check(context, {**CLEAN, "b.py": "def f(x): pass\n"}, rules)
    assert [each["rule"] for each in result.metadata["findings"]] == ["no-untyped-def"]
    assert result.metadata["configuration"] == "base mypy.ini, without its plugins x.y"


async def test_modules_that_shadow_the_checker(context) -> None:
    files = dict.fromkeys(("mypy.py", "json.py", "sitecustomize.py"), "import os\nos._exit(0)\n")
    assert (await check(context, {**WRONG, **files}, CLEAN)).status == "failed"


async def test_a_new_syntax_error_fails(context) -> None:
    result = await check(context, {**CLEAN, "b.py": "def f(:\n"}, CLEAN)
    assert result.status == "failed"
    assert {each["rule"] for each in result.metadata["findings"]} == {"syntax"}


ANNOTATED = "class A:\n    def f(self, a: int) -> int:\n        return a\n"


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        pytest.param(ANNOTATED.replace(": int) -> int", ")"), ["a.py:2: annotations-lost"], id="all of them"),
        pytest.param(ANNOTATED.replace(" -> int", ""), [], id="one of them"),
        pytest.param(ANNOTATED.replace("int", "float"), [], id="others"),
        pytest.param(ANNOTATED + "    def g(self, a):\n        return a\n", [], id="a new function without"),
        pytest.param("class B:\n    def f(self, a):\n        return a\n", [], id="another function"),
    ],
)
async def test_a_function_keeps_its_annotations(context, source: str, lost: list[str]) -> None:
    result = await check(context, {"a.py": source}, {"a.py": ANNOTATED})
    found = [f"{each['file']}:{each['line']}: {each['rule']}" for each in result.metadata["findings"]]
    assert found == lost


async def test_an_old_syntax_error_hides_nothing(context) -> None:
    broken = {"old.py": "print 'x'\n", "older.py": "exec 'x'\n", "oldest.py": "def f(:\n"}
    assert (await check(context, {**CLEAN, **broken}, {**CLEAN, **broken})).status == "passed"
    assert (await check(context, {**WRONG, **broken}, {**CLEAN, **broken})).status == "failed"


async def test_nothing_to_check() -> None:
    result = await TypeCheckEvaluator(timeout=PATIENCE, learns=False).evaluate("coding", "", {})
    assert (result.feedback, result.status) == ("No workspace to type check", "skipped")


async def test_missing_workspace() -> None:
    result = await TypeCheckEvaluator(timeout=PATIENCE, learns=False).evaluate(
        "coding", "", {"workspace_ref": "/no/such/place"}
    )
    assert result.status == "failed"
    assert "not found" in result.feedback


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["a.py", "b.py"], [["a.py", "b.py"]], id="flat"),
        pytest.param(["e-1/s.py", "e-2/s.py"], [["e-1/s.py"], ["e-2/s.py"]], id="same name without package"),
        pytest.param(["x/s.py", "y/s.py"], [["x/s.py", "y/s.py"]], id="namespace packages"),
        pytest.param(
            ["e-1/p/__init__.py", "e-1/p/s.py", "e-2/s.py"],
            [["e-1/p/__init__.py", "e-1/p/s.py", "e-2/s.py"]],
            id="package below a directory that is none",
        ),
        pytest.param(["src/a.py", "a.py"], [["src/a.py"], ["a.py"]], id="src is a root"),
    ],
)
def test_module_names_are_unique_in_a_batch(files: list[str], expected: list[list[str]]) -> None:
    assert [list(batch.values()) for batch in batches(files, ("src",))] == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["pkg/__init__.py", "my-dir/a.py"], {}, id="nothing to do"),
        pytest.param(
            ["my-app/__init__.py", "my-app/x/y.py"],
            {"my-app/__init__.py": "my_app/__init__.py", "my-app/x/y.py": "my_app/x/y.py"},
            id="not an identifier",
        ),
        pytest.param(
            ["my-app/__init__.py", "my_app/a.py"], {"my-app/__init__.py": "my_app_/__init__.py"}, id="taken"
        ),
        pytest.param(
            ["a/0/__init__.py", "a/0/1-2/__init__.pyi"],
            {"a/0/__init__.py": "a/_0/__init__.py", "a/0/1-2/__init__.pyi": "a/_0/_1_2/__init__.pyi"},
            id="nested",
        ),
    ],
)
def test_packages_get_names_that_can_be_imported(files: list[str], expected: dict[str, str]) -> None:
    assert nameable(files) == expected


async def test_a_package_that_no_import_can_name_is_checked(context) -> None:
    files = {
        "my-app/__init__.py": "",
        "my-app/y.py": "z = 1\n",
        "my-app/x.py": "from . import y\na: str = y.z\n",
    }
    result = await check(context, files, {})
    assert [(each["file"], each["line"]) for each in result.metadata["findings"]] == [("my-app/x.py", 2)]


async def test_changed_files_that_cannot_be_checked_are_no_pass(
    context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mypy_tool, "MAX_BATCHES", 2)
    files = {f"e-{n}/s.py": "x = 1\n" for n in range(4)}
    result = await check(context, files, {name: f"{text}y = 2\n" for name, text in files.items()})
    assert result.status == "errored"
    assert "2 changed files have the module names of others" in result.feedback


async def test_unchanged_files_that_are_not_checked_are_named(
    context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mypy_tool, "MAX_BATCHES", 2)
    files = {f"e-{n}/s.py": "x = 1\n" for n in range(4)}
    result = await check(context, {**files, "e-3/s.py": "x: str = 1\n"}, files)
    assert [each["file"] for each in result.metadata["findings"]] == ["e-3/s.py"]
    assert result.metadata["files_unchecked"] == ["e-1/s.py", "e-2/s.py"]
    assert result.metadata["files_checked"] == 2


class Remembering:
    """A run with several attempts, before one evaluator."""

    def __init__(self, context, run_id: UUID) -> None:
        self.evaluator = TypeCheckEvaluator(timeout=PATIENCE, learns=False)
        self._context = context
        self._run_id = run_id

    async def check(self, files, base=None):
        return await self.evaluator.evaluate(
            "coding", "", {**self._context(files, base), "run_id": self._run_id}
        )

    def spoil(self, directory: Path) -> int:
        """Make databases of what is remembered that none can be read; give their number."""
        kept = self.evaluator.memory.recall(self._run_id)
        assert kept is not None
        unpack(kept, directory)
        databases = [path for path in directory.rglob("*.db*") if path.is_file()]
        for path in databases:
            path.write_bytes(b"no database " * 1000)
        self.evaluator.memory.keep(self._run_id, pack(directory))
        return len(databases)


async def test_later_attempts_see_every_change(context) -> None:
    # The second and third attempt have files of the same size, written within the same second.
    run = Remembering(context, uuid4())
    text = "from a import f\n\ny: int = f({})\n"
    wrong, right = {**CLEAN, "b.py": text.format("'1'")}, {**CLEAN, "b.py": text.format("111")}
    assert (await run.check(right)).status == "passed"
    first_size = run.evaluator.memory.size
    assert first_size > 0
    results = [await run.check(files) for files in (wrong, wrong, right)]
    assert [each.status for each in results] == ["failed", "failed", "passed"]
    assert [each["file"] for each in results[1].metadata["findings"]] == ["b.py"]
    # A change in one module is seen in the one that uses it.
    assert (await run.check({**WRONG, "b.py": right["b.py"]})).metadata["error_count"] == 2


async def test_damaged_memory_is_no_verdict(context) -> None:
    run_id = uuid4()
    run = Remembering(context, run_id)
    run.evaluator.memory.keep(run_id, b"not an archive")
    assert (await run.check(WRONG)).status == "failed"


async def test_a_checker_that_falls_over_its_memory_is_asked_again_without(context, tmp_path) -> None:
    run = Remembering(context, uuid4())
    assert (await run.check(CLEAN)).status == "passed"
    assert run.spoil(tmp_path / "first") > 0
    assert (await run.check(WRONG)).metadata["error_count"] == 1
    # What it fell over is not kept: the attempt after that remembers anew.
    assert run.spoil(tmp_path / "second") == 0
    assert (await run.check(CLEAN)).status == "passed"
    assert run.spoil(tmp_path / "third") > 0


@pytest.mark.parametrize(
    ("returncode", "stderr", "crashed"),
    [
        pytest.param(1, "", False, id="findings"),
        pytest.param(2, "mypy.ini: unrecognized option", False, id="unusable settings"),
        pytest.param(2, "a.py: error: INTERNAL ERROR -- Please try", True, id="internal error"),
        pytest.param(1, "Traceback (most recent call last):\n", True, id="a traceback"),
        pytest.param(-11, "", True, id="a signal"),
        pytest.param(0, "a.py: note: INTERNAL ERROR", False, id="all well"),
    ],
)
def test_its_own_errors_are_told_from_those_of_the_code(returncode: int, stderr: str, crashed: bool) -> None:
    outcome = ProcessOutcome(returncode, "", stderr, timed_out=False, truncated=False, seconds=0.1)
    assert mypy_tool.crashed(outcome) is crashed


async def test_files_of_one_name_are_all_checked(context) -> None:
    result = await check(context, {"e-1/s.py": "x = 1\n", "e-2/s.py": "y: int = ''\n"}, {})
    assert [each["file"] for each in result.metadata["findings"]] == ["e-2/s.py"]


@pytest.mark.parametrize(
    ("files", "source"),
    [
        pytest.param({}, "built-in", id="none"),
        pytest.param({"setup.cfg": "[mypy]\nstrict = true\n"}, "base setup.cfg", id="setup.cfg"),
        pytest.param(
            {"mypy.ini": "not an ini", "pyproject.toml": "[tool.mypy]\n"}, "base pyproject.toml", id="broken"
        ),
        pytest.param({"mypy.ini": "not an ini"}, "built-in (base mypy.ini cannot be read)", id="only broken"),
        pytest.param({"pyproject.toml": "[tool.black]\n"}, "built-in", id="another tool"),
        pytest.param(
            {"mypy.ini": "[mypy]\nexclude = (\n"}, "built-in (base mypy.ini cannot be used", id="bad pattern"
        ),
    ],
)
def test_settings(tree, files, source: str) -> None:
    assert settings_of(tree(files)).source.startswith(source)


SOME = {"mypy.ini": "[mypy]\nfiles = pkg/a.py\n", "pkg/__init__.py": "", "pkg/a.py": "x = 1\n"}
LIES = "def g(x: int) -> str:\n    return x\n"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"pkg/a.py": "from pkg.b import g\n\nx = g(1)\n", "pkg/b.py": LIES}, id="directly"),
        pytest.param({"pkg/a.py": "from .b import g\n\nx = g(1)\n", "pkg/b.py": LIES}, id="relatively"),
        pytest.param(
            {
                "pkg/a.py": "import c\n\nx = c.g(1)\n",
                "c.py": "from pkg import b\n\ng = b.g\n",
                "pkg/b.py": LIES,
            },
            id="through another new file",
        ),
    ],
)
async def test_a_new_file_counts_if_checked_code_imports_it(context, files) -> None:
    result = await check(context, {**SOME, **files}, SOME)
    assert result.suggestions[0].startswith("Fix return-value in pkg/b.py line 2: "), result.feedback


@pytest.mark.parametrize(
    ("base", "files"),
    [
        pytest.param(SOME, {"pkg/b.py": LIES}, id="nothing imports it"),
        pytest.param(
            {**SOME, "pkg/b.py": "def g(x: int) -> str:\n    return str(x)\n"},
            {"pkg/a.py": "from pkg.b import g\n\nx = g(1)\n", "pkg/b.py": LIES},
            id="the base has it and does not check it",
        ),
        pytest.param(
            {**SOME, "mypy.ini": f"{SOME['mypy.ini']}follow_imports = silent\n"},
            {"pkg/a.py": "from pkg.b import g\n\nx = g(1)\n", "pkg/b.py": LIES},
            id="the project follows no imports",
        ),
        pytest.param(
            {**SOME, "mypy.ini": f"{SOME['mypy.ini']}exclude = b.py\n"},
            {"pkg/a.py": "from pkg.b import g\n\nx = g(1)\n", "pkg/b.py": LIES},
            id="the project excludes it",
        ),
    ],
)
async def test_other_files_outside_the_settings_do_not_count(context, base, files) -> None:
    assert (await check(context, {**base, **files}, base)).status == "passed"
