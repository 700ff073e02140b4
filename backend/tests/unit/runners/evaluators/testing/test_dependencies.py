"""What an error message says about the machine rather than the code."""

from pathlib import Path

import pytest

from app.runners.evaluators.testing.running.dependencies import (
    is_declared_part,
    is_foreign,
    is_lacked_by_installed,
    lacking,
    own_hook_broke,
)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("OSError: [Errno 101] Network is unreachable", "no network"),
        ("AttributeError: 'Shared' object has no attribute 'assertEqual'", "a part of unittest's tests"),
        ("NoResolverConfiguration: [Errno 2] No such file or directory: '/etc/resolv.conf'", "no network"),
        ("gaierror: [Errno -3] Temporary failure in name resolution", "no network"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'hg'", "a program is missing"),
        ("FileNotFoundError: [Errno 2] No such file or directory: PosixPath('dot')", "a program is missing"),
        (
            "Failed: because of: FileNotFoundError: [Errno 2] No such file or directory: 'dot'; more words",
            "a program is missing",
        ),
        ("OSError: [Errno 30] Read-only file system: '/opt/x'", "only write in their tree"),
        ("OSError: [Errno 18] Invalid cross-device link: 'a' -> '/tmp/a'", "different file system"),
        (
            r"CalledProcessError: \'[\'pip\', \'install\', \'cowsay\']\' returned non-zero exit status 1",
            "without a network",
        ),
        (
            "CalledProcessError: ['python', '-m', 'pip', 'wheel', '.'] returned non-zero exit status 1.",
            "without a network",
        ),
        (
            'EndpointConnectionError: Could not connect to the endpoint URL: "http://localhost:8000/"',
            "a service",
        ),
        ("locale.Error: unsupported locale setting", "a locale is missing"),
        ("CalledProcessError: fatal: not a git repository (or any parent)", "outside a git repository"),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '.git/config'",
            "outside a git repository",
        ),
        ("git/repo/base.py:366: git.exc.InvalidGitRepositoryError: <run>/tree", "outside a git repository"),
        ("client.py:230: docker.errors.DockerException: Error while fetching", "no container engine"),
        ("src/shiv/pip.py:69: SystemExit: Pip install failed!", "without a network"),
        ("keyring/core.py:41: FixtureLookupError: ('fs', <FixtureRequest for core>)", "a pytest plugin"),
        ("PackageNotFoundError: No package metadata was found for widgets", "metadata is missing"),
        ("socket.gaierror: [Errno -5] No address associated with hostname", "no network"),
        ("OSError: [Errno 97] Address family not supported by protocol", "no network"),
        ("CanError: could not create a socket because of: OSError: [Errno 19] No such device", "no network"),
        ("Command '['git', 'clone', 'https://a.b/c']' returned non-zero exit status 128.", "no network"),
        ("NewConnectionError: Failed to establish a new connection: [Errno -3]", "no network"),
        ("ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 6379)", "a service"),
        ("httpx.ConnectError: All connection attempts failed", "a service"),
        ("ConnectionError: Error 2 connecting to unix socket: /var/run/redis.sock", "a service"),
        ("pymongo.errors.ServerSelectionTimeoutError: localhost:27017: timed out", "a service"),
        ("a.py:9: ImportError: The NumPy package is required for this functionality", "optional package"),
        (
            "python.py:148: PytestUnhandledCoroutineWarning: async def functions are not natively supported",
            "async tests",
        ),
        ("sh: 1: gpg: not found", "a program is missing"),
        ("CalledProcessError: stdout: Executable `julia` not found", "a program is missing"),
        ('requires system-installed "cs" executables in the application search path', "a program is missing"),
        ("RuntimeError: pandoc is not on your PATH", "a program is missing"),
        ("Error: executable 'poe' could not be found", "a program is missing"),
        ("bash: line 3: xmllint: command not found", "a program is missing"),
        ("ZoneInfoNotFoundError: 'No time zone found with key Europe/Paris'", "time zones are missing"),
        ("PermissionError: [Errno 1] Operation not permitted: 'x'", "does not allow a system call"),
        ("termios.error: (25, 'Inappropriate ioctl for device')", "no terminal"),
        ("_curses.error: setupterm: could not find terminal", "no terminal"),
        ("TclError: no display name and no $DISPLAY environment variable", "no display"),
    ],
)
def test_words_about_the_machine(message: str, told: str) -> None:
    assert told in str(lacking(message))


