"""How the dashboard's pages flow: frames while long lists scroll, and what live updates cost."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from playwright.async_api import Browser, Page, ViewportSize

from app.core.events.agents import AgentProgressData, AgentProgressEvent, ProgressLine
from app.db.engine import create_engine, create_sessions, plain_url
from app.realtime.store import append_events
from benchmarks.figures import Series
from benchmarks.page_runs import add_runs, filter_frames, open_all
from benchmarks.page_service import PageService, chromium

RUNS = 10
FRAME_MS = 50.0
"""The longest frame while a list of 10,000 rows scrolls."""
CORE_PERCENT = 5.0
"""Of one core: what the renderer of a page may take while ten runs are at work."""

_ROWS, _PASSES, _WINDOWS = 10_000, 3, 6
_WINDOW_SECONDS = 5.0
_LINES_PER_EVENT = 200
_SLOWEST_MS = 60_000
_TASKS = ("toplevel",)
"""What is traced: each task of each thread, with the processor time that it took."""
_SIZE: ViewportSize = {"width": 1280, "height": 900}

# From the first row to the last and back, as fast as a wheel goes; the time between two frames, each.
_SCROLL = """async (box) => {
  const frames = [];
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const last = box.scrollHeight - box.clientHeight;
  for (const from of [0, last]) {
    box.scrollTop = from;
    for (let each = 0; each < 10; each += 1) await next();
    let before = await next();
    for (let at = 0; at <= last; at += 600) {
      box.scrollTop = from === 0 ? at : last - at;
      const now = await next();
      frames.push(now - before);
      before = now;
    }
  }
  return frames;
}"""
_PLAIN_LIST = """(rows) => {
  const box = Object.assign(document.createElement("pre"), {
    textContent: Array.from({ length: rows }, (_, at) => `line ${at} of many`).join("\\n"),
  });
  box.style = "height: 60vh; overflow: auto; margin: 0; font: 12.5px/18px monospace";
  document.body.replaceChildren(box);
}"""
_PLAIN_SOCKET = """() => {
  const shown = document.body.appendChild(document.createElement("p"));
  let count = 0;
  const socket = new WebSocket(location.origin.replace("http", "ws") + "/api/v1/ws");
  socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", run: "runs" }));
  socket.onmessage = () => { count += 1; shown.textContent = String(count); };
}"""


@dataclass(frozen=True)
class _Scrolled:
    """Milliseconds of each frame, and of the longest task by processor time; both for each pass."""

    frames: list[list[float]]
    tasks: list[float]


_Act = Callable[[], Awaitable[list[float]]]
"""Does something with a page; gives milliseconds of each frame."""


async def flow(service: PageService, database_url: str) -> list[Series]:
    """Scroll lists of 10,000 rows, and watch pages at rest and with ten runs at work."""
    run = await service.escalated(_ROWS)
    await _append_lines(database_url, UUID(run))
    async with chromium() as browser:
        scrolled = [
            *await _scrolled(browser, service, run),
            *_frames("reference: scroll one <pre> of as many", await _plain_frames(browser, service), None),
        ]
    live = await _live(service)
    # Last: what is measured before has few runs beside it.
    return [*scrolled, *await _runs(service, database_url), *live]


async def _append_lines(database_url: str, run_id: UUID) -> None:
    """Store lines of an agent's log as a worker stores them."""
    engine = create_engine(plain_url(database_url), pool_size=1)
    now = datetime.now(UTC)
    events = [
        AgentProgressEvent(
            run_id=run_id,
            sprint_id=run_id,
            phase="discovery",
            attempt=1,
            data=AgentProgressData(
                lines=[
                    ProgressLine(text=f"line {number} of many", at=now)
                    for number in range(first, first + _LINES_PER_EVENT)
                ]
            ),
        )
        for first in range(0, _ROWS, _LINES_PER_EVENT)
    ]
    try:
        async with create_sessions(engine)() as session, session.begin():
            await append_events(session, run_id, events)
    finally:
        await engine.dispose()


async def _scrolled(browser: Browser, service: PageService, run: str) -> list[Series]:
    """The frames of a log that is scrolled in its box, and of a diff that is scrolled with its page."""
    page = await browser.new_page(viewport=_SIZE)
    await page.goto(f"{service.url}/sprints/{run}", wait_until="domcontentloaded")
    await page.get_by_text(f"line {_ROWS - 1} of many", exact=True).wait_for(timeout=_SLOWEST_MS)
    log = await _passes(browser, page, _scroll(page, "[role=log]"))
    await page.goto(f"{service.url}/sprints/{run}/diff", wait_until="domcontentloaded")
    # Far from the screen rows are parts of a longer text.
    last = page.get_by_text(f"row_{_ROWS} = {_ROWS}")
    await last.wait_for(state="attached", timeout=_SLOWEST_MS)
    diff = await _passes(browser, page, _scroll(page, "html"))
    await page.close()
    return [
        *_frames(f"scroll {_ROWS:,} lines of a log", log, FRAME_MS),
        *_frames(f"scroll a diff of {_ROWS:,} rows", diff, FRAME_MS),
    ]


