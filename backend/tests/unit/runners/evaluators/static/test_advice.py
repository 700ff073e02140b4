"""Where a project does not hold to a rule, a finding advises; where it does, the same finding fails."""

import pytest

from app.runners.evaluators.deterministic import RuffLintEvaluator
from app.runners.evaluators.protocol import EvaluationCategory
from app.runners.evaluators.static.baseline import MANY, MANY_IN_ALL, MANY_IN_FILE
from app.runners.evaluators.static.mypy_report import findings_in
from app.runners.evaluators.static.ruff_rules import is_fault
from app.runners.evaluators.static.silencers import BARE_PRACTICE
from app.runners.evaluators.verdict import VerdictStatus, judge
from tests.unit.runners.evaluators.static.types_support import check_types

pytestmark = pytest.mark.anyio

CLEAN = {"a.py": "def f(x: int) -> int:\n    return x\n"}
WRONG = {"a.py": "def f(x: int) -> str:\n    return x\n"}
MYPY = {"mypy.ini": "[mypy]\n"}


async def types(context, files, base, **options):
    return await check_types(context(files, base), **options)


async def lint(context, files, base):
    return await RuffLintEvaluator().evaluate("coding", "", context(files, base))


async def test_types_advise_where_the_base_configures_no_checker(context) -> None:
    result = await types(context, WRONG, CLEAN)
    assert (result.status, result.metadata["advice_count"], result.metadata["error_count"]) == (
        "skipped",
        1,
        0,
    )
    assert "do not block: the base does not configure this checker" in result.feedback
    assert "a.py:2: return-value" in result.feedback
    # Findings that only advise are no evidence for a pass.
    assert judge([result], [result.evaluator_name]).status is VerdictStatus.ERRORED
    assert (await types(context, CLEAN, CLEAN)).status == "passed"


@pytest.mark.parametrize(
    ("base", "options"),
    [
        pytest.param({**CLEAN, **MYPY}, {}, id="the base configures it"),
        pytest.param({**CLEAN, "mypy.ini": "[mypy]\nexclude = (\n"}, {}, id="in a way that cannot be used"),
        pytest.param(CLEAN, {"unconfigured": "fail"}, id="the operator wants it"),
        pytest.param(None, {}, id="there is no base"),
    ],
)
async def test_types_gate_otherwise(context, base, options) -> None:
    assert (await types(context, WRONG, base, **options)).status == "failed"


async def test_the_candidate_does_not_choose_whether_types_gate(context) -> None:
    without = {"mypy.ini": ""}
    assert (await types(context, {**WRONG, **without}, {**CLEAN, **MYPY})).status == "failed"
    assert (await types(context, {**WRONG, **MYPY}, CLEAN)).status == "skipped"


async def test_an_adviser_that_cannot_speak_holds_nothing_up(context) -> None:
    result = await types(context, CLEAN, CLEAN, timeout=0.0001)
    assert result.status == "skipped"
    assert result.feedback.startswith("No advice on types: ")
    assert (await types(context, CLEAN, {**CLEAN, **MYPY}, timeout=0.0001)).status == "errored"


MANY_BARE = {"old.py": "".join(f"x{n}: str = {n}  # type: ignore\n" for n in range(BARE_PRACTICE))}
IGNORES = {"old.py": "x: str = 1  # type: ignore[assignment]\ny: str = 1  # type: ignore[assignment]\n"}