@pytest.mark.parametrize(
    "message",
    [
        "AssertionError: assert 1 == 2",
        "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/x/data.json'",
        "ValueError: pip install needs a name",
        "ValueError: the package is required",
        "CalledProcessError: Command '['git', 'status']' returned non-zero exit status 128",
        "KeyError: key not found",
        "AssertionError: the executable was found",
        "ConnectionError: the code gave up connecting",
        "PermissionError: [Errno 13] Permission denied: '/tmp/x/data.json'",
    ],
)
def test_words_about_the_code(message: str) -> None:
    assert lacking(message) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("poetry.lock", '[[package]]\nname = "aio-sqlite"\nversion = "1.0"\n'),
        (
            "uv.lock",
            '[[package]]\nname = "aio-sqlite"\nversion = "1.0"\nsource = { registry = "http://a.b" }\n',
        ),
    ],
)
def test_a_package_in_a_lock_file_is_to_be_installed(name: str, text: str, tmp_path: Path) -> None:
    assert not is_foreign("aio_sqlite", tmp_path, ())
    (tmp_path / name).write_text(text)
    assert is_foreign("aio_sqlite", tmp_path, ())
    (tmp_path / "aio_sqlite.py").touch()
    assert not is_foreign("aio_sqlite", tmp_path, ())


@pytest.mark.parametrize(
    ("innermost", "broke"),
    [
        pytest.param("tests/conftest.py", True, id="a hook of the project"),
        pytest.param("/env/site-packages/pytest_plugin.py", False, id="an installed plug-in"),
    ],
)
def test_who_broke_pytest_is_read_from_the_innermost_frame(innermost: str, broke: bool) -> None:
    text = (
        'INTERNALERROR>   File "/env/site-packages/pluggy/_callers.py", line 103, in _multicall\n'
        f'INTERNALERROR>   File "{innermost}", line 3, in pytest_runtest_makereport\n'
        "INTERNALERROR> KeyError: 'browser'\n"
    )
    assert own_hook_broke(text) is broke
    assert not own_hook_broke("1 failed")


_WARNING = "Plugin: helpconfig, Hook: pytest_cmdline_parse\nModuleNotFoundError: No module named 'six'\n"
_IN_KIT = "/env/lib/python3.11/site-packages/kit/client.py:8: in <module>\n    from six.moves import queue\n"
_IN_CODE = "calc.py:3: in <module>\n    import six\n"
_ERROR = "E   ModuleNotFoundError: No module named 'six'"


@pytest.mark.parametrize(
    ("message", "installed"),
    [
        pytest.param(_IN_CODE + _IN_KIT + _ERROR, True, id="a package imports it"),
        pytest.param(_WARNING + _IN_CODE + _IN_KIT + _ERROR, True, id="below a warning about it"),
        pytest.param(_IN_KIT + _IN_CODE + _ERROR, False, id="code imports it for a package"),
        pytest.param(_IN_KIT + "E   ValueError: six", False, id="nothing is missing"),
        pytest.param("", False, id="no message"),
    ],
)
def test_what_an_installed_package_imports(message: str, installed: bool) -> None:
    assert is_lacked_by_installed(message) is installed


@pytest.mark.parametrize(
    ("setup", "module", "is_declared"),
    [
        ("TESTS = ['zope.testing']\nsetup(extras_require={'test': TESTS})", "zope.testing.cleanup", True),
        ("setup(install_requires=['zope-testing>=5'])", "zope.testing", True),
        ("setup(install_requires=['zope'])", "zope.testing", False),
        ("setup(install_requires=['zope.interface'])", "zope.interface.fast", False),
    ],
)
def test_a_declared_package_may_share_a_namespace_with_the_project(
    tmp_path: Path, setup: str, module: str, is_declared: bool
) -> None:
    (tmp_path / "src/zope/interface").mkdir(parents=True)
    (tmp_path / "setup.py").write_text(f"from setuptools import setup\n\n{setup}\n")
    assert is_declared_part(module, tmp_path) is is_declared
