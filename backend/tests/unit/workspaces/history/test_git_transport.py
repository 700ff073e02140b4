"""What git is told of the way to the network."""

from app.workspaces.history.git import Git


def test_git_gets_the_certificates_that_other_programs_get() -> None:
    told = Git.find({"SSL_CERT_FILE": "/ca.pem", "SSL_CERT_DIR": "/certs"}).transport_env
    assert (told["GIT_SSL_CAINFO"], told["GIT_SSL_CAPATH"]) == ("/ca.pem", "/certs")


def test_its_own_setting_comes_first() -> None:
    told = Git.find({"SSL_CERT_FILE": "/ca.pem", "GIT_SSL_CAINFO": "/git.pem"}).transport_env
    assert told["GIT_SSL_CAINFO"] == "/git.pem"


def test_it_gets_proxies_and_nothing_else() -> None:
    told = Git.find(
        {"ALL_PROXY": "http://proxy:1", "SSL_CERT_FILE": "", "GIT_SSH_COMMAND": "evil"}
    ).transport_env
    assert told == {"ALL_PROXY": "http://proxy:1"}
