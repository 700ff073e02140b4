"""A GitHub App: its key becomes tokens that are renewed in time, and its results become check runs."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.core.errors import InvalidInputError, UnavailableError
from app.forges.app_tokens import GitHubApp
from app.forges.github import GitHub
from app.forges.operator_file import credentials_of, parse_forges
from app.forges.port import Annotation, CommitStatus, ForgeError
from tests.forge_double import Fault, GitHubDouble, github_double
from tests.git_http import TOKEN, fixed_token

pytestmark = pytest.mark.anyio

REPO = "acme/widgets"
COMMIT = "a" * 40
FILE = """
[credentials.acme]
app = "Iv1.app"
env = "KEY"
api = "{api}"
urls = ["https://forge.example/acme/"]
"""


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def double(tmp_path: Path, key: rsa.RSAPrivateKey) -> Iterator[GitHubDouble]:
    with github_double(REPO, "https://forge.example", tmp_path) as running:
        running.app_key = key.public_key()
        yield running


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def app(double: GitHubDouble, installation: int | None = None) -> GitHubApp:
    return GitHubApp(partial(httpx.AsyncClient, timeout=30.0), double.url, "Iv1.app", installation)


def made_tokens(double: GitHubDouble) -> int:
    return sum(each.path.endswith("/access_tokens") for each in double.exchanges)


async def test_a_token_is_kept_until_it_is_about_to_expire(
    double: GitHubDouble, key: rsa.RSAPrivateKey
) -> None:
    here = app(double)
    assert [await here.token(pem(key)) for _ in range(3)] == [TOKEN] * 3
    assert made_tokens(double) == 1
    double.token_lives = timedelta(minutes=4)
    brief = app(double)
    assert [await brief.token(pem(key)) for _ in range(3)] == [TOKEN] * 3
    assert made_tokens(double) == 4


@pytest.mark.parametrize(
    ("installations", "said"),
    [
        pytest.param([], "not installed anywhere", id="none"),
        pytest.param([1, 2], r"2 installations; name one .*: 1 \(org1\), 2 \(org2\)", id="several"),
    ],
)
async def test_an_installation_that_is_not_clear(
    double: GitHubDouble, key: rsa.RSAPrivateKey, installations: list[int], said: str
) -> None:
    double.installations = installations
    with pytest.raises(UnavailableError, match=said):
        await app(double).token(pem(key))
    if installations:
        assert await app(double, 2).token(pem(key)) == TOKEN


async def test_keys_that_are_none(double: GitHubDouble) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with pytest.raises(UnavailableError, match="refuses the token; renew the credential"):
        await app(double).token(pem(other))
    with pytest.raises(UnavailableError, match="no RSA key in PEM form"):
        await app(double).token("ghp_a_token")


async def test_the_operators_file_gives_git_and_api_the_same_token(
    double: GitHubDouble, key: rsa.RSAPrivateKey
) -> None:
    known = credentials_of(parse_forges(FILE.format(api=double.url), "f.toml"), {"KEY": pem(key)})
    login = await known.for_url("acme", "https://forge.example/acme/widgets.git")
    assert (login.username, login.secret) == ("x-access-token", TOKEN)
    assert "PRIVATE" not in repr(login)
    assert (await known.login("acme")).secret == TOKEN
    assert made_tokens(double) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('app = "Iv1.app"\n', ""), "name it with app"),
        (('app = "Iv1.app"', 'app = "Iv1.app"\nusername = "me"'), "username cannot be chosen"),
        (("{api}", "http://api.example"), "api must begin with https://"),
        (('app = "Iv1.app"', 'app = "Iv1.app"\ninstallation = 0'), "installation"),
    ],
)
def test_mistakes_in_the_file(change: tuple[str, str], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        parse_forges(FILE.replace(*change).replace("{api}", "https://api.example"), "f.toml")


def status(state: Any, *annotations: Annotation) -> CommitStatus:
    return CommitStatus(state=state, description="1 gate", url="https://x.example", annotations=annotations)


@pytest.mark.parametrize(
    ("state", "conclusion"), [("success", "success"), ("failure", "failure"), ("error", "action_required")]
)
async def test_a_result_is_one_check_run(double: GitHubDouble, state: str, conclusion: str) -> None:
    forge = GitHub(httpx.AsyncClient, double.url, fixed_token(TOKEN), as_app=True)
    found = Annotation("a.py", 3, "ruff_lint: E501", "too long", blocks=True)
    for _ in range(2):  # a report is repeated after a crash
        await forge.set_status(REPO, COMMIT, status(state, found))
    (run,) = double.checks[COMMIT]
    assert (run["name"], run["conclusion"], run["details_url"]) == (
        "phaserunner",
        conclusion,
        "https://x.example",
    )
    (shown,) = run["output"]["annotations"]
    assert (shown["path"], shown["start_line"], shown["annotation_level"]) == ("a.py", 3, "failure")


async def test_advice_is_neutral_and_long_lists_are_cut(double: GitHubDouble) -> None:
    forge = GitHub(httpx.AsyncClient, double.url, fixed_token(TOKEN), as_app=True)
    advice = [Annotation("a.py", n, "judge: style", "hm", blocks=False) for n in range(1, 61)]
    await forge.set_status(REPO, COMMIT, status("success", *advice))
    gates, notes = double.checks[COMMIT]
    assert (gates["conclusion"], gates["output"]["annotations"]) == ("success", [])
    assert (notes["name"], notes["conclusion"]) == ("phaserunner advice", "neutral")
    assert notes["output"]["title"] == "60 notes of advisers"
    assert len(notes["output"]["annotations"]) == 50


async def test_rights_that_are_missing(double: GitHubDouble) -> None:
    double.app_key = None
    forge = GitHub(httpx.AsyncClient, double.url, fixed_token(TOKEN), as_app=True)
    with pytest.raises(ForgeError, match="give it more rights"):
        await forge.set_status(REPO, COMMIT, status("success"))


async def test_github_that_is_away_is_asked_again(double: GitHubDouble, key: rsa.RSAPrivateKey) -> None:
    double.faults.append(Fault("POST", "/access_tokens$", 500))
    here = app(double)
    with pytest.raises(UnavailableError, match="gave 500"):
        await here.token(pem(key))
    assert await here.token(pem(key)) == TOKEN
