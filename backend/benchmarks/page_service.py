"""`phaserunner serve` in a separate process that can be killed and started again at the same address."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

_BACKEND = Path(__file__).parents[1]
_START_SECONDS = 120.0


class PageService:
    """The service with its worker and the built dashboard.

    Args:
        database_url: migrated.
        place: for its files.
        settings: of the service, beside its own.
    """

    def __init__(
        self, database_url: str, place: Path, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._settings = settings
        self._place = place
        self._database_url = database_url
        self._port = _free_port()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it answers, the same after each start."""
        return f"http://127.0.0.1:{self._port}"

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run it until the block is left."""
        await self.start()
        try:
            yield
        finally:
            await self.kill()

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        self._place.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._place),
            "PYTHONPATH": str(_BACKEND),
            "DATABASE_URL": self._database_url,
            "DATA_DIR": str(self._place),
            "PORT": str(self._port),
            **self._settings,
        }
        with (self._place / "serve.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "app.cli.main", "serve",
                cwd=self._place, env=environment, stdout=log, stderr=log,
            )  # fmt: skip
        async with asyncio.timeout(_START_SECONDS), httpx.AsyncClient() as client:
            while not await self._is_ready(client):  # noqa: ASYNC110 - another process gets ready
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def escalated(self, rows: int) -> str:
        """Have a sprint write a file of so many lines and wait for a human; gives its id."""
        lines = "".join(f"row_{number} = {number}\n" for number in range(1, rows + 1))
        step = {
            "say": "Discovery Complete",
            "edits": [{"kind": "write", "path": "long.py", "content": lines}],
        }
        script = {"title": "a benchmark", "phases": {"discovery": [step]}}
        body = {
            "goal": "Write a lot.",
            "source": {"kind": "empty"},
            "phases": ["discovery"],
            "policy": {"max_attempts": 1},
            "agent": {"backend": "scripted", "script": script},
        }
        async with httpx.AsyncClient(base_url=f"{self.url}/api/v1", timeout=60) as client:
            started = await client.post("/sprints", json=body)
            run: dict[str, Any] = started.raise_for_status().json()
            async with asyncio.timeout(_START_SECONDS):
                while run["status"] != "waiting":
                    await asyncio.sleep(0.2)
                    run = (await client.get(f"/runs/{run['id']}")).raise_for_status().json()
        return str(run["id"])

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        if self._process is None or self._process.returncode is not None:
            raise RuntimeError(f"the service ended:\n{(self._place / 'serve.log').read_text()}")
        try:
            return (await client.get(f"{self.url}/readyz")).is_success
        except httpx.TransportError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