@pytest.mark.parametrize(
    ("comment", "practice", "status"),
    [
        pytest.param("# type: ignore[return-value]", IGNORES, "passed", id="an exact one, as the base has"),
        pytest.param("# type: ignore[return-value]", {}, "failed", id="the base has none"),
        pytest.param(
            "# type: ignore[return-value]",
            {"old.py": IGNORES["old.py"].partition("\n")[0] + "\n"},
            "failed",
            id="one is no practice",
        ),
        pytest.param("# type: ignore", IGNORES, "failed", id="no code"),
        pytest.param("# type: ignore[]", IGNORES, "failed", id="an empty code"),
        pytest.param("# type: ignore[return-value] or so", IGNORES, "failed", id="more words"),
        pytest.param("# pyright: ignore[reportReturnType]", IGNORES, "failed", id="another tool"),
        pytest.param("# type: ignore[assignment]", IGNORES, "failed", id="another code"),
        pytest.param(
            "# type: ignore[return-value]",
            {"old.py": "x: str = 1  # type: ignore\ny: str = 1  # type: ignore\n"},
            "passed",
            id="the base hides more, without codes",
        ),
        pytest.param("# type: ignore", MANY_BARE, "passed", id="no code, where that is the practice"),
        pytest.param("# type: ignore[return-value]", MANY_BARE, "passed", id="a code, where most have none"),
    ],
)
async def test_exact_comments_count_where_they_are_the_practice_of_the_base(
    context, comment: str, practice, status: str
) -> None:
    hidden = {"a.py": WRONG["a.py"].replace("return x", f"return x  {comment}")}
    result = await types(context, {**hidden, **practice}, {**CLEAN, **practice, **MYPY})
    assert result.status == status, result.feedback


STUBBED = {
    "m.py": "def g(x):\n    return x\n",
    "m.pyi": "def g(x: int) -> int: ...\n",
    "user.py": "from m import g\n\ny: int = g(1)\nz: str = g(2)\n",
}


async def test_a_module_beside_its_stub_brings_nothing_new_when_its_text_changes(context) -> None:
    told = {"m.py": '"""Words."""\n' + STUBBED["m.py"]}
    rules = {"mypy.ini": "[mypy]\ndisallow_untyped_defs = True\n"}
    result = await types(context, {**STUBBED, **told}, {**STUBBED, **rules})
    assert (result.status, result.metadata["findings"]) == ("passed", [])
    planted = {"n.py": WRONG["a.py"], "n.pyi": "def f(x: int) -> str: ...\n"}
    result = await types(context, {**STUBBED, **planted}, {**STUBBED, **rules})
    assert [each["file"] for each in result.metadata["findings"]] == ["n.py"]


async def test_remarks_about_the_configuration_are_no_findings(context, tmp_path) -> None:
    rules = {"mypy.ini": "[mypy]\nwarn_unused_configs = True\n[mypy-gone.*]\nignore_errors = True\n"}
    assert (await types(context, CLEAN, {**CLEAN, **rules})).status == "passed"
    assert (await types(context, WRONG, {**CLEAN, **rules})).status == "failed"
    note = f"{tmp_path}/setup.cfg: note: unused section(s): module = ['tests.*']\n"
    assert findings_in(note, tmp_path) == []
    assert findings_in("Warning: --strict-concatenate is deprecated\n", tmp_path) == []


UNUSED = {"b.py": "import os\n"}
OLD_NAME = {"b.py": "import sys\nif sys.version_info > (3,):\n    text = str\nelse:\n    text = unicode\n"}
OLD_NAME_EVERYWHERE = {"b.py": "text = unicode\n"}
OTHER_NAME_IN_A_BRANCH = {"b.py": OLD_NAME["b.py"].replace("unicode", "gone")}
UNDEFINED = {"b.py": "print(gone)\n"}
RUFF = {"ruff.toml": "lint.select = ['F']\n"}
MESSY = {f"old{n % 4}_{n}.py": "import os\n" for n in range(MANY)}


