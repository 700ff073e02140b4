"""Tests the connection to every other machine in the settings, with the programs that will use it."""

import asyncio
import os
import re
import shutil
import ssl
import tempfile
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

import httpx
from uv import find_uv_bin

from app.agents.models.providers import ANTHROPIC_URL, OPENAI_URL
from app.cli.probes import ProbeResult
from app.core.config import Settings
from app.core.credentials import Credentials
from app.core.errors import PhaseRunnerError, UnavailableError
from app.core.outbound import authorities, shown_proxy
from app.forges.operator_file import load_forges
from app.gateway.upstreams import GEMINI_URL
from app.notifications.operator_file import load_notifications
from app.workspaces.environments.setup import setup_variables
from app.workspaces.environments.uv_words import uv_variables
from app.workspaces.history.git import Git, GitTarget
from app.workspaces.process import run_process

_SECONDS = 20.0
_PACKAGE = "iniconfig"
"""A small package of the index, which the project itself needs."""

_PROXY_ASKS = 407
_MAX_REPOSITORIES = 3
_MAX_DETAIL_CHARS = 300

_UNTRUSTED = "set CA_BUNDLE to a PEM file that holds your company's authority beside the public ones"
_UNKNOWN = "check the name; if only a proxy knows it, set OUTBOUND_PROXY"
_AWAY = "check the address and the firewall; if a proxy is needed, set OUTBOUND_PROXY"
_PROXY = (
    "check OUTBOUND_PROXY, with user and password if it asks for them; OUTBOUND_NO_PROXY names exceptions"
)
_WORDS = (
    (re.compile(r"certificate|self.signed|unable to get local issuer|UNABLE_TO_", re.IGNORECASE), _UNTRUSTED),
    (re.compile(r"\bproxy|\b407\b", re.IGNORECASE), _PROXY),
    (re.compile(r"resolve|ENOTFOUND|dns error|EAI_AGAIN|name or service", re.IGNORECASE), _UNKNOWN),
)
_ASKS_FOR_LOGIN = re.compile(r"could not read Username|Authentication failed|\b40[13]\b", re.IGNORECASE)


