"""The example projects are judged by the real tools that their files name."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from app.runners.evaluators.commands.programs import find_programs
from app.runners.evaluators.protocol import EvaluationResult
from app.runners.evaluators.registry import EvaluatorConfig, create_default_registry
from app.runners.project import ProjectRules, panel_for
from tests.integration.evaluators.support import needs_node
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[4] / "examples"
SEARCH = [Path(each) for each in os.environ["PATH"].split(os.pathsep) if each]
RULES = ProjectRules(programs=find_programs(Path(sys.executable), SEARCH))

CART = EXAMPLES.joinpath("javascript", "cart.js").read_text()
CART_TEST = EXAMPLES.joinpath("javascript", "test", "cart.test.js").read_text()
LEDGER = EXAMPLES.joinpath("bandit", "ledger.py").read_text()
PRICES = EXAMPLES.joinpath("coverage", "prices.py").read_text()

EVALS = "\n\ndef parse(text: str) -> int:\n    return eval(text){}\n"
NET = "\n\ndef net(gross: int, percent: int) -> int:\n    return gross * 100 // (100 + percent)\n"
NET_TEST = "from prices import net\n\n\ndef test_net() -> None:\n    assert net(1190, 19) == 1000\n"

CASES = {
    "javascript: as it is": ("javascript", {}, "passed", "All 3 tests passed"),
    "javascript: a defect": (
        *("javascript", {"cart.js": CART.replace("/ 10", "/ 11")}, "failed", "gives the tenth for free"),
    ),
    "javascript: it does not load": ("javascript", {"cart.js": "syntax error"}, "failed", "cart.test.js"),
    "javascript: the test is gone, and the base's judges": (
        "javascript",
        {"test/cart.test.js": CART_TEST.replace('it("gives', '// it("gives')},
        *("passed", "Taken from the base or left out: test/cart.test.js"),
    ),
    "javascript: a defect behind a test that is gone": (
        "javascript",
        {
            "cart.js": CART.replace("/ 10", "/ 11"),
            "test/cart.test.js": CART_TEST.replace('it("gives', '// it("gives'),
        },
        *("failed", "gives the tenth for free"),
    ),
    "javascript: the tests end before they begin": (
        *("javascript", {"cart.js": "process.exit(0)"}, "failed", "no longer run"),
    ),
    "bandit: as it is": ("bandit", {}, "passed", "3 that the base already has"),
    "bandit: a new finding": (
        "bandit",
        {"ledger.py": LEDGER + EVALS.format("")},
        "failed",
        "ledger.py:18: B307",
    ),
    "bandit: silenced": ("bandit", {"ledger.py": LEDGER + EVALS.format("  # nosec")}, "failed", "B307"),
    "coverage: nothing new": ("coverage", {}, "skipped", "There are no new executable lines"),
    "coverage: new and tested": (
        "coverage",
        {"prices.py": PRICES + NET, "tests/test_net.py": NET_TEST},
        *("passed", "2 of 2 new lines"),
    ),
    "coverage: new and not tested": ("coverage", {"prices.py": PRICES + NET}, "failed", "prices.py: 10"),
}


async def judge(
    example: str, changes: Mapping[str, str], place: Path, before: Mapping[str, str] | None = None
) -> EvaluationResult:
    """Judge changes of an example, which `before` turned into what the base is."""
    base, candidate = place / "base", place / "candidate"
    for tree, written in ((base, before or {}), (candidate, {**(before or {}), **changes})):
        shutil.copytree(EXAMPLES / example, tree)
        for name, text in written.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
    content = (base / "phaserunner.toml").read_bytes()
    panel = panel_for(
        create_default_registry(
            EvaluatorConfig(lint_timeout=PATIENCE, type_check_timeout=PATIENCE, test_timeout=PATIENCE)
        ),
        content,
        RULES,
    )
    assert panel.problems == ()
    (command,) = [
        each.evaluator for each in panel.registry.all_registrations() if each.source == "phaserunner.toml"
    ]
    return await command.evaluate(
        "coding", "", {"workspace_ref": str(candidate), "base_ref": str(base), "goal": "", "attempt": 1}
    )


@pytest.mark.parametrize(
    ("example", "changes", "status", "told"),
    [
        pytest.param(*case, id=name, marks=needs_node if case[0] == "javascript" else ())
        for name, case in CASES.items()
    ],
)
async def test_an_example(
    tmp_path: Path, example: str, changes: dict[str, str], status: str, told: str
) -> None:
    result = await judge(example, changes, tmp_path)
    assert result.status == status, result.feedback
    assert told in result.feedback
