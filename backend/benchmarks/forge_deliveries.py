"""How soon a delivery of a forge is recorded and acknowledged, at a hundred a second."""

import asyncio
import hashlib
import hmac
import json
import math
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from benchmarks.figures import Series
from benchmarks.page_service import PageService

TITLE = "forge deliveries: from a webhook to its acknowledgement, recorded, at 100 a second"
TARGET_MS = 50.0
RATE, SECONDS = 100, 10

_SECRET = "secret-of-the-benchmark"
_LIMITS = httpx.Limits(max_keepalive_connections=0)
"""Each delivery has its own connection: one that is kept may be closed at the moment of its use."""

_FILE = """
[credentials.acme]
env = "TOKEN"
[forges.github]
credential = "acme"
webhook_secret = { env = "SECRET" }
[[repositories]]
name = "acme/widgets"
forge = "github"
rules = { commands = true }
"""


async def measure(place: Path) -> list[Series]:
    """Send comments without a command; beside that, ask at the same rate for what reads nothing."""
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        file = place / "forges.toml"
        await asyncio.to_thread(file.write_text, _FILE)
        settings = {"FORGES_FILE": str(file), "TOKEN": "unused", "SECRET": _SECRET}
        service = PageService(lease.url, place / "service", settings)
        client = httpx.AsyncClient(base_url=service.url, timeout=60, limits=_LIMITS)
        async with service.running(), client:

            async def plain(_: int) -> bool:
                return (await client.get("/healthz")).is_success

            async def deliver(number: int) -> bool:
                answer = await client.send(_delivery(client, number))
                return answer.is_success and answer.json() == {"status": "recorded"}

            await _at_rate(plain, 1)
            reference, _ = await _at_rate(plain, SECONDS)
            before = service.processor_seconds()
            recorded, lost = await _at_rate(deliver, SECONDS)
            busy = (service.processor_seconds() - before) * 1000 / max(1, len(recorded))
    finally:
        lease.release()
    return [
        Series("delivery -> acknowledged", recorded, target=TARGET_MS),
        Series("the same, p95", [_p95(recorded)]),
        Series("the server's processor time for each", [busy]),
        Series("deliveries without acknowledgement", [float(lost)], unit="", target=0.0),
        Series("reference: /healthz at the same rate", reference),
        Series("the same, p95", [_p95(reference)]),
    ]


async def _at_rate(send: Callable[[int], Awaitable[bool]], seconds: int) -> tuple[list[float], int]:
    """Send whether or not earlier ones were answered; a late start counts as waiting, too.

    Returns:
        Milliseconds of those that were taken, and how many were not.
    """
    took: list[float] = []
    lost = 0
    began = time.perf_counter() + 0.1

    async def one(number: int) -> None:
        nonlocal lost
        due = began + number / RATE
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            is_taken = await send(number)
        except httpx.HTTPError:
            is_taken = False
        if is_taken:
            took.append((time.perf_counter() - due) * 1000)
        else:
            lost += 1

    async with asyncio.TaskGroup() as group:
        for number in range(RATE * seconds):
            group.create_task(one(number))
    return took, lost


def _delivery(client: httpx.AsyncClient, number: int) -> httpx.Request:
    at = "2026-01-01T00:00:00Z"
    payload = {
        "action": "created",
        "issue": {"number": number + 1, "updated_at": at},
        "comment": {"id": number, "body": "Thanks! " * 250, "user": {"login": "ada"}, "created_at": at},
        "repository": {"full_name": "acme/widgets"},
    }
    content = json.dumps(payload).encode()
    digest = hmac.new(_SECRET.encode(), content, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": f"benchmark-{number}",
        "X-Hub-Signature-256": f"sha256={digest}",
    }
    return client.build_request("POST", "/api/v1/forges/github/webhook", content=content, headers=headers)


def _p95(samples: list[float]) -> float:
    return sorted(samples)[math.ceil(len(samples) * 0.95) - 1]
