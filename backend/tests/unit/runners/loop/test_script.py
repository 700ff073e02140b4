"""Scripts of loops run confined, on the same files each time, and their trouble is a value."""

from pathlib import Path

import pytest

from app.runners.director_evaluator import DirectorEvaluator
from app.runners.loop.roles import RoleTask, ScriptTask, Trouble
from app.runners.loop.script import OUTPUT_BYTES, SandboxedScript
from app.schemas.director_evaluator import DirectorEvaluatorLoop
from app.schemas.loop.results import FailureReason, LoopEnd, ScriptOutput, TaskResult
from app.workspaces.confine.sandbox import Sandbox

pytestmark = pytest.mark.anyio


@pytest.fixture
def script() -> SandboxedScript:
    return SandboxedScript(sandbox=Sandbox())


async def run(script: SandboxedScript, *argv: str, stdin: str = "", timeout: float = 20.0) -> ScriptOutput:
    came = await script(ScriptTask(argv, stdin, timeout))
    assert isinstance(came, ScriptOutput)
    return came


async def test_input_output_and_exit_status(script: SandboxedScript) -> None:
    came = await run(script, "sh", "-c", "cat; echo oops >&2; exit 3", stdin="näh\n")
    assert (came.stdout, came.stderr, came.exit_code) == ("näh\n", "oops\n", 3)


async def test_a_signal_is_128_and_its_number(script: SandboxedScript) -> None:
    assert (await run(script, "sh", "-c", "kill -9 $$")).exit_code == 137


async def test_words_are_no_commands(script: SandboxedScript) -> None:
    assert (await run(script, "printf", "%s", "$(id); `id`")).stdout == "$(id); `id`"


async def test_long_output_is_bounded(script: SandboxedScript) -> None:
    came = await run(script, "sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x")
    assert len(came.stdout) < OUTPUT_BYTES + 1000


async def test_nul_in_the_output_can_be_stored(script: SandboxedScript) -> None:
    assert "\0" not in (await run(script, "printf", r"a\0b")).stdout


@pytest.mark.parametrize(
    ("argv", "timeout", "reason"),
    [
        pytest.param(("no-such-program",), 20.0, FailureReason.EXECUTION_HALTED, id="missing"),
        pytest.param(("sleep", "60"), 0.3, FailureReason.EXECUTION_TIMEOUT, id="too slow"),
        pytest.param(("echo", "a\0b"), 20.0, FailureReason.EXECUTION_HALTED, id="NUL in a word"),
        pytest.param(("echo", "x" * 4_000_000), 20.0, FailureReason.EXECUTION_HALTED, id="too long a word"),
    ],
)
async def test_trouble_is_a_value(
    script: SandboxedScript, argv: tuple[str, ...], timeout: float, reason: FailureReason
) -> None:
    came = await script(ScriptTask(argv, "", timeout))
    assert isinstance(came, Trouble)
    assert came.reason is reason


async def test_every_run_starts_from_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "count.txt").write_text("1")
    script = SandboxedScript(sandbox=Sandbox(), workspace=tmp_path)
    for _ in range(2):
        assert (await run(script, "sh", "-c", "cat count.txt; echo 2 > count.txt")).stdout == "1"
    assert (tmp_path / "count.txt").read_text() == "1"


STACK = """
class MinStack:
    def __init__(self):
        self.items = []
    def push(self, item):
        self.items.append(item)
    def pop(self):
        return self.items.pop()
    def minimum(self):
        return {minimum}
"""
CHECK = (
    "import sys\nexec(sys.stdin.read())\ns = MinStack()\nfor n in (2, 1, 3): s.push(n)\n"
    "assert s.minimum() == 1, s.minimum()\ns.pop(); s.pop()\nassert s.minimum() == 2, s.minimum()\n"
)


async def test_a_min_stack_is_refined_until_its_check_passes(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(CHECK)

    async def direct(task: RoleTask) -> TaskResult:
        wrong = "AssertionError" in task.inputs["script"]
        return TaskResult(content=STACK.format(minimum="min(self.items)" if wrong else "self.items[0]"))

    async def evaluate(task: RoleTask) -> TaskResult:
        output = ScriptOutput.model_validate_json(task.inputs["script"])
        return TaskResult(
            content="", notes={"success": output.exit_code == 0, "feedback": output.stderr or "It holds."}
        )

    loop = DirectorEvaluatorLoop.from_xml("""
<task type="director_evaluator_loop">
  <description>Write a min-stack</description>
  <director><description>Write it</description>
    <inputs><input name="script" from="script_output"/></inputs></director>
  <evaluator><description>Judge it</description>
    <inputs><input name="script" from="script_output"/></inputs></evaluator>
  <script_execution><command>python3 check.py</command><timeout>20</timeout></script_execution>
  <termination_condition><condition>script.exitCode === 0</condition></termination_condition>
</task>""")
    script = SandboxedScript(sandbox=Sandbox(), workspace=tmp_path)
    result = await DirectorEvaluator(director=direct, evaluator=evaluate, script=script).run(loop)
    assert (result.ended_by, result.success, result.iterations_completed) == (LoopEnd.SUCCESS, True, 2)
    assert [each.script_output.exit_code for each in result.iteration_history if each.script_output] == [1, 0]
