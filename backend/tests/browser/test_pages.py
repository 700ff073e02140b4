"""Every page in its states: loading, full, stale, in error, on small screens; for axe, and as pictures."""

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Route, WebSocketRoute, expect

from tests.acceptance.projects import make_repository
from tests.acceptance.server import Service
from tests.browser.sprints import escalate, escalation_of, play
from tests.browser.watched import Watched

API = "**/api/v1/**"
# What 1280 pixels are at 200 % zoom, and a telephone.
SMALL = {"zoomed": (640, 450), "narrow": (390, 844)}

PAGES = {
    "runs": ("/", "Looked at"),
    "sprint": ("/sprints/{sprint}", "No plan"),
    "loop": ("/loops/{loop}", "The evaluator is satisfied"),
    "answer": ("/answers/{answer}", "Sufficient in all four dimensions"),
    "diff": ("/sprints/{sprint}/diff", "@@ -0,0 +1 @@"),
    "escalations": ("/escalations", "Looked at"),
    "escalation": ("/escalations/{escalation}", "@@ -0,0 +1 @@"),
    "metrics": ("/metrics", "Passed without a person"),
    "evaluators": ("/evaluators", "plan_artifact"),
    "evaluator": ("/evaluators/plan_artifact", "Looked at"),
}
"""Pages that ask the service for what they show, and a text that shows that they have it."""
STILL = {
    "new": ("/new", "Goal"),
    "new-loop": ("/new?kind=director_loop", "Definition"),
    "new-answer": ("/new?kind=answer", "Query"),
    "settings": ("/settings", "Attempts per phase"),
}
"""Pages that show their forms without it."""

SAID = [{"say": "3 francs"}]
CONTENT = [{"say": "good", "notes": {"success": True}}]
LOOP = {"description": "Write", "director": {"description": "Write"}, "evaluator": {"description": "Judge"}}


@dataclass
class Line:
    """What is between a page and its service.

    Attributes:
        holds: requests get no answer for now.
        cut: there is no connection.
    """

    watched: Watched
    holds: bool = False
    cut: bool = False
    _held: list[Route] = field(default_factory=list[Route])
    _sockets: list[WebSocketRoute] = field(default_factory=list[WebSocketRoute])

    def __post_init__(self) -> None:
        """Stand in the way of everything but the page's own files."""
        self.watched.page.route(API, self._asked)
        self.watched.page.route_web_socket("**/api/v1/ws", self._connected)

    def release(self) -> None:
        """Let what was held go on."""
        self.holds = False
        while self._held:
            self._held.pop().continue_()

    def tear(self) -> None:
        """Lose the connection."""
        self.cut = True
        for socket in self._sockets:
            socket.close(code=1012)
        self._sockets.clear()

    def _asked(self, route: Route) -> None:
        if self.cut:
            route.abort("connectionrefused")
        elif self.holds:
            self._held.append(route)
        else:
            route.continue_()

    def _connected(self, socket: WebSocketRoute) -> None:
        if self.cut:
            socket.close(code=1012)
            return
        socket.connect_to_server()
        self._sockets.append(socket)


@pytest.fixture(scope="module")
def places(service: Service, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The ids that paths of pages need."""
    repo = make_repository(tmp_path_factory.mktemp("pages") / "shares")
    with service.client() as client:
        sprint = escalate(client, repo, name="Looked at")
        loop = play(client, "/loops", {"director": SAID, "evaluator": CONTENT}, definition=LOOP)
        answer = play(
            client, "/answers", {"synthesizer": SAID, "evaluator": SAID}, query="What does it cost?"
        )
        escalation = escalation_of(client, sprint)
        return {"sprint": sprint, "loop": loop, "answer": answer, "escalation": escalation}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_in_all_its_states(name: str, places: dict[str, str], watched: Watched) -> None:
    path, has = PAGES[name]
    page, line = watched.page, Line(watched)
    shown = page.get_by_role("main").get_by_text(has).first
    with watched.excused():  # a lost connection is an error for the browser
        line.holds = True
        page.goto(watched.url + path.format(**places), wait_until="domcontentloaded")
        expect(page.locator("[data-state=loading]").first).to_contain_text("…")
        watched.shoot(f"{name}-loading", ["light"])

        line.release()
        expect(shown).to_be_visible()
        expect(page.locator("[data-state=loading]")).to_have_count(0)
        watched.audit()
        watched.shoot(f"{name}-full")
        _fits_small_screens(watched, name)

        line.tear()
        expect(page.locator("[data-banner=lost]")).to_be_visible()
        expect(shown).to_be_visible()
        watched.shoot(f"{name}-stale", ["dark"])

        page.reload()
        expect(page.locator("[data-state=error]").first).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        watched.audit(["light"])
        watched.shoot(f"{name}-error", ["light"])


@pytest.mark.parametrize("name", STILL)
def test_a_form_in_all_its_states(name: str, watched: Watched) -> None:
    path, has = STILL[name]
    line = Line(watched)
    watched.open(path)
    shown = watched.page.get_by_role("main").get_by_text(has, exact=True)
    expect(shown).to_be_visible()
    watched.audit()
    watched.shoot(f"{name}-full")
    _fits_small_screens(watched, name)
    with watched.excused():
        line.tear()
        expect(watched.page.locator("[data-banner=lost]")).to_be_visible()
        expect(shown).to_be_visible()
        watched.shoot(f"{name}-stale", ["dark"])


def _fits_small_screens(watched: Watched, name: str) -> None:
    """Nothing is wider than the screen: only tables and code scroll sideways, in boxes of their own."""
    page = watched.page
    before = page.viewport_size
    for size, (width, height) in SMALL.items():
        page.set_viewport_size({"width": width, "height": height})
        # Charts take their width from the page once it has its new size.
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        watched.shoot(f"{name}-{size}", ["light"])
    assert before is not None
    page.set_viewport_size(before)
