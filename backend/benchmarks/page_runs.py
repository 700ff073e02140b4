"""How the list of runs flows with 10,000 of them: frames while it scrolls, and while filters change."""

import asyncio

from playwright.async_api import Page
from sqlalchemy import text

from app.db.engine import create_engine, plain_url
from benchmarks.page_service import PageService

FILTERS = ("completed", "failed")

_SLOWEST_MS = 120_000

_COLUMNS = """
    SELECT string_agg(column_name, ', ') FROM information_schema.columns
    WHERE table_name = 'runs' AND table_schema = 'public' AND is_generated = 'NEVER'
"""
# Copies of a run that is over, a minute apart; each third one failed.
_COPIES = """
    INSERT INTO runs ({columns}) SELECT {columns} FROM (SELECT (jsonb_populate_record(one, jsonb_build_object(
        'id', gen_random_uuid(), 'name', 'run ' || n,
        'status', CASE WHEN n % 3 = 0 THEN 'failed' ELSE 'completed' END,
        'created_at', one.created_at - n * interval '1 minute'
    ))).* FROM runs AS one, generate_series(1, :count) n WHERE one.id = CAST(:run AS uuid)) made
"""
_END = """async (wanted) => {
  const shown = () => document.querySelector("main").textContent.includes(`${wanted} runs shown`);
  while (!shown()) {
    window.scrollTo(0, document.documentElement.scrollHeight);
    await new Promise((done) => setTimeout(done, 50));
  }
}"""
# Each filter is chosen and left again while all runs are loaded; the time between two frames, each.
_FILTER = """async (names) => {
  const frames = [];
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const buttons = () => [...document.querySelectorAll("main fieldset button")];
  const button = (name) => buttons().find((each) => each.textContent.startsWith(name));
  let before = await next();
  for (const name of [...names, ...names]) {
    button(name).click();
    for (let each = 0; each < 60; each += 1) {
      const now = await next();
      frames.push(now - before);
      before = now;
    }
  }
  return frames;
}"""


async def add_runs(service: PageService, database_url: str, count: int) -> None:
    """Put so many runs that are over into the database."""
    run = await service.escalated(1)
    await service.cancel([run])
    engine = create_engine(plain_url(database_url), pool_size=1)
    try:
        async with engine.begin() as connection:
            columns = str((await connection.execute(text(_COLUMNS))).scalar_one())
            statement = _COPIES.replace("{columns}", columns)
            await connection.execute(text(statement), {"run": run, "count": count})
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE runs"))
    finally:
        await engine.dispose()


async def open_all(page: Page, url: str, count: int) -> None:
    """Open the list of the copies, and scroll until all are loaded."""
    await page.goto(f"{url}/?q=run%20", wait_until="domcontentloaded")
    await page.locator("a[data-run]").first.wait_for(timeout=_SLOWEST_MS)
    async with asyncio.timeout(_SLOWEST_MS / 1000):
        await page.evaluate(_END, f"{count:,}")


async def filter_frames(page: Page) -> list[float]:
    """Milliseconds of each frame while filters are chosen and left."""
    return [float(each) for each in await page.evaluate(_FILTER, list(FILTERS))]
