"""Checks what PhaseRunner needs on this machine. Every probe returns a value and leaves nothing behind."""

import os
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
import asyncpg
import httpx
from uv import find_uv_bin

from app.cli.api_client import ApiClient
from app.cli.exits import CliError
from app.composition.providers import provider_keys
from app.composition.sandbox import build_sandbox
from app.core.config import Settings
from app.core.errors import PhaseRunnerError
from app.db.embedded import server_status
from app.db.engine import plain_url
from app.schemas.modes import EnvironmentMode
from app.workspaces.environments.shelf import Shelf, size_of
from app.workspaces.process import run_process

Level = Literal["ok", "warn", "fail"]
_OLDEST_GIT = (2, 31)
_LITTLE_SPACE = 2_000_000_000
_PROBE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe.

    Attributes:
        name: what was checked.
        level: `ok`; `warn`: something works less well; `fail`: nothing works without it.
        detail: what was found.
        advice: what to do about it; empty if nothing is wrong.
    """

    name: str
    level: Level
    detail: str
    advice: str = ""

    def document(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return asdict(self)


async def examine(settings: Settings, data_dir: Path, api: ApiClient) -> list[ProbeResult]:
    """Check everything, in the order in which things depend on each other."""
    probes: Sequence[Callable[[], Awaitable[ProbeResult]]] = (
        python,
        git,
        lambda: data_directory(data_dir),
        lambda: disk(data_dir),
        lambda: database(settings, data_dir),
        lambda: sandbox(settings),
        lambda: environments(settings, data_dir),
        tools,
        lambda: models(settings),
        lambda: server(api),
    )
    return [await probe() for probe in probes]


async def python() -> ProbeResult:
    """Check the interpreter. An older one than supported could not run this code."""
    return ProbeResult("python", "ok", f"{platform.python_version()} ({sys.executable})")


async def git() -> ProbeResult:
    """Check that git is installed and new enough."""
    path = shutil.which("git")
    if path is None:
        return ProbeResult("git", "fail", "not found", "install git")
    said = (await _run([path, "--version"])).removeprefix("git version ").strip()
    numbers = tuple(int(part) for part in said.split(" ")[0].split(".")[:2] if part.isdigit())
    if numbers < _OLDEST_GIT:
        return ProbeResult("git", "fail", said, f"install git {'.'.join(map(str, _OLDEST_GIT))} or newer")
    return ProbeResult("git", "ok", said)


async def data_directory(data_dir: Path) -> ProbeResult:
    """Check that DATA_DIR, or the directory in which it will be created, can be written to."""
    place = _existing(data_dir)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        advice = "make it writable, or name another directory in DATA_DIR"
        return ProbeResult("data directory", "fail", f"{data_dir} cannot be written to", advice)
    return ProbeResult(
        "data directory", "ok", f"{data_dir}" + ("" if place == data_dir else " (created when needed)")
    )


async def disk(data_dir: Path) -> ProbeResult:
    """Check the free space at DATA_DIR."""
    free = shutil.disk_usage(_existing(data_dir)).free
    detail = f"{free / 1e9:.1f} GB free"
    if free < _LITTLE_SPACE:
        return ProbeResult("disk", "warn", detail, f"free some space below {data_dir}; 2 GB is enough")
    return ProbeResult("disk", "ok", detail)


async def database(settings: Settings, data_dir: Path) -> ProbeResult:
    """Check the server in DATABASE_URL, or the embedded one."""
    if settings.DATABASE_URL is not None:
        return await external_database(settings.DATABASE_URL.get_secret_value())
    try:
        status = await anyio.to_thread.run_sync(server_status, data_dir)
    except PhaseRunnerError as error:
        return ProbeResult("postgres", "fail", error.detail, "install Postgres, or set DATABASE_URL")
    state = f"running on port {status.port}" if status.port else "not running (started when needed)"
    return ProbeResult("postgres", "ok", f"embedded {status.version}, {state}, data in {status.home}")


async def external_database(url: str) -> ProbeResult:
    """Check that a database is reachable. Its URL, which may hold a password, is not shown."""
    try:
        connection = await asyncpg.connect(plain_url(url), timeout=_PROBE_SECONDS)
    except PhaseRunnerError as error:
        return ProbeResult("postgres", "fail", f"DATABASE_URL: {error.detail}", "correct DATABASE_URL")
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        detail = f"DATABASE_URL cannot be used: {type(error).__name__}"
        return ProbeResult("postgres", "fail", detail, "check that the server runs and DATABASE_URL is right")
    try:
        found = connection.get_server_version()
    finally:
        await connection.close()
    if found.major < 15:
        return ProbeResult(
            "postgres", "fail", f"DATABASE_URL: Postgres {found.major}", "use Postgres 15 or newer"
        )
    return ProbeResult("postgres", "ok", f"DATABASE_URL: Postgres {found.major}.{found.minor}")


async def sandbox(settings: Settings) -> ProbeResult:
    """Check that programs are really confined. In some containers, an installed sandbox does not work."""
    state = await build_sandbox(settings).state()
    if state.confined:
        return ProbeResult("sandbox", "ok", state.detail)
    detail, _, advice = state.detail.partition("; ")
    if state.allowed:
        return ProbeResult(
            "sandbox", "warn", detail, advice or "every verdict says so; SANDBOX=required confines"
        )
    return ProbeResult("sandbox", "fail", f"{detail}: no test of a workspace can be judged", advice)


async def environments(settings: Settings, data_dir: Path) -> ProbeResult:
    """Check what installs the packages that workspaces declare, and how many environments are kept."""
    if settings.WORKSPACE_PYTHON is not None:
        return ProbeResult(
            "environments", "ok", f"none are created: WORKSPACE_PYTHON is {settings.WORKSPACE_PYTHON}"
        )
    if settings.WORKSPACE_ENVIRONMENTS is EnvironmentMode.OFF:
        advice = "WORKSPACE_ENVIRONMENTS=auto evaluates workspaces with the packages that they declare"
        return ProbeResult(
            "environments", "warn", "none are created: workspaces see this service's packages", advice
        )
    try:
        said = (await _run([find_uv_bin(), "--version"])).strip()
    except FileNotFoundError:
        return ProbeResult("environments", "fail", "uv is missing", "install PhaseRunner again")
    count, size = await anyio.to_thread.run_sync(Shelf(data_dir / "environments").contents)
    _, built = await anyio.to_thread.run_sync(Shelf(data_dir / "extensions").contents)
    cache = await anyio.to_thread.run_sync(size_of, data_dir / "uv-cache")
    network = "" if settings.ENVIRONMENT_NETWORK else ", no network"
    modules = f"compiled modules {built / 1e6:.0f} MB, " if built else ""
    kept = f"{count} kept ({size / 1e6:.0f} MB), {modules}downloads {cache / 1e6:.0f} MB"
    return ProbeResult("environments", "ok", f"{said}{network}; {kept}")


async def tools() -> ProbeResult:
    """Check the tools that judge Python projects."""
    found: list[str] = []
    missing: list[str] = []
    for name in ("ruff", "mypy", "pytest"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return ProbeResult(
            "evaluators", "fail", f"missing: {', '.join(missing)}", "install PhaseRunner again"
        )
    return ProbeResult("evaluators", "ok", ", ".join(found))


async def models(settings: Settings) -> ProbeResult:
    """Check which providers have a key. Keys are never shown."""
    configured = [
        name
        for name, value in (
            ("ANTHROPIC_API_KEY", settings.ANTHROPIC_API_KEY),
            ("OPENAI_API_KEY", settings.OPENAI_API_KEY),
            ("OPENAI_BASE_URL", settings.OPENAI_BASE_URL),
        )
        if value
    ]
    if not configured:
        advice = "set ANTHROPIC_API_KEY or OPENAI_API_KEY; the examples need none"
        return ProbeResult(
            "models", "warn", "no provider key is configured: no agent, no LLM evaluators", advice
        )
    fallback = settings.EVALUATOR_FALLBACK_MODEL
    if fallback and not provider_keys(settings).has_key_for(fallback):
        detail = f"{', '.join(configured)} set, but no key for EVALUATOR_FALLBACK_MODEL={fallback}"
        return ProbeResult("models", "warn", detail, "set its provider's key; until then it is not used")
    if settings.OPENAI_BASE_URL:
        return await compatible_server(settings)
    return ProbeResult("models", "ok", f"{', '.join(configured)} set")


async def compatible_server(settings: Settings) -> ProbeResult:
    """Check that the server at OPENAI_BASE_URL lists its models, including the one that agents use."""
    address = (settings.OPENAI_BASE_URL or "").rstrip("/")
    key = settings.OPENAI_API_KEY.get_secret_value() if settings.OPENAI_API_KEY else "none"
    try:
        async with httpx.AsyncClient(timeout=_PROBE_SECONDS, trust_env=False) as client:
            answer = await client.get(f"{address}/models", headers={"Authorization": f"Bearer {key}"})
        answer.raise_for_status()
        listed = [str(each["id"]) for each in answer.json()["data"]]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        advice = "start the server, and check the address: it usually ends with /v1"
        reason = f"{type(error).__name__}: {error}"[:200]
        return ProbeResult("models", "warn", f"OPENAI_BASE_URL lists no models: {reason}", advice)
    wanted = (settings.AGENT_MODEL or "").partition(":")[2]
    if wanted and settings.AGENT_MODEL and settings.AGENT_MODEL.startswith("openai") and wanted not in listed:
        known = ", ".join(listed[:5]) or "none"
        advice = f"set AGENT_MODEL to one of its models: {known}"
        return ProbeResult("models", "warn", f"{address} has no model {wanted}", advice)
    return ProbeResult("models", "ok", f"{address} answers, {len(listed)} models")


async def server(api: ApiClient) -> ProbeResult:
    """Check that the service in the settings is ready, its version, and whether it accepts our token."""
    if not await api.is_ready():
        advice = "start it with: phaserunner serve; or name another one with --url or PHASERUNNER_URL"
        return ProbeResult("server", "warn", f"no service is ready at {api.url}", advice)
    try:
        info = await api.json("GET", "/info")
    except CliError as error:
        advice = "set PHASERUNNER_TOKEN, or pass --token; create one with: phaserunner tokens create NAME"
        return ProbeResult("server", "warn", f"ready at {api.url}, but it refuses: {error.message}", advice)
    theirs, ours = str(info.get("version", "unknown")), version("phaserunner")
    if theirs != ours:
        detail = f"{api.url} runs version {theirs}; this is {ours}"
        return ProbeResult("server", "warn", detail, "upgrade the older one (docs/operations.md)")
    return ProbeResult("server", "ok", f"ready at {api.url}, version {theirs}")


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


async def _run(command: Sequence[str]) -> str:
    try:
        outcome = await run_process(command, cwd=Path("/"), env={"LC_ALL": "C"}, timeout=_PROBE_SECONDS)
    except OSError as error:
        return str(error)
    return outcome.stdout
