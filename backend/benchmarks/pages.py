"""The dashboard's figures in a real Chromium: a lost service, long diffs and logs, ten runs at work."""

import asyncio
import time
from pathlib import Path

from playwright.async_api import Browser, Page

from app.db.embedded.server import acquire
from app.db.migrate import upgrade_to_head
from benchmarks.figures import Series
from benchmarks.page_flow import RUNS, flow
from benchmarks.page_service import PageService, chromium

TITLE = "pages: a service that goes away, a diff of 6,000 rows, 10,000 rows that scroll, ten runs at work"
TARGET_MS = 2_000.0
KILLS, LOADS, ROWS = 10, 10, 6_000

_SLOWEST_MS = 60_000

# Clocks of the browser and of this process are the machine's.
_WATCH_BANNER = """() => {
  window.shown = new Promise((tell) => {
    const look = () => document.querySelector("[data-banner=lost]") && tell(Date.now());
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  });
}"""
_WATCH_SOCKET = """() => new Promise((opened) => {
  const socket = new WebSocket(location.origin.replace("http", "ws") + "/api/v1/ws");
  socket.onopen = () => opened();
  window.shown = new Promise((tell) => { socket.onclose = () => tell(Date.now()); });
})"""
_PLAIN = """async (address) => {
  const began = performance.now();
  const told = await fetch(address, { headers: { accept: "text/x-diff" } });
  const shown = Object.assign(document.createElement("pre"), { textContent: await told.text() });
  document.body.replaceChildren(shown);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - began;
}"""


async def measure(place: Path) -> list[Series]:
    """Kill the service below open pages, open and scroll what is long, and watch runs at work.

    Each stands beside what the browser does alone.
    """
    lease = await asyncio.to_thread(acquire, place / "server", throwaway=True)
    try:
        await upgrade_to_head(lease.url)
        service = PageService(lease.url, place / "service", {"WORKER_CONCURRENCY": str(RUNS)})
        async with service.running():
            flowing = await flow(service, lease.url)
            async with chromium() as browser:
                run = await service.escalated(ROWS)
                diffs = await _diffs(browser, service, run)
                banners = await _banners(browser, service, run)
    finally:
        lease.release()
    return [*banners, *diffs, *flowing]


async def _banners(browser: Browser, service: PageService, run: str) -> list[Series]:
    """From `kill -9` of the service to the banner, and to the end of a bare socket in another page."""
    watched, bare = await browser.new_page(), await browser.new_page()
    await watched.goto(f"{service.url}/sprints/{run}", wait_until="domcontentloaded")
    await watched.get_by_role("log").wait_for(timeout=_SLOWEST_MS)
    await bare.goto(f"{service.url}/healthz")
    shown: list[float] = []
    closed: list[float] = []
    for _ in range(KILLS):
        await watched.locator("[data-banner]").wait_for(state="detached", timeout=_SLOWEST_MS)
        await watched.evaluate(_WATCH_BANNER)
        await bare.evaluate(_WATCH_SOCKET)
        # Long enough for the page to be connected again, and to have asked for what it missed.
        await asyncio.sleep(1.0)
        killed = time.time() * 1000
        await service.kill()
        shown.append(await _shown(watched) - killed)
        closed.append(await _shown(bare) - killed)
        await service.start()
    await watched.close()
    await bare.close()
    more = [a - b for a, b in zip(shown, closed, strict=True)]
    return [
        Series("service killed -> banner", shown, target=TARGET_MS),
        Series("reference: -> end of a bare WebSocket", closed),
        Series("banner after the end of the bare one", more),
    ]


async def _shown(page: Page) -> float:
    return float(await page.evaluate("window.shown"))


async def _diffs(browser: Browser, service: PageService, run: str) -> list[Series]:
    """From the address to a line that was chosen by keys, in a browser that has nothing of it yet."""
    first: list[float] = []
    usable: list[float] = []
    whole: list[float] = []
    plain: list[float] = []
    for _ in range(LOADS):
        context = await browser.new_context(viewport={"width": 1280, "height": 900})
        page = await context.new_page()
        began = time.perf_counter()
        await page.goto(f"{service.url}/sprints/{run}/diff", wait_until="commit")
        await page.get_by_text("row_1 = 1", exact=True).wait_for(timeout=_SLOWEST_MS)
        first.append(_since(began))
        await page.keyboard.press("}")
        await page.keyboard.press("j")
        await page.locator(".diff-code-selected").first.wait_for(timeout=_SLOWEST_MS)
        usable.append(_since(began))
        # Far from the screen rows are parts of a longer text.
        await page.get_by_text(f"row_{ROWS} = {ROWS}").wait_for(state="attached")
        whole.append(_since(began))
        await context.close()
        plain.append(await _plain(browser, service, run))
    return [
        Series(f"address -> first rows of a diff of {ROWS:,}", first),
        Series("address -> a line of it is chosen by keys", usable, target=TARGET_MS),
        Series("address -> all of its rows are there", whole),
        Series("reference: fetch it, show it as one <pre>", plain),
        Series("ratio, all rows", [a / b for a, b in zip(whole, plain, strict=True)], unit=""),
    ]


async def _plain(browser: Browser, service: PageService, run: str) -> float:
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    await page.goto(f"{service.url}/healthz")
    address = f"/api/v1/runs/{run}/attempts/discovery/1/diff?against=base"
    took = float(await page.evaluate(_PLAIN, address))
    await context.close()
    return took


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
