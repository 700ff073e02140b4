"""Takes the pictures of the documentation from the real page, with the runs of the two examples.

Each picture is taken in a light and a dark form: `runs`, `run` and `escalation`, for instance `run-dark.png`.
"""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from examples_service import EXPECTED, demand, examples_at_rest, free_port, started, wait_for
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1080, "height": 660}
THEMES = ("light", "dark")
MAX_BYTES = 150_000
PATIENCE_MS = 120_000
STILL_MS = 1_000


def main() -> int:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where the pictures go")
    directory = parser.parse_args().directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    chromium = next((path for name in CHROMIUMS if (path := shutil.which(name))), None)
    demand(chromium is not None, "no Chromium is installed (Debian, Ubuntu: apt install chromium)")
    with (
        tempfile.TemporaryDirectory(prefix="phaserunner-pictures-") as place,
        examples(Path(place)) as (address, ids),
    ):
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's own sandbox refuses root
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            for theme in THEMES:
                take(browser, address, ids, theme, directory)
            browser.close()
    for picture in sorted(directory.glob("*.png")):
        size = picture.stat().st_size
        demand(size <= MAX_BYTES, f"{picture.name} has {size} bytes; at most {MAX_BYTES} are allowed")
    return 0


@contextlib.contextmanager
def examples(place: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the address of a service on which both examples have come to rest, and their ids by status."""
    work, log = place / "work", place / "log.txt"
    work.mkdir()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "LANG": "C.UTF-8", "PORT": str(port)}
    program = Path(sys.executable).parent / "phaserunner"
    with started(program, work, environment, log) as process:
        runs = wait_for(lambda: examples_at_rest(address), process, log)
        ids = {each["status"]: each["id"] for each in runs}
        demand(set(ids) == EXPECTED, f"the examples ended as {runs}\n{log.read_text()}")
        yield address, ids


def take(browser: Browser, address: str, ids: Mapping[str, str], theme: str, directory: Path) -> None:
    """Take the pictures of one theme."""
    context = browser.new_context(viewport=SIZE, color_scheme=theme, reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(address)
    shoot(page, directory / f"runs-{theme}.png", f"main a[href*='{ids['waiting']}']")
    page.goto(f"{address}/sprints/{ids['completed']}")
    shoot(page, directory / f"run-{theme}.png", "main table")
    page.goto(f"{address}/escalations")
    page.locator("main a[href*='/escalations/']").first.click()
    shoot(page, directory / f"escalation-{theme}.png", "main textarea")
    context.close()


def shoot(page: Page, file: Path, awaited: str) -> None:
    """Take one picture once an element is there and nothing moves any more."""
    page.locator(awaited).first.wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("() => document.fonts.ready")
    picture, before = page.screenshot(), b""
    while picture != before:
        page.wait_for_timeout(STILL_MS)
        picture, before = page.screenshot(), picture
    file.write_bytes(picture)


if __name__ == "__main__":
    raise SystemExit(main())
