"""The commands of the README let installed agents work on the example, with a script as their model."""

import re
import shlex
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.server import free_port, ok, until_rest
from tests.patience import PATIENCE, UNHURRIED
from tests.real_agents.conftest import PROGRAM, agents_path, demand

README = Path(__file__).parents[3] / "README.md"
MODEL_PORT = "9911"
ATTEMPTS = [
    ("discovery", 1, "passed"),
    ("coding", 1, "failed"),
    ("coding", 2, "passed"),
    ("verification", 1, "passed"),
]

pytestmark = pytest.mark.real


@dataclass(frozen=True)
class Command:
    """A line of the README: its settings, and the words of `phaserunner`."""

    settings: Mapping[str, str]
    words: tuple[str, ...]


def lines() -> tuple[str, str]:
    """The lines that serve the script and let an agent work with it."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (block,) = [each for each in blocks if "phaserunner scripted-model" in each]
    serves, works = block.splitlines()
    return serves, works


def parsed(line: str) -> Command:
    words = shlex.split(line, comments=True)
    settings = dict(each.split("=", 1) for each in words[: words.index("phaserunner")])
    return Command(settings, tuple(words[len(settings) + 1 :]))


def agents() -> list[str]:
    """The agent in the line, and the others that its remark names."""
    _, works = lines()
    named = parsed(works).words
    return [named[named.index("--agent") + 1], *works.partition("# or: ")[2].split()]


def command_for(agent: str) -> Command:
    works = parsed(lines()[1])
    words = tuple(agent if each == agents()[0] else each for each in works.words)
    return Command(works.settings, words)


def moved(command: Command, port: str, *more: str) -> Command:
    """The same command with another port for the model."""
    settings = {name: value.replace(MODEL_PORT, port) for name, value in command.settings.items()}
    return Command(settings, (*command.words, *more))


def is_free(port: str) -> bool:
    with socket.socket() as probe, suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", int(port)))
        return True
    return False


@contextmanager
def running(command: Command, place: Path, env: Mapping[str, str]) -> Generator[tuple[Any, Path]]:
    log = place / f"{command.words[0]}.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [PROGRAM, *command.words], cwd=place, env={**env, **command.settings}, stdout=sink, stderr=sink
        )
    try:
        yield process, log
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def until(process: Any, log: Path, words: str) -> str:
    """Wait until a command has said something; give all that it said."""
    deadline = time.monotonic() + PATIENCE
    while words not in (said := log.read_text(errors="replace")):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.1)
    return said


@pytest.mark.parametrize("agent", agents())
def test_the_example_passes_with_the_commands_of_the_readme(agent: str, tmp_path: Path) -> None:
    demand(agent)
    port = str(free_port())
    env = {
        "PATH": f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PORT": port,
        **UNHURRIED,
        **agents_path(),
    }
    serves, works = parsed(lines()[0]), command_for(agent)
    assert works.settings["OPENAI_BASE_URL"] == f"http://127.0.0.1:{MODEL_PORT}/v1"
    if not is_free(MODEL_PORT):
        other = str(free_port())
        serves, works = moved(serves, other, "--port", other), moved(works, other)
    with running(serves, tmp_path, env) as (model, said):
        until(model, said, "A script answers at")
        with running(works, tmp_path, env) as (service, shown):
            until(service, shown, "Phase discovery")
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=PATIENCE) as client:
                (listed,) = ok(client.get("/runs"))["items"]
                run = until_rest(client, listed["id"])
                told = until(service, shown, f" after {len(ATTEMPTS)} attempts")
                attempts = ok(client.get(f"/runs/{run['id']}/attempts"))
                events = ok(client.get(f"/runs/{run['id']}/events", params={"limit": 1000}))["events"]
    assert run["status"] == "completed", run["status_reason"]
    assert "Sprint passed" in told
    assert [(each["phase"], each["number"], each["verdict"]) for each in attempts] == ATTEMPTS
    assert all(each["usage"]["requests"] > 0 for each in attempts)
    produced = [each["data"]["agent"] for each in events if each["event"] == "attempt.produced"]
    assert produced == [agent] * len(ATTEMPTS)
