"""The type gate finds new faults, and nobody but the base chooses its rules."""

import pytest

from app.runners.evaluators.deterministic import TypeCheckEvaluator
from app.runners.evaluators.module_names import batches
from app.runners.evaluators.type_settings import settings_of

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "def f(x: int) -> int:\n    return x\n"}
WRONG = {"a.py": "def f(x: int) -> str:\n    return x\n"}


async def check(context, files, base=None):
    return await TypeCheckEvaluator().evaluate("coding", "", context(files, base))


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


async def test_errors_are_named(context) -> None:
    result = await check(context, WRONG, {})
    assert result.status == "failed"
    assert result.score == 0.9
    assert result.suggestions[0].startswith("Fix return-value in a.py line 2: ")


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
    ],
)
async def test_the_candidate_cannot_silence_it(context, files) -> None:
    assert (await check(context, {**WRONG, **files}, CLEAN)).status == "failed"


async def test_one_line_may_be_silenced(context) -> None:
    result = await check(
        context, {"a.py": "def f(x: int) -> str:\n    return x  # type: ignore[return-value]\n"}
    )
    assert result.status == "passed"


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


async def test_a_base_with_plugins_gets_the_built_in_rules(context) -> None:
    result = await check(context, CLEAN, {"mypy.ini": "[mypy]\nplugins = x.y\n"})
    assert result.status == "passed"
    assert "loads plugins" in result.metadata["configuration"]


async def test_modules_that_shadow_the_checker(context) -> None:
    files = dict.fromkeys(("mypy.py", "json.py", "sitecustomize.py"), "import os\nos._exit(0)\n")
    assert (await check(context, {**WRONG, **files}, CLEAN)).status == "failed"


async def test_a_new_syntax_error_fails(context) -> None:
    result = await check(context, {**CLEAN, "b.py": "def f(:\n"}, CLEAN)
    assert result.status == "failed"
    assert {each["rule"] for each in result.metadata["findings"]} == {"syntax"}


async def test_an_old_syntax_error_hides_nothing(context) -> None:
    broken = {"old.py": "print 'x'\n"}
    assert (await check(context, {**CLEAN, **broken}, {**CLEAN, **broken})).status == "passed"
    assert (await check(context, {**WRONG, **broken}, {**CLEAN, **broken})).status == "failed"


async def test_nothing_to_check() -> None:
    result = await TypeCheckEvaluator().evaluate("coding", "", {})
    assert (result.feedback, result.status) == ("No workspace to type check", "skipped")


async def test_missing_workspace() -> None:
    result = await TypeCheckEvaluator().evaluate("coding", "", {"workspace_ref": "/no/such/place"})
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
        pytest.param(
            ["my-app/__init__.py", "my-app/x.py", "a.py"], [["a.py"]], id="a package no import can name"
        ),
    ],
)
def test_module_names_are_unique_in_a_batch(files: list[str], expected: list[list[str]]) -> None:
    assert batches(files, ("src",)) == expected


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
        pytest.param({"pyproject.toml": "[tool.black]\n"}, "built-in", id="another tool"),
        pytest.param(
            {"mypy.ini": "[mypy]\nexclude = (\n"}, "built-in (base mypy.ini cannot be used", id="bad pattern"
        ),
    ],
)
def test_settings(tree, files, source: str) -> None:
    assert settings_of(tree(files)).source.startswith(source)