async def _plain_frames(browser: Browser, service: PageService) -> _Scrolled:
    page = await browser.new_page(viewport=_SIZE)
    await page.goto(f"{service.url}/healthz")
    await page.evaluate(_PLAIN_LIST, _ROWS)
    scrolled = await _passes(browser, page, _scroll(page, "pre"))
    await page.close()
    return scrolled


async def _runs(service: PageService, database_url: str) -> list[Series]:
    """The frames of a list of runs that is scrolled with its page, and whose filters change."""
    await add_runs(service, database_url, _ROWS)
    async with chromium() as browser:
        page = await browser.new_page(viewport=_SIZE)
        await open_all(page, service.url, _ROWS)
        scrolled = await _passes(browser, page, _scroll(page, "html"))
        filtered = await _passes(browser, page, lambda: filter_frames(page))
    return [
        *_frames(f"scroll a list of {_ROWS:,} runs", scrolled, FRAME_MS),
        *_frames(f"filter a list of {_ROWS:,} runs", filtered, FRAME_MS),
    ]


def _scroll(page: Page, box: str) -> _Act:
    async def act() -> list[float]:
        return [float(each) for each in await page.locator(box).first.evaluate(_SCROLL)]

    return act


async def _passes(browser: Browser, page: Page, act: _Act) -> _Scrolled:
    """Do it some times; then with a trace, which makes frames longer."""
    frames = [await act() for _ in range(_PASSES)]
    tasks: list[float] = []
    for _ in range(_PASSES):
        await browser.start_tracing(page=page, categories=list(_TASKS))
        await act()
        tasks.append(_longest_task(await browser.stop_tracing()))
    return _Scrolled(frames, tasks)


def _longest_task(trace: bytes) -> float:
    """Milliseconds of processor time of the longest task of a renderer's main thread.

    Other work on the machine lengthens frames, but not this.
    """
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    mains = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    return max(
        each["tdur"] / 1000 for each in events if "tdur" in each and (each["pid"], each["tid"]) in mains
    )


def _frames(name: str, scrolled: _Scrolled, target: float | None) -> list[Series]:
    every = [frame for each in scrolled.frames for frame in each]
    return [
        Series(f"{name}: each frame", every),
        Series("... the longest frame of each pass", [max(each) for each in scrolled.frames], target=target),
        Series("... processor time of its longest task", scrolled.tasks, target=target),
    ]


async def _live(service: PageService) -> list[Series]:
    """What the renderer of one page takes of a core; each page has a browser with nothing else open."""
    rest = await _share(service, "/")
    # An edit every two seconds each, for longer than is measured.
    edits = [
        {"kind": "write", "path": f"{each}.md", "content": "x\n", "pause_seconds": 2.0} for each in range(100)
    ]
    runs = [await service.begin(edits) for _ in range(RUNS)]
    await service.working(runs)
    listed = await _share(service, "/")
    watched = await _share(service, f"/sprints/{runs[0]}")
    plain = await _share(service, "/healthz", _PLAIN_SOCKET)
    await service.cancel(runs)
    name = "share of a core:"
    return [
        Series(f"{name} list of runs, {RUNS} at work", listed, unit="%", target=CORE_PERCENT),
        Series(f"{name} one run of {RUNS} at work", watched, unit="%", target=CORE_PERCENT),
        Series("reference: a bare page that counts the events", plain, unit="%"),
        Series("reference: list of runs, none at work", rest, unit="%"),
    ]


async def _share(service: PageService, path: str, script: str | None = None) -> list[float]:
    """Percent of a core, in windows of some seconds, from when the page has come to rest."""
    async with _opened(service.url + path) as (browser, page):
        if script is not None:
            await page.evaluate(script)
        await asyncio.sleep(_WINDOW_SECONDS)
        windows: list[float] = []
        for _ in range(_WINDOWS):
            began, before = time.perf_counter(), await _renderer_seconds(browser)
            await asyncio.sleep(_WINDOW_SECONDS)
            took = await _renderer_seconds(browser) - before
            windows.append(100 * took / (time.perf_counter() - began))
        return windows


@asynccontextmanager
async def _opened(url: str) -> AsyncGenerator[tuple[Browser, Page]]:
    async with chromium() as browser:
        page = await browser.new_page(viewport=_SIZE)
        await page.goto(url, wait_until="load")
        yield browser, page


async def _renderer_seconds(browser: Browser) -> float:
    """Processor time of all renderers so far: there is one page, and others only wait for one."""
    session = await browser.new_browser_cdp_session()
    ask = cast("Callable[[str], Awaitable[dict[str, Any]]]", session.send)
    found = await ask("SystemInfo.getProcessInfo")
    await session.detach()
    return sum(float(each["cpuTime"]) for each in found["processInfo"] if each["type"] == "renderer")
