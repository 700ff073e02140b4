"""What the test gate asks about tests that were changed with the code, and what stays a failure."""

import pytest

from app.runners.evaluators.deterministic import PytestEvaluator
from app.schemas.questions import ProtectedPolicy
from tests.unit.runners.evaluators.testing.gate_support import HALVES, THREE, run

pytestmark = pytest.mark.anyio

SKIPPED = {
    "tests/test_calc.py": "import pytest\npytestmark = pytest.mark.skip\n" + THREE["tests/test_calc.py"]
}


@pytest.mark.parametrize(
    ("policy", "status", "asked"),
    [("ask", "failed", ["tests/test_calc.py::test_half"]), ("fail", "failed", []), ("note", "passed", [])],
)
async def test_a_test_that_was_changed_with_the_code_is_one_question(context, policy, status, asked) -> None:
    made = {**context(HALVES, THREE), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    assert (result.status, [each.id for each in result.questions]) == (status, asked), result.feedback
    if asked:
        assert "now expects `2.5` where it was `2`" in result.questions[0].text
        assert "the base's version fails" in result.questions[0].why


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tests/test_calc.py": THREE["tests/test_calc.py"]}, id="the test is as it was"),
        pytest.param({"tests/test_calc.py": HALVES["tests/test_calc.py"] + "    assert 0\n"}, id="it fails"),
        pytest.param(
            {
                "tests/test_calc.py": "import pytest\npytestmark = pytest.mark.skip\n"
                + THREE["tests/test_calc.py"]
            },
            id="it is skipped",
        ),
        pytest.param(
            {"calc.py": "def add(a, b):\n    return 3\n\n\ndef half(n):\n    return 9\n"},
            id="no version passes",
        ),
        pytest.param({"calc.py": HALVES["calc.py"].replace("a + b", "a - b")}, id="another test fails"),
    ],
)
async def test_what_no_changed_test_explains_stays_a_failure(context, changes) -> None:
    result = await run(context, {**HALVES, **changes}, THREE, outside=False)
    assert (result.status, result.questions) == ("failed", [])


STRICT = {**THREE, "pytest.ini": "[pytest]\nfilterwarnings =\n    error\n"}


WARNS = (
    "import warnings\n\n\ndef half(n):\n    warnings.warn('half() becomes halve()', {kind})\n"
    "    return n // 2\n"
)


EXEMPT = "[pytest]\nfilterwarnings =\n    error\n    ignore:half.. becomes:DeprecationWarning\n"


@pytest.mark.parametrize(
    ("configuration", "kind", "is_asked"),
    [
        pytest.param(EXEMPT, "DeprecationWarning", True, id="its own warning is exempt"),
        pytest.param(EXEMPT, "UserWarning", False, id="the tests fail with the change, too"),
        pytest.param(STRICT["pytest.ini"], "DeprecationWarning", False, id="nothing is exempt"),
        pytest.param(
            f"{EXEMPT}addopts = -k add\n", "DeprecationWarning", False, id="another option is changed, too"
        ),
    ],
)
async def test_tests_that_pass_only_with_more_warnings_filtered_are_one_question(
    context, configuration, kind, is_asked
) -> None:
    changed = THREE["calc.py"].partition("\n\n\ndef half")[0] + "\n\n\n" + WARNS.format(kind=kind)
    made = {**STRICT, "calc.py": changed, "pytest.ini": configuration}
    result = await run(context, made, STRICT, outside=False)
    assert result.status == "failed"
    assert [each.id for each in result.questions] == (["pytest.ini"] if is_asked else []), result.feedback
    if is_asked:
        assert "only with the changed `filterwarnings`" in result.questions[0].text
        assert "ignore:half.. becomes" in result.questions[0].after


LOADED = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef dead():\n    return 1\n",
    "tests/test_ok.py": "def test_ok(): ...\n",
    "tests/test_calc.py": (
        "import pytest\n\nfrom calc import add, dead\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
        "@pytest.mark.skip\ndef test_elsewhere(): ...\n\n\ndef test_dead():\n    assert dead() == 1\n"
    ),
}


