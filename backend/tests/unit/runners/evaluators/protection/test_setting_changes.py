"""Which changes of a tool's settings are asked about, and which are not."""

import pytest

from app.runners.evaluators.protection.config_questions import questions_by_file
from app.runners.evaluators.protection.setting_changes import weaker_settings
from app.runners.evaluators.protection.tool_settings import UnreadableSettingsError, settings_in

Files = dict[str, str]


def reader(files: Files):
    return lambda name: files[name].encode() if name in files else None


def asked(before: Files, after: Files) -> list[str]:
    found = weaker_settings(settings_in(reader(before)), settings_in(reader(after)))
    return [f"{each.name} {each.why}" for each in found]


RUFF = "[tool.ruff]\nline-length = 100\nlint.select = ['E', 'F']\nlint.ignore = ['E501']\n"
MYPY = "[tool.mypy]\nstrict = true\nwarn_unreachable = true\n"
PYTEST = "[tool.pytest.ini_options]\naddopts = '-ra --strict-markers'\ntestpaths = ['tests']\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(RUFF, RUFF.replace("['E', 'F']", "['F', 'E', 'B']"), id="rule added"),
        pytest.param(RUFF, RUFF.replace("['E501']", "[]"), id="ignore removed"),
        pytest.param(
            RUFF,
            RUFF.replace("'F']", "'F', 'S', 'PL']").replace("'E501'", "'E501', 'PLR2004'")
            + "lint.per-file-ignores = {'tests/*' = ['S101']}\nlint.pylint.max-args = 9\n",
            id="exceptions from new rules",
        ),
        pytest.param(
            RUFF, RUFF.replace("'F']", "'ALL']").replace("'E501'", "'E501', 'D'"), id="all but new ones"
        ),
        pytest.param(RUFF, RUFF.replace("100", "88"), id="shorter lines"),
        pytest.param(RUFF, RUFF.replace("lint.", ""), id="old names of the same settings"),
        pytest.param(RUFF, RUFF.replace("['E', 'F']", "['ALL']"), id="all rules"),
        pytest.param(RUFF, RUFF.replace("['E501']", "['E501']\nformat.quote-style = 'single'"), id="format"),
        pytest.param(
            RUFF, RUFF.replace("['E501']", "['E501']\nlint.isort.lines-after-imports = 2"), id="isort"
        ),
        pytest.param(MYPY, MYPY + "disallow_any_explicit = true\n", id="stricter types"),
        pytest.param(MYPY + "ignore_missing_imports = true\n", MYPY, id="imports no longer ignored"),
        pytest.param(MYPY + "python_version = '3.8'\n", MYPY + "python_version = '3.9'\n", id="newer Python"),
        pytest.param(MYPY, MYPY + "[[tool.mypy.overrides]]\nmodule = 'a.*'\nstrict = true\n", id="override"),
        pytest.param(
            MYPY,
            MYPY + "[[tool.mypy.overrides]]\nmodule = ['yaml.*', 'toml']\nignore_missing_imports = true\n",
            id="a package without types",
        ),
        pytest.param(
            RUFF.replace("'F']", "'F', 'TCH']").replace("'E501'", "'TCH003'"),
            RUFF.replace("'F']", "'F', 'TC']").replace("'E501'", "'TC003'"),
            id="ruff's new name for the same rules",
        ),
        pytest.param(PYTEST, PYTEST.replace("-ra", "-q --cov=shop -n auto"), id="reporting options"),
        pytest.param(PYTEST, PYTEST.replace("-ra", "-ra --strict-config"), id="stricter options"),
        pytest.param(PYTEST, PYTEST.replace("testpaths = ['tests']\n", ""), id="tests anywhere"),
        pytest.param(PYTEST, PYTEST.replace("-ra", "-ra --ignore=typesafety"), id="no tests ignored"),
        pytest.param(PYTEST, PYTEST + "filterwarnings = ['ignore:x']\n", id="warnings that fail nothing"),
        pytest.param(PYTEST, PYTEST + "xfail_strict = true\n", id="strict xfail"),
        pytest.param(PYTEST, PYTEST.replace("['tests']", "['tests', 'more']"), id="more test paths"),
        pytest.param("", RUFF + MYPY, id="tools that the base does not set"),
        pytest.param("[tool.coverage.report]\nfail_under = 90\n", "", id="a tool that no gate runs"),
    ],
)
def test_what_is_equal_or_stricter_is_not_asked_about(before: str, after: str) -> None:
    assert asked({"pyproject.toml": before}, {"pyproject.toml": after}) == []


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        pytest.param(
            RUFF,
            RUFF.replace("['E501']", "['E501', 'F821']"),
            "tool.ruff.lint.ignore now has `F821`",
            id="ignore added",
        ),
        pytest.param(
            RUFF, RUFF.replace(", 'F'", ""), "tool.ruff.lint.select no longer has `F`", id="rule removed"
        ),
        pytest.param(
            RUFF,
            RUFF.replace("100", "200"),
            "tool.ruff.line-length is now `200` where it was `100`",
            id="longer lines",
        ),
        pytest.param(
            RUFF,
            RUFF + "lint.per-file-ignores = { 'a.py' = ['F'] }\n",
            "tool.ruff.lint.per-file-ignores.a.py now has `F`",
            id="ignored for a file",
        ),
        pytest.param(
            RUFF,
            RUFF.replace("'F']", "'ALL']").replace("'E501'", "'E501', 'D', 'ALL'"),
            "tool.ruff.lint.ignore now has `D`, `ALL`",
            id="exceptions from all rules",
        ),
        pytest.param(
            RUFF.replace("'F'", "'F', 'C901'") + "lint.mccabe.max-complexity = 5\n",
            RUFF.replace("'F'", "'F', 'C901'") + "lint.mccabe.max-complexity = 9\n",
            "tool.ruff.lint.mccabe.max-complexity is now `9` where it was `5`",
            id="a limit of an old rule",
        ),
        pytest.param(RUFF, RUFF + "exclude = ['a.py']\n", "tool.ruff.exclude now has `a.py`", id="excluded"),
        pytest.param(RUFF, RUFF + "extend = 'x.toml'\n", "tool.ruff.extend is now `x.toml`", id="extended"),
        pytest.param(RUFF, "", "tool.ruff was removed", id="section removed"),
        pytest.param(
            MYPY,
            MYPY.replace("strict = true", "strict = false"),
            "tool.mypy.strict is now `false` where it was `true`",
            id="less strict",
        ),
        pytest.param(
            MYPY,
            MYPY.replace("warn_unreachable = true\n", ""),
            "tool.mypy.warn_unreachable is no longer set; it was `true`",
            id="switch removed",
        ),
        pytest.param(
            MYPY,
            MYPY + "[[tool.mypy.overrides]]\nmodule = ['a', 'b']\nignore_errors = true\n",
            "tool.mypy.overrides.a.ignore_errors is now `true`",
            id="errors ignored in a module",
        ),
        pytest.param(
            MYPY,
            MYPY + "[[tool.mypy.overrides]]\nmodule = '*'\nignore_missing_imports = true\n",
            "tool.mypy.overrides.*.ignore_missing_imports is now `true`",
            id="imports ignored everywhere",
        ),
        pytest.param(MYPY, MYPY + "plugins = ['x.py']\n", "tool.mypy.plugins now has `x.py`", id="plug-in"),
        pytest.param(
            PYTEST,
            PYTEST.replace("-ra", "-k nothing"),
            "tool.pytest.ini_options.addopts now has `-k`, `nothing` and no longer has `-ra`",
            id="tests deselected",
        ),
        *(
            pytest.param(
                PYTEST.replace("['tests']", "['./tests/unit']"),
                PYTEST.replace("['tests']", "['./tests/unit']").replace("-ra", f"-ra --ignore={place}"),
                f"tool.pytest.ini_options.addopts now has `--ignore={place}`",
                id=f"{place} ignored",
            )
            for place in ("tests", "tests/unit/", "tests/unit/a", "tests/unit/test_a.py", "../x", "*")
        ),
        pytest.param(
            PYTEST,
            PYTEST.replace(" --strict-markers", ""),
            "tool.pytest.ini_options.addopts no longer has `--strict-markers`",
            id="strict option removed",
        ),
        pytest.param(
            PYTEST + "filterwarnings = ['error']\n",
            PYTEST + "filterwarnings = ['error', 'ignore::UserWarning']\n",
            "tool.pytest.ini_options.filterwarnings now has `ignore::UserWarning`",
            id="a warning that failed",
        ),
        pytest.param(
            PYTEST,
            PYTEST.replace("['tests']", "['other']"),
            "tool.pytest.ini_options.testpaths now has `other` and no longer has `tests`",
            id="other tests",
        ),
        pytest.param(
            "",
            "[tool.pytest.ini_options]\naddopts = '-k x'\n",
            "tool.pytest.ini_options.addopts now has `-k`, `x`",
            id="pytest set for the first time",
        ),
        pytest.param(
            "[tool.pyright]\ntypeCheckingMode = 'strict'\n",
            "[tool.pyright]\ntypeCheckingMode = 'basic'\n",
            "tool.pyright.typeCheckingMode is now `basic` where it was `strict`",
            id="lower mode",
        ),
    ],
)
def test_what_is_weaker_or_unknown_is_asked_about_by_name(before: str, after: str, question: str) -> None:
    assert asked({"pyproject.toml": before}, {"pyproject.toml": after})[:1] == [question]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            {"tox.ini": "[tox]\n[pytest]\ntestpaths = tests\naddopts = --strict-markers\n"},
            {"pyproject.toml": PYTEST.replace("-ra ", "")},
            id="pytest from tox.ini",
        ),
        pytest.param(
            {
                "setup.cfg": "[mypy]\nstrict = True\nwarn_unreachable = True\n"
                "\n[mypy-a.*]\nignore_errors = True\n"
            },
            {"pyproject.toml": MYPY + "[[tool.mypy.overrides]]\nmodule = ['a.*']\nignore_errors = true\n"},
            id="mypy from setup.cfg",
        ),
        pytest.param(
            {"pyproject.toml": RUFF},
            {"ruff.toml": RUFF.replace("[tool.ruff]\n", "")},
            id="ruff to its own file",
        ),
        pytest.param({"tox.ini": "[tox]\nenvlist = py\n"}, {}, id="a file that no gate reads is deleted"),
    ],
)
def test_a_section_that_moves_changes_nothing(before: Files, after: Files) -> None:
    assert asked(before, after) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", b"[tool"),
        ("pyproject.toml", b"\xff\xfe\0"),
        ("setup.cfg", b"no section = 1"),
        ("pyrightconfig.json", b"{"),
        ("pyrightconfig.json", b"[" * 100_000),
    ],
)
def test_what_cannot_be_read_is_one_question_about_the_file(name: str, content: bytes) -> None:
    with pytest.raises(UnreadableSettingsError):
        settings_in({name: content}.get)
    found = questions_by_file(".", {name: b""}.get, {name: content}.get, commands=False)
    assert [each.id for each in found[name]] == [name]


def test_types_that_a_tool_does_not_expect_are_asked_about_and_break_nothing() -> None:
    odd = "[tool]\nruff = 1\nmypy = []\n[tool.pytest]\nini_options = 'x'\n[build-system]\nrequires = 3\n"
    assert asked({"pyproject.toml": RUFF + MYPY}, {"pyproject.toml": odd}) == [
        "tool.mypy was removed",
        "tool.ruff was removed",
    ]
