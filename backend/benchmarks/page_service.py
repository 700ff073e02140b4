"""A browser, and `phaserunner serve` in a separate process that can be killed and started again."""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from playwright.async_api import Browser, async_playwright

_BACKEND = Path(__file__).parents[1]
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
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

    def processor_seconds(self) -> float:
        """Return the processor time that its process has used, kernel included."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def escalated(self, rows: int) -> str:
        """Have a sprint write a file of so many lines and wait for a person; gives its id."""
        lines = "".join(f"row_{number} = {number}\n" for number in range(1, rows + 1))
        run_id = await self.begin([{"kind": "write", "path": "long.py", "content": lines}])
        await self._until(run_id, lambda run: run["status"] == "waiting")
        return run_id

    async def begin(self, edits: Sequence[Mapping[str, Any]]) -> str:
        """Start a sprint whose agent makes these edits; gives its id."""
        step = {"say": "Discovery Complete", "edits": list(edits)}
        script = {"title": "a benchmark", "phases": {"discovery": [step]}}
        body = {
            "goal": "Write a lot.",
            "source": {"kind": "empty"},
            "phases": ["discovery"],
            "policy": {"max_attempts": 1},
            "agent": {"backend": "scripted", "script": script},
        }
        async with self._client() as client:
            return str((await client.post("/sprints", json=body)).raise_for_status().json()["id"])

    async def working(self, runs: Sequence[str]) -> None:
        """Wait until an attempt of each of these runs is at work."""
        for each in runs:
            await self._until(each, lambda run: bool(run["attempts"]))

    async def cancel(self, runs: Sequence[str]) -> None:
        """End runs."""
        async with self._client() as client:
            for each in runs:
                (await client.post(f"/runs/{each}/cancel", json={})).raise_for_status()

    async def _until(self, run_id: str, holds: Callable[[Mapping[str, Any]], bool]) -> None:
        async with self._client() as client, asyncio.timeout(_START_SECONDS):
            while not holds((await client.get(f"/runs/{run_id}")).raise_for_status().json()):  # noqa: ASYNC110 - another process works
                await asyncio.sleep(0.2)

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{self.url}/api/v1", timeout=60)

    async def _is_ready(self, client: httpx.AsyncClient) -> bool:
        if self._process is None or self._process.returncode is not None:
            raise RuntimeError(f"the service ended:\n{(self._place / 'serve.log').read_text()}")
        try:
            return (await client.get(f"{self.url}/readyz")).is_success
        except httpx.TransportError:
            return False


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A browser with nothing open.

    Raises:
        RuntimeError: none is installed.
    """
    found = next((path for name in _CHROMIUMS if (path := shutil.which(name))), None)
    if found is None:
        raise RuntimeError("no Chromium is installed")
    # Chromium's own sandbox refuses root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=arguments)
        try:
            yield browser
        finally:
            await browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
