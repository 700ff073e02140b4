"""`scripted-model`: what it is given, and what it says when it serves."""

import asyncio
import io
import json
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from app.cli.commands.scripted_model import serve_script
from app.cli.terminal import Terminal
from app.schemas.agent_script import AgentScript
from tests.unit.cli.fakes import FakeService, invoke

SCRIPT = AgentScript.model_validate({"title": "Tea", "phases": {"coding": [{"say": "Coding Complete"}]}})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param([], "--example NAME or --script FILE.toml", id="no script"),
        pytest.param(["--example", "teatime", "--script", "a.toml"], "give one of both", id="two"),
        pytest.param(["--example", "nonsense"], "example", id="unknown example"),
        pytest.param(["--script", "missing.toml"], "script", id="no such file"),
        pytest.param(["--example", "teatime", "--port", "70000"], "port", id="no port"),
    ],
)
def test_bad_input_is_named(arguments: list[str], named: str, tmp_path: Path) -> None:
    outcome = invoke(FakeService(), "scripted-model", *arguments, cwd=tmp_path)
    assert outcome.code == 2
    assert named in outcome.err


@pytest.mark.anyio
async def test_it_names_the_settings_and_answers_there() -> None:
    out = io.StringIO()
    console = Console(file=out, width=200)
    serving = asyncio.create_task(serve_script(SCRIPT, 0, Terminal(console, console, as_json=True)))
    while not out.getvalue().endswith("}\n"):
        await asyncio.sleep(0)
        assert not serving.done()
    settings = json.loads(out.getvalue())["settings"]
    prompt = {"role": "user", "content": "You are in the coding phase."}
    async with httpx.AsyncClient() as client:
        asked = {"model": "any", "messages": [prompt]}
        answer = await client.post(f"{settings['OPENAI_BASE_URL']}/chat/completions", json=asked)
    assert answer.json()["choices"][0]["message"]["content"] == "Coding Complete"
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