@pytest.mark.parametrize(
    ("files", "base", "status"),
    [
        pytest.param(UNUSED, CLEAN, "passed", id="taste without a configuration"),
        pytest.param(OLD_NAME, CLEAN, "passed", id="a built-in of Python 2 in a branch for it"),
        pytest.param(OLD_NAME_EVERYWHERE, CLEAN, "failed", id="a built-in of Python 2 elsewhere"),
        pytest.param(OTHER_NAME_IN_A_BRANCH, CLEAN, "failed", id="an undefined name in such a branch"),
        pytest.param(UNDEFINED, CLEAN, "failed", id="a fault without a configuration"),
        pytest.param(UNUSED, {**CLEAN, **RUFF}, "failed", id="the base chose the rule"),
        pytest.param(UNUSED, {**MESSY, **RUFF}, "passed", id="the base breaks it everywhere"),
        pytest.param(UNDEFINED, {**MESSY, **RUFF}, "failed", id="another rule"),
        pytest.param(
            UNDEFINED,
            {**dict.fromkeys(MESSY, "print(gone)\n"), **RUFF},
            "failed",
            id="a fault that the base has everywhere",
        ),
        pytest.param(
            UNUSED, {"old.py": "import os\n" * MANY, **RUFF}, "failed", id="one bad file is no practice"
        ),
    ],
)
async def test_lint_rules_count_where_the_base_holds_to_them(context, files, base, status: str) -> None:
    result = await lint(context, {**base, **files}, base)
    assert result.status == status, result.feedback
    assert bool(result.metadata["advice_count"]) == (status == "passed")


GROUP = {
    "b.py": "import pytest\n\n\ndef test_a():\n    with pytest.raises(ExceptionGroup):\n        print()\n"
}


@pytest.mark.parametrize(
    ("chosen", "status"),
    [
        pytest.param("ASYNC", "passed", id="by its group"),
        pytest.param("ASYNC401", "failed", id="by its code"),
    ],
)
async def test_a_preview_of_ruff_counts_where_the_base_names_it(context, chosen: str, status: str) -> None:
    rules = {"ruff.toml": f"lint.preview = true\nlint.select = ['{chosen}']\n"}
    result = await lint(context, {**CLEAN, **rules, **GROUP}, {**CLEAN, **rules})
    assert (result.status, result.metadata["advice_count"]) == (status, int(status == "passed"))


async def test_a_mess_that_the_candidate_brings_excuses_nothing(context) -> None:
    result = await lint(context, {**CLEAN, **MESSY, **UNUSED}, {**CLEAN, **RUFF})
    assert result.metadata["error_count"] == MANY + 1
    assert result.category is EvaluationCategory.COMPLIANCE


@pytest.mark.parametrize("rule", ["E902", "F821", "F632", "F706", "invalid-syntax", "encoding"])
def test_faults(rule: str) -> None:
    assert is_fault(rule)


@pytest.mark.parametrize("rule", ["F401", "F841", "E501", "D100", "PLR0913"])
def test_matters_of_taste(rule: str) -> None:
    assert not is_fault(rule)


FAULTS = {"old.py": "x = one  # noqa: F821\ny = two  # noqa: F821\n"}
NOQA = {"old.py": "import os, sys  # noqa: E401\nimport re, ast  # noqa: E401\n"}


@pytest.mark.parametrize(
    ("line", "base", "status"),
    [
        pytest.param("import io, csv  # noqa: E401", NOQA, "passed", id="a rule that the base hides, too"),
        pytest.param("import io, csv  # noqa: E401 - short", NOQA, "passed", id="with a reason"),
        pytest.param("import io, csv  # noqa: E401", {}, "failed", id="the base hides nothing"),
        pytest.param("import io, csv  # noqa", NOQA, "failed", id="all rules"),
        pytest.param("import io, csv  # noqa: E401, E702", NOQA, "failed", id="one rule more"),
        pytest.param("x = nothing  # noqa: F821", FAULTS, "failed", id="a fault is never hidden"),
    ],
)
async def test_lint_comments_count_for_rules_that_the_base_hides(context, line, base, status: str) -> None:
    rules = {"ruff.toml": "[lint]\nselect = ['E4', 'E7', 'F8']\n"}
    result = await lint(context, {**base, **rules, "new.py": f"{line}\n"}, {**CLEAN, **base, **rules})
    assert result.status == status, result.feedback


