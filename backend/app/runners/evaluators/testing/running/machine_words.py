"""Parts of error messages that are about the machine rather than the code. Pure."""

import re

NO_NETWORK = "the tests have no network"
_WORDS = (
    (
        re.compile(
            r"Network is unreachable|No route to host|name resolution|Name or service not known"
            r"|No address associated with hostname|getaddrinfo failed|Failed to resolve '|NameResolutionError"
            r"|Could not resolve host|unable to access 'https?://"
            r"|Failed to establish a new connection|Address family not supported"
            # Multicast needs a device, and some code calls programs with an address.
            r"|\[Errno 19\] No such device|\[Errno 99\] Cannot assign requested address"
            r"|Command '.*\bhttps?://.*' returned non-zero exit status"
            r"|No such file or directory: '/etc/resolv\.conf'"
        ),
        NO_NETWORK,
    ),
    (re.compile(r"cannot open shared object file|error while loading shared"), "a system library is missing"),
    (
        re.compile(
            r"(?:No such file or directory|Permission denied): (?:PosixPath\()?'[\w.+-]+'\)?(?=$|; )"
            r"|\b(?:sh|bash|env): (?:line )?(?:\d+: )?'?[\w.+-]+'?: (?:command )?not found"
            r"|\b[Ee]xecutable [`'\"]?[\w.+-]+[`'\"]? (?:was |could |is )?not (?:be )?found\b"
            r"|\bexecutables? in the application search path"
            r"|\bnot (?:found )?(?:in|on) (?:the |your )?\$?PATH\b",
            re.MULTILINE,
        ),
        "a program is missing",
    ),
    (
        re.compile(
            r"Connection refused|Connect call failed|(?:Cannot|Could not) connect to"
            r"|All connection attempts failed|connect(?:ing|ion) to (?:unix socket|server at)"
            r"|ServerSelectionTimeoutError"
        ),
        "a service that the tests need is not reachable",
    ),
    (re.compile(r"locale\.Error: unsupported locale setting"), "a locale is missing"),
    (re.compile(r"ZoneInfoNotFoundError|No time zone found with key"), "the time zones are missing"),
    (re.compile(r"Read-only file system"), "the tests may only write in their tree and to temporary files"),
    (re.compile(r"No space left on device"), "the disk is full"),
    (
        re.compile(r"\[Errno 1\] Operation not permitted|\[Errno 38\] Function not implemented"),
        "the sandbox does not allow a system call",
    ),
    (
        re.compile(r"Inappropriate ioctl for device|could not find terminal|setupterm: "),
        "the tests have no terminal",
    ),
    (re.compile(r"no display name and no \$DISPLAY|cannot open display"), "the tests have no display"),
    (
        re.compile(
            r"\bnot a git repository\b|\bInvalidGitRepositoryError: |No such file or directory: '\.git(?:/|')"
        ),
        "the tests run outside a git repository",
    ),
    (
        re.compile(r"\bdocker\.errors\.DockerException: |(?:connect to|find) the Docker daemon"),
        "there is no container engine",
    ),
    (
        re.compile(r"Invalid cross-device link"),
        "temporary files are on a different file system",
    ),
    (
        re.compile(
            r"\bpip\W+(?:install|wheel|download)\W.*returned non-zero exit status"
            r"|No matching distribution found for |Could not find a version that satisfies the requirement"
            r"|[Pp]ip install failed"
        ),
        "a package cannot be installed without a network",
    ),
    (
        re.compile(r"AttributeError: '\w+' object has no attribute 'assert[A-Z]\w*'"),
        "pytest takes a part of unittest's tests for tests",
    ),
    (
        re.compile(r"\bfixture '\w+' not found|FixtureLookupError: \('\w+'"),
        "a pytest plugin that has a fixture is missing",
    ),
    (
        re.compile(r"async def functions are not natively supported"),
        "a pytest plugin that runs async tests is missing",
    ),
    (
        re.compile(r"'\w+' not found in `markers` configuration option"),
        "a pytest plugin that has a marker is missing",
    ),
    (
        re.compile(
            r"\b(?:ImportError|ModuleNotFoundError): .*(?:pip install|please install|(?:not|be) installed"
            r"|(?:package|library|module|dependency) is (?:required|needed))",
            re.IGNORECASE,
        ),
        "an optional package is missing",
    ),
    (re.compile(r"PackageNotFoundError|No package metadata was found"), "a package's metadata is missing"),
)
"""Patterns of messages, and what each says about the machine."""


def missing_on_machine(message: str) -> str | None:
    """Return what the machine lacks according to an error message, or None.

    Code can raise any message, so it counts only if the base fails with the same one.
    """
    return next((what for pattern, what in _WORDS if pattern.search(message)), None)
