"""What leads to the service and cannot be used is named in one line."""

import pytest

from app.cli.exits import CliError, ExitCode
from app.cli.service_address import http_client
from tests.unit.cli.fakes import FakeService, invoke

FAR = "https://phaserunner.example"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:abc",
        "http://127.0.0.1:-1",
        "http://127.0.0.1:0",
        "http://ü..example",
        "http://xn--a",
        "http://a\x00b",
    ],
)
def test_an_address_that_is_none_is_a_usage_error(url: str) -> None:
    outcome = invoke(FakeService(), "list", "--url", url)
    assert outcome.code == ExitCode.USAGE
    assert outcome.err.startswith("phaserunner: --url or PHASERUNNER_URL: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "url", ["http://[::1]:8000", "https://phaserunner.example/base/", "http://bücher.example"]
)
def test_addresses(url: str) -> None:
    assert http_client(url, {}, None)


@pytest.mark.parametrize("token", ["größer", "se cret", "sec\nret"])
def test_a_token_that_no_header_can_carry_is_a_usage_error(token: str) -> None:
    outcome = invoke(FakeService(), "list", "--token", token)
    assert outcome.code == ExitCode.USAGE
    assert "--token or PHASERUNNER_TOKEN: " in outcome.err
    assert token not in outcome.err


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1080"),
        ("HTTPS_PROXY", "ftp://proxy.example"),
        ("HTTP_PROXY", "http://[::1"),
        ("NO_PROXY", "[::1"),
        ("SSL_CERT_FILE", "/nowhere.pem"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(CliError, match=rf"^{variable}") as caught:
        http_client(FAR, {}, None)
    assert caught.value.code is ExitCode.USAGE


def test_a_proxy_is_not_asked_for_the_way_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    assert http_client("http://127.0.0.1:8000", {}, None)
