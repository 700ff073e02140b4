"""One setting for certificates and one for the proxy tell every library and program."""

from pathlib import Path

import pytest

from app.core.config import Settings
from app.core.errors import InvalidInputError
from app.core.outbound import Outbound, authorities, shown_proxy
from tests.certificates import certificates_in


def test_nothing_is_said_where_nothing_is_set() -> None:
    assert Outbound().variables() == {}


def test_a_bundle_is_named_to_every_program(tmp_path: Path) -> None:
    bundle = certificates_in(tmp_path).authority
    assert authorities(bundle) == 1
    found = Outbound(ca_bundle=bundle).variables()
    assert set(found.values()) == {str(bundle)}
    for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT"):
        assert name in found


def test_a_proxy_takes_the_place_of_the_environments_and_never_leads_to_this_machine() -> None:
    environ = {"https_proxy": "http://old.example:1", "PATH": "/bin"}
    proxy = "http://me:secret@proxy.example:3128"
    Outbound(proxy=proxy, no_proxy=("intranet.example",)).apply(environ)
    assert environ["https_proxy"] == environ["HTTPS_PROXY"] == environ["http_proxy"] == proxy
    assert environ["NO_PROXY"] == environ["no_proxy"] == "localhost,127.0.0.1,::1,intranet.example"
    assert environ["PATH"] == "/bin"


@pytest.mark.parametrize(
    "proxy",
    [
        pytest.param("proxy.example:3128", id="no scheme"),
        pytest.param("socks5://proxy.example", id="another protocol"),
        pytest.param("http://:3128", id="no host"),
        pytest.param("http://proxy.example:99999", id="no such port"),
        pytest.param("http://[::1", id="half an address"),
    ],
)
def test_a_proxy_that_is_none_is_refused_by_its_setting(proxy: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Outbound(proxy=proxy).variables()
    assert caught.value.field == "OUTBOUND_PROXY"
    assert "3128" in caught.value.detail


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(None, "cannot be read", id="missing"),
        pytest.param("not a certificate", "no certificates in PEM format", id="text"),
        pytest.param("", "no certificates in PEM format", id="empty"),
    ],
)
def test_a_bundle_that_is_none_is_refused_by_its_setting(
    tmp_path: Path, content: str | None, told: str
) -> None:
    bundle = tmp_path / "company.pem"
    if content is not None:
        bundle.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=told) as caught:
        Outbound(ca_bundle=bundle).variables()
    assert caught.value.field == "CA_BUNDLE"


def test_a_directory_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=str(tmp_path)):
        Outbound(ca_bundle=tmp_path).variables()


def test_settings_say_it_and_keep_the_password() -> None:
    settings = Settings(
        _env_file=None,
        OUTBOUND_PROXY="http://me:hidden@proxy.example:3128",
        OUTBOUND_NO_PROXY="a.example, b.example",
    )
    assert "hidden" not in repr(settings)
    assert settings.outbound.no_proxy == ["a.example", "b.example"]
    assert shown_proxy(settings.outbound.proxy or "") == "http://proxy.example:3128"