@pytest.mark.parametrize(
    ("test", "asked"),
    [
        pytest.param("    assert add(1, 2) == 3\n", True, id="one test is skipped, as before"),
        pytest.param("    pytest.skip()\n", False, id="all tests are skipped"),
        pytest.param("    assert add(1, 2) == 4\n", False, id="one test fails"),
    ],
)
async def test_a_test_file_that_no_longer_loads_is_asked_about(context, test: str, asked: bool) -> None:
    text = LOADED["tests/test_calc.py"].partition("\n\n\ndef test_dead")[0].replace(", dead", "")
    text = text.replace("    assert add(1, 2) == 3\n", test)
    files = {
        **LOADED,
        "calc.py": LOADED["calc.py"].partition("\n\n\ndef dead")[0],
        "tests/test_calc.py": text,
    }
    result = await run(context, files, LOADED, outside=False)
    assert result.status == "failed"
    assert [each.id for each in result.questions] == (["tests/test_calc.py"] if asked else []), (
        result.feedback
    )


@pytest.mark.parametrize("name", ["TestAdd", "TestPlus"])
async def test_a_test_class_that_got_another_name_with_the_code_is_one_question(context, name: str) -> None:
    test = "import calc\n\nclass TestAdd:\n    def test_it(self):\n        assert calc.add(1, 2) == 3\n"
    base = {
        "calc.py": "def add(a, b):\n    return a + b\n",
        "tests/test_calc.py": test,
        "tests/test_ok.py": "def test_ok(): ...\n",
    }
    renamed = {each: text.replace("add(", "plus(") for each, text in base.items()}
    renamed["tests/test_calc.py"] = renamed["tests/test_calc.py"].replace("TestAdd", name)
    result = await run(context, renamed, base, outside=False)
    assert [each.id.partition("::test_")[0] for each in result.questions] == ["tests/test_calc.py::TestAdd"]


@pytest.mark.parametrize(
    ("mark", "asked"),
    [("skipif(sys.version_info >= (3, 8), reason='old')", True), ("skip", False), ("xfail", False)],
)
async def test_a_test_that_now_runs_only_on_other_versions_is_a_question(context, mark, asked) -> None:
    changed = HALVES["tests/test_calc.py"].replace("== 2.5", "== 2")
    changed = changed.replace("def test_half", f"@pytest.mark.{mark}\ndef test_half")
    files = {**HALVES, "tests/test_calc.py": f"import sys\n\nimport pytest\n{changed}"}
    result = await run(context, files, THREE, outside=False)
    found = [(each.id, "does not run here" in each.why) for each in result.questions]
    assert (result.status, found) == ("failed", [("tests/test_calc.py::test_half", True)] if asked else [])


ROWS = {
    "calc.py": "NAMES = ['add', 'half', 'twice']\n\n\ndef known(name):\n    return name in NAMES\n",
    "tests/test_names.py": (
        "import pytest\n\nimport calc\n\n\n@pytest.mark.parametrize('name', calc.NAMES)\n"
        "def test_known(name):\n    assert calc.known(name)\n\n\n"
        "@pytest.mark.parametrize('number', range(len(calc.NAMES)))\n"
        "def test_number(number):\n    assert calc.known(calc.NAMES[number])\n"
    ),
}


FEWER = {**ROWS, "calc.py": ROWS["calc.py"].replace(", 'half'", "")}


