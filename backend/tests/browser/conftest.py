"""A real Chromium on a real service with the built dashboard."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.acceptance.projects import make_repository
from tests.acceptance.server import BACKEND, Service, serving
from tests.browser.watched import FRONTEND, Watched
from tests.patience import PATIENCE
from tests.postgres import fresh_database

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_MS = PATIENCE * 1000

# Five seconds, the default, measure the machine.
expect.set_options(timeout=_PATIENCE_MS)
_ROLES = ("viewer", "operator", "admin")

NewPage = Callable[[], Watched]
NewPageOn = Callable[[str], Watched]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser is. Without one these tests are skipped; in CI they must run."""
    found = next((path for name in _CHROMIUMS if (path := shutil.which(name))), None)
    missing = None
    if found is None:
        missing = "no Chromium is installed (Debian, Ubuntu: apt install chromium)"
    elif not (FRONTEND / "dist" / "index.html").is_file():
        missing = "the dashboard is not built: make dashboard"
    if missing is not None:
        assert os.environ.get("CI") != "true", missing
        pytest.skip(missing)
    assert found is not None
    return found


@pytest.fixture(scope="package")
def browser(chromium: str, migrated_template: str) -> Iterator[Browser]:
    """One browser for all tests of this folder; each test has a context of its own.

    While it is open, Playwright keeps an event loop running in this thread: no other test's could run there.
    So it ends with the folder, and the databases' template is made before.
    """
    # Chromium's own sandbox refuses root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def service_database_url(chromium: str, postgres_server: str, migrated_template: str) -> Iterator[str]:
    """The database of the service that the tests share."""
    with fresh_database(postgres_server, migrated_template) as url:
        yield url


@pytest.fixture(scope="package")
def service(service_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests of this folder: whoever counts runs or escalations says which."""
    with serving(service_database_url, tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shares")


@pytest.fixture
def new_page_on(browser: Browser) -> Iterator[NewPageOn]:
    """Opens pages of different users on services; at the end nothing may have gone wrong on any."""
    contexts: list[BrowserContext] = []
    pages: list[Watched] = []

    def make(url: str) -> Watched:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, locale="en-GB", reduced_motion="reduce"
        )
        context.set_default_timeout(_PATIENCE_MS)
        contexts.append(context)
        pages.append(Watched(context.new_page(), url))
        return pages[-1]

    yield make
    for context in contexts:
        context.close()
    for page in pages:
        page.check()


@pytest.fixture
def new_page(new_page_on: NewPageOn, service: Service) -> NewPage:
    """Opens pages of different users on the service that the tests share."""
    return lambda: new_page_on(service.url)


@pytest.fixture
def watched(new_page: NewPage) -> Watched:
    """One page."""
    return new_page()


@pytest.fixture(scope="module")
def guarded(
    chromium: str, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service that asks for tokens, and a token of each role."""
    place = tmp_path_factory.mktemp("guarded")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "PYTHONPATH": str(BACKEND),
        "DATABASE_URL": module_database_url,
        "DATA_DIR": str(place),
    }
    command = [sys.executable, "-m", "app.cli.main", "tokens", "create"]
    made = {
        role: subprocess.run(
            [*command, f"the {role}", "--role", role],
            cwd=place,
            env=env,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        ).stdout
        for role in _ROLES
    }
    tokens = {
        role: next(word for word in text.split() if word.startswith("pr_")) for role, text in made.items()
    }
    with serving(module_database_url, place) as service:
        yield service, tokens
