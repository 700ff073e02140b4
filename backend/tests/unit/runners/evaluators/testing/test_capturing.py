"""Projects whose options switch pytest's capturing off: what `sys.stdout` is in their tests."""

import pytest

from tests.unit.runners.evaluators.testing.gate_support import CODE, WRONG, run

pytestmark = pytest.mark.anyio

ON_A_DESCRIPTOR = {
    "tests/test_calc.py": "import sys\n\nfrom calc import add\n\n\n"
    "def test_add():\n    print('x')\n    assert type(sys.stdout).__name__ == 'TextIOWrapper'\n"
    "    assert add(1, 2) == 3\n"
}


@pytest.mark.parametrize("options", ["-s", "-vs", "--capture=no", "--capture no"])
async def test_without_capturing_at_the_base_the_tests_see_the_real_output(context, options: str) -> None:
    base = {**CODE, **ON_A_DESCRIPTOR, "pytest.ini": f"[pytest]\naddopts = {options}\n"}
    assert (await run(context, base, base)).status == "passed"
    wrong = {**base, "calc.py": WRONG["calc.py"]}
    assert (await run(context, wrong, base)).metadata["failing"] == ["tests/test_calc.py::test_add"]


@pytest.mark.parametrize("options", ["-rs", "-q"])
async def test_other_options_leave_the_capturing_on(context, options: str) -> None:
    base = {**CODE, **ON_A_DESCRIPTOR, "pytest.ini": f"[pytest]\naddopts = {options}\n"}
    assert (await run(context, base, base)).status == "failed"


BY_NUMBER = {
    "tests/test_calc.py": "import os\n\nfrom calc import add\n\n\n"
    "def test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_no_one_listens():\n    for number in range(3, 12):\n        try:\n"
    "            os.close(number)\n        except OSError:\n            continue\n"
}


async def test_a_test_may_close_the_descriptors_of_a_shell(context) -> None:
    base = {**CODE, **BY_NUMBER}
    assert (await run(context, base, base)).status == "passed"
    assert (await run(context, {**base, "calc.py": WRONG["calc.py"]}, base)).status == "failed"