@pytest.mark.parametrize(("policy", "asked"), [("ask", True), ("note", True), ("fail", False)])
async def test_rows_that_the_code_no_longer_has_are_one_question_for_each_test(
    context, policy, asked
) -> None:
    made = {**context(FEWER, ROWS), "protected_policy": ProtectedPolicy(policy)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", made)
    ids = ["tests/test_names.py::test_known", "tests/test_names.py::test_number"] if asked else []
    assert (result.status, [each.id for each in result.questions]) == ("failed", ids), result.feedback
    lost = ["tests/test_names.py::test_known[half]", "tests/test_names.py::test_number[2]"]
    assert result.metadata["lost_tests"] == lost
    if asked:
        assert "`test_known` no longer runs" in result.questions[0].text.replace("tests/test_names.py::", "")
        assert "`[half]`" in result.questions[0].text


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("NAMES = []\n\n\ndef known(name):\n    return name in NAMES\n", id="no row is left"),
        pytest.param(
            "NAMES = ['add', 'half']\n\n\ndef known(name):\n    return name == 'add'\n", id="one fails"
        ),
        pytest.param(
            "NAMES = ['add', 'half']\n\n\ndef known(name):\n    import pytest\n    name == 'half' and "
            "pytest.skip()\n    return True\n",
            id="one is skipped",
        ),
    ],
)
async def test_lost_rows_beside_other_trouble_are_lost_tests(context, code) -> None:
    result = await run(context, {**ROWS, "calc.py": code}, ROWS, outside=False)
    assert (result.status, result.questions) == ("failed", [])
    assert result.metadata["lost_tests"]


@pytest.mark.parametrize(
    "statement", ["raise ConnectionRefusedError('Connection refused')", "pytest.xfail('no network')"]
)
async def test_lost_rows_of_a_test_that_is_red_at_the_base_are_a_question(context, statement: str) -> None:
    refuses = f"def test_known(name):\n    {statement}\n    "
    tests = ROWS["tests/test_names.py"].replace("def test_known(name):\n    ", refuses)
    base, fewer = ({**each, "tests/test_names.py": tests} for each in (ROWS, FEWER))
    result = await run(context, fewer, base, outside=False)
    found = {each.id for each in result.questions}
    assert {"tests/test_names.py::test_known", "tests/test_names.py::test_number"} <= found, result.feedback


SKIPPED_ROW = (
    "import pytest\n\nfrom calc import half\n\n\n"
    "@pytest.mark.parametrize('n, expected', [(4, 2), pytest.param(6, 3, marks=MARK), (5, 2)])\n"
    "def test_half(n, expected):\n    assert half(n) == expected\n"
).replace("MARK", "pytest.mark.skip")


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        pytest.param("(7, 3.5)", True, id="the others pass or are skipped as before"),
        pytest.param("(7, 3)", False, id="another row fails"),
    ],
)
async def test_a_row_that_was_replaced_is_one_question_where_its_neighbours_hold(
    context, rows, asked
) -> None:
    base = {**THREE, "tests/test_rows.py": SKIPPED_ROW}
    changed = {**HALVES, "tests/test_rows.py": SKIPPED_ROW.replace("(5, 2)", rows)}
    result = await PytestEvaluator(outside=False).evaluate("coding", "", context({**base, **changed}, base))
    found = [each.id for each in result.questions]
    expected = ["tests/test_calc.py::test_half", "tests/test_rows.py::test_half"] if asked else []
    assert sorted(found) == expected, result.feedback


@pytest.mark.parametrize(
    ("imported", "asked"),
    [
        pytest.param("from {0} import add", "3 test files load with this code only in", id="a name"),
        pytest.param(
            "try:\n    from {0} import add\nfinally:\n    pass",
            "`tests/test_a.py` a statement was added, and so in 2 more: does the goal say so?",
            id="a statement",
        ),
    ],
)
async def test_files_that_load_only_in_their_changed_versions_are_one_question(
    context, imported: str, asked: str
) -> None:
    code = "def add(a, b):\n    return a + b\n"
    test = imported + "\n\n\ndef test_{1}():\n    assert add(1, 2) == 3\n"
    base = {"calc.py": code, **{f"tests/test_{each}.py": test.format("calc", each) for each in "abc"}}
    named = {"sums.py": code, **{f"tests/test_{each}.py": test.format("sums", each) for each in "abc"}}
    result = await run(context, named, base, outside=False)
    (question,) = result.questions
    assert question.text.startswith(asked)
    assert "sums" in question.after
    assert "sums" not in question.before
