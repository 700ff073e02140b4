"""`doctor --network` takes the ways that the service will take, and says what bars them."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.cli.network_probes import Destination, destinations, examine_network, reach
from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.outbound import Outbound
from tests.certificates import serving_https

pytestmark = pytest.mark.anyio

_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server(tmp_path: Path) -> Generator[tuple[str, Path]]:
    with serving_https(tmp_path) as found:
        yield found


def settings(**given: object) -> Settings:
    return Settings(_env_file=None, **given)  # pyright: ignore[reportArgumentType] - checked by pydantic


def apply(monkeypatch: pytest.MonkeyPatch, outbound: Outbound) -> None:
    for name, value in outbound.variables().items():
        monkeypatch.setenv(name, value)


@asynccontextmanager
async def proxy(
    port: int, answer: bytes = b"HTTP/1.1 200 OK\r\n\r\n"
) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """A proxy whose every tunnel leads to one port of this machine; yields its URL and what it was asked."""
    asked: list[bytes] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.splitlines()[0])
        writer.write(answer)
        if not answer.startswith(b"HTTP/1.1 200"):
            writer.close()
            return
        there, back = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.TaskGroup() as group:
            group.create_task(pipe(reader, back))
            group.create_task(pipe(there, writer))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", asked


async def test_a_certificate_that_is_not_trusted_leads_to_the_setting(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, trusted = server
    place = Destination("models of OpenAI", f"{address}/v1")
    before = await reach(place)
    assert (before.level, "CA_BUNDLE" in before.advice) == ("fail", True), before
    assert "certificate is not trusted" in before.detail
    apply(monkeypatch, Outbound(ca_bundle=trusted))
    after = await reach(place)
    assert (after.level, after.detail) == ("ok", f"{address}/v1 answers (404)")


async def test_git_uv_and_npm_trust_the_bundle(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, trusted = server
    forges = tmp_path / "forges.toml"
    forges.write_text(
        f"""
        [credentials.bot]
        env = "BOT"
        [forges.company]
        api = "{address}"
        web = "{address}"
        credential = "bot"
        [[repositories]]
        name = "team/project"
        forge = "company"
        """,
        encoding="utf-8",
    )
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{address}/simple")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
    programs = {"git", "uv", "forge company", *(["npm"] if shutil.which("npm") else [])}

    async def told() -> dict[str, str]:
        found = await examine_network(settings(FORGES_FILE=forges), tmp_path)
        return {
            each.name: each.advice if each.level == "fail" else "" for each in found if each.name in programs
        }

    for each in (*Outbound(ca_bundle=trusted).variables(), "SSL_CERT_DIR"):
        monkeypatch.delenv(each, raising=False)
    before = await told()
    assert before.keys() == programs
    assert all("CA_BUNDLE" in each for each in before.values()), before
    apply(monkeypatch, Outbound(ca_bundle=trusted))
    after = await told()
    # The server has nothing for them: what they miss now is no trust.
    assert not any("CA_BUNDLE" in each for each in after.values()), after


async def test_the_way_leads_through_the_proxy(
    server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, trusted = server
    async with proxy(int(address.rpartition(":")[2])) as (url, asked):
        apply(monkeypatch, Outbound(ca_bundle=trusted, proxy=url))
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        found = await reach(Destination("webhook", f"{address}/hook/secret", secret=True))
    assert (found.level, found.detail) == ("ok", f"{address} answers (404)")
    assert asked == [f"CONNECT {address.removeprefix('https://')} HTTP/1.1".encode()]


async def test_a_proxy_that_wants_a_password_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with proxy(9, refusal) as (url, _):
        apply(monkeypatch, Outbound(proxy=url))
        found = await reach(Destination("chat team", "https://hooks.invalid/T0/secret", secret=True))
    assert (found.level, "OUTBOUND_PROXY" in found.advice) == ("fail", True), found
    assert "secret" not in f"{found.detail}{found.advice}".replace("secret =", "")


async def test_a_proxy_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apply(monkeypatch, Outbound(proxy="http://me:hidden@127.0.0.1:9"))
    found = {each.name: each for each in await examine_network(settings(), tmp_path)}
    assert found["proxy"].level == "fail"
    assert "hidden" not in str(found)
    assert "127.0.0.1:9" in found["proxy"].detail


async def test_a_name_that_nobody_knows_is_said() -> None:
    found = await reach(Destination("models of Anthropic", "https://models.invalid"))
    assert (found.level, "OUTBOUND_PROXY" in found.advice) == ("fail", True)


def test_what_is_asked_comes_from_the_settings(tmp_path: Path) -> None:
    chats = tmp_path / "notifications.toml"
    chats.write_text('[receivers.team]\nkind = "slack"\nurl = { env = "CHAT" }\n', encoding="utf-8")
    given = settings(
        ANTHROPIC_API_KEY="sk-hidden",
        OPENAI_API_KEY=None,
        OPENAI_BASE_URL="https://models.example/v1",
        GEMINI_API_KEY=None,
        WEBHOOK_URLS="https://hooks.example/token",
        NOTIFICATIONS_FILE=chats,
    )
    found = [*destinations(given, {"CHAT": "https://chat.example/T0/B0"})]
    assert [(each.name, each.shown) for each in found] == [
        ("models of Anthropic", "https://api.anthropic.com"),
        ("models of OpenAI", "https://models.example/v1"),
        ("webhook", "https://hooks.example"),
        ("chat team", "https://chat.example"),
    ]


async def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    (only,) = await examine_network(settings(FORGES_FILE=tmp_path / "away.toml"), tmp_path)
    assert (only.level, "FORGES_FILE" in only.detail) == ("fail", True)
    with pytest.raises(InvalidInputError):
        [*destinations(settings(FORGES_FILE=tmp_path / "away.toml"), {})]