ONE_FILE = {"old.py": "".join(f"x{n}: str = {n}\n" for n in range(20))}
LOOSE = {f"old_{n}.py": f"x: str = {n}\ny: str = {n}\nz: str = {n}\na: str = {n}\n" for n in range(3)}


@pytest.mark.parametrize(
    ("base", "status"),
    [
        pytest.param(LOOSE, "skipped", id="the base breaks the rule in many places"),
        pytest.param(
            {"old.py": "".join(f"x{n}: str = {n}\n" for n in range(20))}, "failed", id="in one file"
        ),
        pytest.param(dict(list(LOOSE.items())[:2]), "failed", id="in few places"),
    ],
)
async def test_type_errors_count_where_the_base_holds_to_the_rule(context, base, status: str) -> None:
    told = {name: f"{text}# more\n" for name, text in base.items()}
    new = {**told, "new.py": "z: str = 5\n"}
    result = await types(context, {**base, **new}, {**CLEAN, **base, **MYPY})
    assert (result.status, result.metadata["advice_count"]) == (status, int(status == "skipped"))
    worse = {**told, "new.py": "z: str = 5\n\n\ndef f() -> int:\n    return nothing\n"}
    result = await types(context, {**base, **worse}, {**CLEAN, **base, **MYPY})
    assert result.status == "failed"


@pytest.mark.parametrize(("errors", "status"), [(MANY_IN_FILE, "skipped"), (MANY_IN_FILE - 1, "failed")])
async def test_a_file_with_some_type_errors_was_not_checked(context, errors: int, status: str) -> None:
    base = {**CLEAN, **MYPY, "old.py": "".join(f"x{n}: str = {n}\n" for n in range(errors))}
    more = await types(context, {**base, "old.py": f"{base['old.py']}z: int = len(5)\n"}, base)
    assert (more.status, more.metadata["advice_count"]) == (status, int(status == "skipped"))
    fault = await types(context, {**base, "old.py": f"{base['old.py']}z = nothing\n"}, base)
    assert fault.status == "failed"
    elsewhere = await types(context, {**base, "new.py": "z: str = 5\n"}, base)
    assert elsewhere.status == "failed"


async def test_a_file_that_breaks_a_rule_many_times_is_advised_in_that_file(context) -> None:
    mess = "".join(f"import part{n}\n" for n in range(MANY))
    base = {**CLEAN, **RUFF, "old.py": mess}
    more = await lint(context, {**base, "old.py": f"{mess}import sys\n"}, base)
    assert (more.status, more.metadata["advice_count"]) == ("passed", 1)
    assert (await lint(context, {**base, "old.py": f"{mess}print(gone)\n"}, base)).status == "failed"


PRACTICE = {"old.py": "".join(f"x{n} = lambda: {n}  # noqa: E731\n" for n in range(BARE_PRACTICE))}


@pytest.mark.parametrize(
    ("line", "status"),
    [
        pytest.param("import io, csv  # noqa: E401", "passed", id="another rule by its code"),
        pytest.param("import io, csv  # noqa", "failed", id="all rules"),
        pytest.param("x = nothing  # noqa: F821", "failed", id="a fault"),
        pytest.param(
            "# ruff: noqa: E401\nimport io, csv", "passed", id="a rule for a whole file by its code"
        ),
        pytest.param("# ruff: noqa\nimport io, csv", "failed", id="all rules for a whole file"),
    ],
)
async def test_a_base_that_names_what_it_hides_lets_others_do_so(context, line: str, status: str) -> None:
    rules = {"ruff.toml": "[lint]\nselect = ['E4', 'E7', 'F8']\n"}
    base = {**CLEAN, **PRACTICE, **rules}
    result = await lint(context, {**base, "new.py": f"{line}\n"}, base)
    assert result.status == status, result.feedback


