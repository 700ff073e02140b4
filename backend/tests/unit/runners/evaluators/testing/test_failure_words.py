"""What of a failure's message stays when it fails again for the same reason."""

import pytest

from app.runners.evaluators.testing.pytest_runner.failures import BECAUSE
from app.runners.evaluators.testing.running.failure_words import fails_alike

_MISSING = "E   ModuleNotFoundError: No module named 'zope.testing'"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            f"tests/test_a.py:1: in <module>\n    from calc import add\n{_MISSING}",
            f"tests/test_a.py:3: in <module>\n    from calc.core import add, sub\n{_MISSING}",
            id="the code above the error changed",
        ),
        pytest.param(
            "a.py:1: OSError: /tmp/tmpab12cd34", "a.py:1: OSError: /tmp/tmpzz_9cd3x", id="directory"
        ),
        pytest.param(
            "a.py:1: OSError: '/tmp/pytest-of-ann/pytest-3/x'",
            "a.py:1: OSError: '/tmp/pytest-of-bob/pytest-41/x'",
            id="directory of pytest",
        ),
        pytest.param(f"a.py:1: none{BECAUSE}no 1", f"a.py:9: none{BECAUSE}no 2", id="what led to it"),
        pytest.param(
            "a.py:1: assert '0.024s' == '0.02 s'", "a.py:1: assert '0.031s' == '0.02 s'", id="duration"
        ),
        pytest.param(
            "a.py:1: None == PosixPath('/tmp/pytest-of-ann/pytest-0/test_b0')",
            "a.py:1: None == PosixPath('<run>/vault/tree')",
            id="working directory",
        ),
        pytest.param(
            "a.py:1: {} == {}\n  Differing items:\n  {'ok': 0} != {'ok': 1}\n  {'bad': 1} != {'bad': 0}",
            "a.py:1: {} == {}\n  Differing items:\n  {'bad': 1} != {'bad': 0}\n  {'ok': 0} != {'ok': 1}",
            id="order of items",
        ),
        pytest.param("a.py:1: no 127.0.0.1:41233", "a.py:1: no 127.0.0.1:50121", id="port"),
        pytest.param("a.py:1: assert 1 == 2\n  + where 1 = A(1)", "a.py:1: assert 1 == 2", id="explanation"),
    ],
)
def test_what_differs_by_the_run_does_not_count(one: str, other: str) -> None:
    assert fails_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.py:1: assert 3 == 4", "a.py:1: assert 5 == 4"),
        (_MISSING, "E   ModuleNotFoundError: No module named 'calc.core'"),
        ("a.py:1: tmpfile", "a.py:1: tmpfiles"),
        ("a.py:1: took port 8080 of 127.0.0.1:80", "a.py:1: took port 8080 of 127.0.0.2:80"),
    ],
)
def test_what_the_code_says_counts(one: str, other: str) -> None:
    assert not fails_alike(one, other)
