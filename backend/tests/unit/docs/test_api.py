"""The program in docs/api.md that runs the loop works as it is printed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]


def test_the_loop_in_a_program(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    program = re.findall(
        r"```python\n(.*?)```", page[page.index("## Run the loop in your program") :], re.DOTALL
    )
    for name in ("base", "workspace"):
        (tmp_path / name).mkdir()
        test = "from tea import minutes\n\n\ndef test_minutes():\n    assert minutes() == 2\n"
        (tmp_path / name / "test_tea.py").write_text(test)
    ended = subprocess.run(
        [sys.executable, "-c", program[0]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.stdout == "passed after 2 attempts\n", ended.stderr
