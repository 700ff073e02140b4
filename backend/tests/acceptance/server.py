"""Starts the real service as a process of its own and talks to it over HTTP."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.patience import PATIENCE, UNHURRIED

BACKEND = Path(__file__).parents[2]
START_SECONDS = PATIENCE


@dataclass
class Service:
    """A running `phaserunner serve`."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def client(self) -> httpx.Client:
        """A client for the API; without TLS it need not read the certificates, which takes 30 ms."""
        return httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE, verify=False)

    def kill(self) -> None:
        """End the process as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    database_url: str,
    data_dir: Path,
    *,
    port: int | None = None,
    env: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Iterator[Service]:
    """Serve until the block is left."""
    port = port or free_port()
    process = started(["serve", *options], database_url, data_dir, {"PORT": str(port), **(env or {})})
    service = Service(process, f"http://127.0.0.1:{port}", data_dir / "serve.log")
    try:
        _wait_until_ready(service)
        yield service
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                service.kill()
                raise


@contextmanager
def working(database_url: str, data_dir: Path) -> Iterator[None]:
    """Run a worker without a service until the block is left."""
    process = started(["worker"], database_url, data_dir, {})
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def started(
    command: Sequence[str], database_url: str, data_dir: Path, env: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    """Start a command of the program whose log is below its directory."""
    data_dir.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(data_dir),
        "PYTHONPATH": str(BACKEND),
        "DATABASE_URL": database_url,
        "DATA_DIR": str(data_dir),
        "AGENT_RETRY_BASE_SECONDS": "0.05",
        **UNHURRIED,
        **env,
    }
    with (data_dir / f"{command[0]}.log").open("ab") as sink:
        return subprocess.Popen(
            [sys.executable, "-m", "app.cli.main", *command],
            cwd=data_dir,
            env=environment,
            stdout=sink,
            stderr=sink,
        )


def _wait_until_ready(service: Service) -> None:
    deadline = time.monotonic() + START_SECONDS
    with service.client() as client:
        while time.monotonic() < deadline:
            if service.process.poll() is not None:
                raise AssertionError(f"the service ended:\n{service.log.read_text()}")
            with suppress(httpx.TransportError):
                if client.get(f"{service.url}/readyz").is_success:
                    return
            time.sleep(0.05)
    raise AssertionError(f"the service does not become ready:\n{service.log.read_text()}")


def until_rest(client: httpx.Client, sprint_id: str, *, seconds: float = PATIENCE) -> dict[str, Any]:
    """Ask until the sprint is over or waits for a human.

    The longer it takes, the less often: each answer costs the service and its database 20 ms of a processor.
    """
    began = time.monotonic()
    while (spent := time.monotonic() - began) < seconds:
        sprint = ok(client.get(f"/runs/{sprint_id}"))
        if sprint["status"] in ("waiting", "completed", "failed", "cancelled"):
            return sprint
        time.sleep(min(0.25, max(0.05, spent / 10)))
    raise AssertionError(f"sprint {sprint_id} does not come to rest: {sprint['status']} in {sprint['phase']}")


def ok(response: httpx.Response) -> Any:
    """The body of a response that must be a success."""
    assert response.is_success, f"{response.status_code}: {response.text}"
    return response.json()