HOOK = "repos:\n- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v{}\n  hooks:\n  - id: ruff\n"
POSITIONAL = {"b.py": "def f(a, b, c, d, e, g):\n    return a, b, c, d, e, g\n"}


@pytest.mark.parametrize(
    ("select", "pinned", "status"),
    [
        pytest.param("PL", "0.14.0", "passed", id="its ruff has the rule only as a preview"),
        pytest.param("PL", "0.16.0", "failed", id="its ruff has the rule"),
        pytest.param("PLR0917", "0.14.0", "failed", id="it names the rule"),
    ],
)
async def test_a_rule_newer_than_the_projects_ruff_advises(context, select, pinned, status: str) -> None:
    base = {
        **CLEAN,
        "ruff.toml": f"lint.select = ['{select}']\nlint.ignore = ['PLR0913']\n",
        ".pre-commit-config.yaml": HOOK.format(pinned),
    }
    result = await lint(context, {**base, **POSITIONAL}, base)
    assert (result.status, "PLR0917" in result.feedback) == (status, True)


async def test_the_candidate_does_not_say_which_ruff_the_project_has(context) -> None:
    base = {**CLEAN, "ruff.toml": "lint.select = ['PL']\n"}
    files = {**base, **POSITIONAL, ".pre-commit-config.yaml": HOOK.format("0.1.0")}
    assert (await lint(context, files, base)).status == "failed"


# Mypy reads the circle from the end that it comes to first, and only from one of them it knows all types.
CIRCLE = {
    "pkg/__init__.py": "",
    "pkg/a.py": (
        "from . import b\n\n\nclass A:\n    def __init__(self) -> None:\n        self.size = b.SIZE\n"
    ),
    "pkg/b.py": (
        "from . import a\n\nSIZE = max(1, 2)\n\n\ndef show(one: a.A) -> None:\n    print(one.size.missing)\n"
    ),
}


async def test_what_a_checker_says_by_the_order_of_files_is_not_new(context) -> None:
    base = {**CIRCLE, "mypy.ini": "[mypy]\nstrict = true\n"}
    changed = {**base, "pkg/a.py": CIRCLE["pkg/a.py"] + "        self.more = 1\n"}
    result = await types(context, changed, base)
    assert (result.status, result.metadata["known_count"]) == ("passed", 1)


def _unclean(findings: int) -> dict[str, str]:
    """Return files with so many type errors, of many kinds and in many files, none of them often."""
    wrong = ("a: int = ''", "int.nothing", "len(1, 2)", "''()", "'' + 1", "def g() -> int: return ''")
    return {f"old{n}.py": f"{wrong[n % len(wrong)]}\n" for n in range(findings)}


@pytest.mark.parametrize(
    ("findings", "status"),
    [
        pytest.param(MANY_IN_ALL, "skipped", id="nothing keeps the base clean"),
        pytest.param(MANY - 1, "failed", id="a few errors"),
    ],
)
async def test_a_base_with_many_type_errors_of_all_kinds_is_not_held_to_the_checker(
    context, findings: int, status: str
) -> None:
    base = {**CLEAN, **_unclean(findings), **MYPY}
    assert (await types(context, {**base, **WRONG}, base)).status == status
    # What is not there at all is a fault in any project.
    nameless = {"a.py": "def f(x: int) -> int:\n    return y\n"}
    assert (await types(context, {**base, **nameless}, base)).status == "failed"


OVERLOADED = """
from typing import Any, overload

@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x
"""


async def test_what_stands_for_overloads_may_stay_without_annotations(context) -> None:
    base = {"a.py": OVERLOADED, **MYPY}
    documented = {"a.py": f"{OVERLOADED}\n\nx = 1\n"}
    assert (await types(context, {**base, **documented}, base)).status == "passed"
    bare = {"a.py": OVERLOADED.replace("def f(x: str) -> str: ...", "def f(x): ...")}
    result = await types(context, {**base, **bare}, base)
    assert "annotations-lost" in result.feedback