class Destination(NamedTuple):
    """An address to reach.

    Attributes:
        name: its purpose.
        url: the address.
        secret: True if only its host may be shown.
    """

    name: str
    url: str
    secret: bool = False

    @property
    def shown(self) -> str:
        """The part of the address that may be shown."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}" if self.secret else f"{parts.scheme}://{host}{parts.path}"


async def examine_network(settings: Settings, cwd: Path) -> list[ProbeResult]:
    """Test the proxy, the authorities, git, uv, npm, models, forges, webhooks, chats and the mail server.

    Args:
        settings: names the machines; already applied to this process's environment.
        cwd: a directory; git tests its remote repository.
    """
    environ = os.environ  # noqa: TID251 - proxies, certificates and registries, as programs get them
    try:
        places = [*destinations(settings, environ)]
        mail = load_notifications(settings.NOTIFICATIONS_FILE).smtp
        repositories = await _repositories(settings, cwd, environ)
    except PhaseRunnerError as error:
        return [ProbeResult("settings", "fail", f"{error.field or 'a file'}: {error.detail}")]
    probes: list[Coroutine[None, None, ProbeResult]] = [
        _authorities(settings, environ),
        _proxy(),
        *(_git(url, environ) for url in repositories),
        _uv(environ),
        _npm(environ),
        *map(reach, places),
    ]
    if mail is not None:
        probes.append(_connect("mail server", mail.host, mail.port, _AWAY))
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(each) for each in probes]
    return [each.result() for each in running]


def destinations(settings: Settings, environ: Mapping[str, str]) -> Iterator[Destination]:
    """Yield the addresses that the service uses over HTTP.

    Raises:
        InvalidInputError: FORGES_FILE or NOTIFICATIONS_FILE cannot be read.
    """
    models = (
        ("Anthropic", settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL, ANTHROPIC_URL),
        ("OpenAI", settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL, OPENAI_URL),
        ("Gemini", settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL, GEMINI_URL),
    )
    for name, key, own, public in models:
        if key or own:
            yield Destination(f"models of {name}", own or public)
    for name, forge in load_forges(settings.FORGES_FILE).forges.items():
        yield Destination(f"forge {name}", forge.api)
    for url in settings.WEBHOOK_URLS:
        yield Destination("webhook", url, secret=True)
    for name, receiver in load_notifications(settings.NOTIFICATIONS_FILE).receivers.items():
        if receiver.kind == "email":
            continue
        # `notify test` reports a missing address.
        with suppress(UnavailableError):
            url = Credentials(environ=environ).secret(receiver.url.place, name)
            yield Destination(f"chat {name}", url, secret=True)


async def reach(place: Destination) -> ProbeResult:
    """Send a HEAD request to an address. Any response shows that it can be reached."""
    parts = urlsplit(place.url)
    # A chat's whole address is secret, and a request to it would show nothing useful.
    url = f"{parts.scheme}://{parts.netloc}/" if place.secret else place.url
    try:
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            answer = await client.head(url)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        said, advice = _of_error(error)
        return ProbeResult(place.name, "fail", f"{place.shown}: {said}", advice)
    if answer.status_code == _PROXY_ASKS:
        return ProbeResult(place.name, "fail", f"{place.shown}: the proxy asks for a password", _PROXY)
    return ProbeResult(place.name, "ok", f"{place.shown} answers ({answer.status_code})")


def _of_error(error: BaseException) -> tuple[str, str]:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message}", _UNTRUSTED
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {_SECONDS:g} s", _AWAY
    said = str(error)[:_MAX_DETAIL_CHARS] or type(error).__name__
    return said, _PROXY if isinstance(error, httpx.ProxyError) else _advice(said)


def _advice(said: str) -> str:
    return next((advice for pattern, advice in _WORDS if pattern.search(said)), _AWAY)


async def _authorities(settings: Settings, environ: Mapping[str, str]) -> ProbeResult:
    named = settings.CA_BUNDLE or environ.get("SSL_CERT_FILE")
    if not named:
        return ProbeResult("authorities", "ok", "each program's own; set CA_BUNDLE to use others")
    path = Path(named)
    try:
        count = authorities(path)
    except PhaseRunnerError as error:
        return ProbeResult("authorities", "fail", error.detail, _UNTRUSTED)
    detail = f"{count} in {path}"
    if count == 1:
        return ProbeResult(
            "authorities", "warn", detail, "hosts that the proxy leaves alone will not be trusted"
        )
    return ProbeResult("authorities", "ok", detail)


async def _proxy() -> ProbeResult:
    proxies = getproxies_environment()
    url = proxies.get("https") or proxies.get("all") or proxies.get("http")
    if not url:
        return ProbeResult("proxy", "ok", "none; set OUTBOUND_PROXY to use one")
    parts = urlsplit(url if "://" in url else f"http://{url}")
    found = await _connect("proxy", parts.hostname or "", parts.port or 80, _PROXY)
    exceptions = f", but not for {proxies['no']}" if proxies.get("no") else ""
    return replace(found, detail=f"{shown_proxy(url)}: {found.detail}{exceptions}")


async def _connect(name: str, host: str, port: int, advice: str) -> ProbeResult:
    try:
        async with asyncio.timeout(_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        said = str(error) or f"no answer within {_SECONDS:g} s"
        return ProbeResult(name, "fail", f"{host}:{port}: {said}", advice)
    writer.close()
    return ProbeResult(name, "ok", f"{host}:{port} is reachable")


async def _repositories(settings: Settings, cwd: Path, environ: Mapping[str, str]) -> list[str]:
    forges = load_forges(settings.FORGES_FILE)
    named = [f"{forges.forges[each.forge].web}/{each.name}.git" for each in forges.repositories]
    if named or not shutil.which("git"):
        return named[:_MAX_REPOSITORIES]
    command = ["remote", "get-url", "origin"]
    found = await Git.find(environ).attempt(command, GitTarget(None), cwd=cwd, timeout=_SECONDS)
    url = found.stdout.decode(errors="replace").strip()
    return [url] if url.startswith("https://") else []


async def _git(url: str, environ: Mapping[str, str]) -> ProbeResult:
    shown = Destination("git", url).shown
    program = Git.find(environ)
    outcome = await program.attempt(
        ["ls-remote", "--quiet", url, "HEAD"],
        GitTarget(None),
        env={**program.transport_env, "GIT_ALLOW_PROTOCOL": "https"},
        timeout=_SECONDS,
    )
    if outcome.returncode == 0:
        return ProbeResult("git", "ok", f"{shown} answers")
    if _ASKS_FOR_LOGIN.search(outcome.stderr):
        return ProbeResult("git", "ok", f"{shown} answers, and asks for a login")
    return _failed("git", shown, outcome.stderr, timed_out=outcome.timed_out)


async def _uv(environ: Mapping[str, str]) -> ProbeResult:
    env = uv_variables(environ)
    index = env.get("UV_DEFAULT_INDEX") or env.get("UV_INDEX_URL") or "https://pypi.org/simple"
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "wanted.in").write_text(f"{_PACKAGE}\n", encoding="utf-8")
        command = [find_uv_bin(), "pip", "compile", "--quiet", "--no-cache", "--no-config", "wanted.in"]
        env |= {"HOME": place, "UV_HTTP_RETRIES": "0"}
        return await _program("uv", Destination("uv", index).shown, command, env, Path(place))


async def _npm(environ: Mapping[str, str]) -> ProbeResult:
    npm = shutil.which("npm")
    if npm is None:
        return ProbeResult("npm", "ok", "not installed, not tried")
    env = setup_variables(environ) | {
        name: value for name, value in environ.items() if name.lower().endswith("_proxy") or name == "PATH"
    }
    registry = env.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org")
    with tempfile.TemporaryDirectory() as place:
        command = [npm, "view", "npm", "name", "--fetch-retries=0", "--cache", place]
        shown = Destination("npm", registry).shown
        return await _program("npm", shown, command, {**env, "HOME": place}, Path(place))


async def _program(
    name: str, shown: str, command: Sequence[str], env: Mapping[str, str], cwd: Path
) -> ProbeResult:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", **env}
    try:
        outcome = await run_process(command, cwd=cwd, env=env, timeout=_SECONDS)
    except OSError as error:
        return ProbeResult(name, "fail", f"{command[0]} cannot be started: {error.strerror}")
    if outcome.returncode == 0:
        return ProbeResult(name, "ok", f"{shown} answers")
    return _failed(name, shown, outcome.stderr or outcome.stdout, timed_out=outcome.timed_out)


def _failed(name: str, shown: str, said: str, *, timed_out: bool) -> ProbeResult:
    if timed_out:
        return ProbeResult(name, "fail", f"{shown}: no answer within {_SECONDS:g} s", _AWAY)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = " ".join(lines)[-_MAX_DETAIL_CHARS:]
    return ProbeResult(name, "fail", f"{shown}: {told}", _advice(said))
