"""JUnit reports: subtests, and tests of Rust that print much."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.runners.evaluators.commands.junit import ReportError, read_junit

HERE = Path("/somewhere/tree")

SUBTESTS = """
import unittest


def test_many(subtests):
    for n in range(5):
        with subtests.test(n=n):
            assert n < 2


def test_fine(subtests):
    with subtests.test():
        assert True


class TestCart(unittest.TestCase):
    def test_total(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(n, 0)
"""


@pytest.fixture(scope="module")
def of_pytest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of pytest about tests with subtests."""
    place = tmp_path_factory.mktemp("subtests")
    (place / "pytest.ini").write_text("[pytest]\n")
    (place / "test_a.py").write_text(SUBTESTS)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=out.xml"]
    done = subprocess.run(command, cwd=place, env=variables, capture_output=True, check=False)
    assert done.returncode == 1, done.stdout
    return (place / "out.xml").read_text()


def _nested(report: str) -> str:
    inner = report[report.index("<testsuites") :]
    return f'<testsuites failures="6"><testsuite name="all" failures="6">{inner}</testsuite></testsuites>'


@pytest.mark.parametrize("nested", [False, True])
def test_a_test_with_failed_subtests_is_one_failing_test(of_pytest: str, nested: bool) -> None:
    assert of_pytest.count("<failure") == 6, "the test is about several failures in one case"
    text = _nested(of_pytest) if nested else of_pytest
    report = read_junit(text.encode(), HERE)
    start = "all > pytest" if nested else "pytest"
    names = [f"{start} > test_a > test_many", f"{start} > test_a.TestCart > test_total"]
    assert [each.id for each in report.failures] == names
    assert (report.passed, report.ran) == (1, 3)


def test_a_report_that_lacks_a_failure_is_refused(of_pytest: str) -> None:
    start, end = of_pytest.index("<failure"), of_pytest.index("</failure>") + len("</failure>")
    with pytest.raises(ReportError, match="claims 6 failures but lists 5"):
        read_junit((of_pytest[:start] + of_pytest[end:]).encode(), HERE)


ENDED = "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.01s\n\n"


@pytest.mark.parametrize("printed", [0, 3970, 4000, 5000, 300_000])
@pytest.mark.parametrize("ended", [True, False])
def test_a_rust_test_may_print_much(printed: int, ended: bool) -> None:
    text = "\nrunning 1 test\n" + "é" * printed + (ENDED if ended else "")
    report = f'<testsuite><testcase name="a"><system-out>{text}</system-out></testcase></testsuite>'
    assert read_junit(report.encode(), HERE).passed == int(ended)
