"""A page that is watched: nothing may go wrong on it unseen, and it talks to its own service only."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request

FRONTEND = Path(__file__).parents[3] / "frontend"
SHOTS = Path(__file__).parent / "screenshots"
THEMES = ("light", "dark")

_AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"
_HEARD = "all is heard"
_PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass
class Watched:
    """A page with what went wrong on it.

    Attributes:
        page: the browser's page.
        url: the service's address; `open` is relative to it.
        faults: console errors, exceptions and foreign requests so far.
    """

    page: Page
    url: str
    faults: list[str] = field(default_factory=list[str])
    _excused: bool = False

    def __post_init__(self) -> None:
        """Watch from the first request on."""
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        self.page.on("request", self._requested)

    def open(self, path: str, *, heading: str | None = None) -> None:
        """Go to a path of the service and wait until the page shows its heading."""
        self.page.goto(self.url + path, wait_until="domcontentloaded")
        if heading is None:
            self.page.get_by_role("heading", level=1).wait_for()
        else:
            self.page.get_by_role("heading", level=1, name=heading).wait_for()

    @contextmanager
    def excused(self) -> Iterator[None]:
        """While the block runs the service is away or refuses, which browsers report as errors."""
        self._excused = True
        try:
            yield
            self._hear_everything()
        finally:
            self._excused = False

    def _hear_everything(self) -> None:
        """Wait for the console's messages so far, which come later than what they are about."""
        if self.page.is_closed():
            return
        with self.page.expect_console_message(lambda message: message.text == _HEARD):
            self.page.evaluate(f"console.debug('{_HEARD}')")

    def check(self) -> None:
        """Fail if anything went wrong."""
        assert self.faults == []

    def audit(self, themes: Sequence[str] = THEMES) -> None:
        """Fail if axe finds anything, in any of these themes.

        The page is at its top: halfway down, axe takes what the header covers for a target that is too small.
        """
        for theme in themes:
            self.page.evaluate("window.scrollTo(0, 0)")
            self._theme(theme)
            if not self.page.evaluate("'axe' in window"):
                self.page.evaluate(_AXE.read_text())
            options = {"runOnly": _RULES, "resultTypes": ["violations"]}
            found: dict[str, Any] = self.page.evaluate("options => axe.run(document, options)", options)
            told = [
                f"{each['id']}: {each['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
                for each in found["violations"]
                for node in each["nodes"][:3]
            ]
            assert told == [], f"{theme}: " + "\n".join(told)

    def shoot(self, name: str, themes: Sequence[str] = THEMES) -> None:
        """Keep pictures of the page in these themes, for people to look at."""
        SHOTS.mkdir(exist_ok=True)
        for theme in themes:
            self._theme(theme)
            self.page.screenshot(path=SHOTS / f"{name}-{theme}.png", full_page=True)

    def _theme(self, theme: str) -> None:
        self.page.emulate_media(color_scheme="light" if theme == "light" else "dark", reduced_motion="reduce")
        # What is looked at next must be painted in these colours.
        self.page.evaluate(_PAINTED)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not self._excused:
            self.faults.append(f"console: {message.text}")

    def _requested(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and asked.netloc != urlsplit(self.url).netloc:
            self.faults.append(f"foreign request: {request.url}")
