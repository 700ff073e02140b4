"""Finds what code can do beyond its own process and values, such as to start programs. Pure."""

import ast
import re
import sys
import unicodedata
from collections.abc import Iterator

from app.core.python_source import parse_to_change
from app.runners.evaluators.testing.pytest_runner.module_state import HOOKS
from app.runners.evaluators.testing.source_questions.handlers import swallows
from app.runners.evaluators.testing.source_questions.library_uses import library_uses, spelt_out
from app.runners.evaluators.testing.source_questions.places import by_name

_TRUSTS = "trusts any certificate"
_BY_NAME = "finds modules or objects by names in texts"
_IMPORTS = frozenset({"importlib.import_module", "__import__"})
_POWERS = {
    "runs texts as code": (
        "builtins.exec builtins.eval builtins.compile marshal runpy code.InteractiveInterpreter "
        "types.FunctionType types.CodeType"
    ),
    "starts programs": (
        "subprocess pty pexpect sh os.system os.popen os.startfile os.fork os.posix_spawn os.posix_spawnp "
        "os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe "
        "os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe "
        "asyncio.create_subprocess_exec asyncio.create_subprocess_shell"
    ),
    "loads objects that run code": (
        "pickle.load pickle.loads pickle.Unpickler dill cloudpickle shelve jsonpickle joblib.load "
        "yaml.unsafe_load yaml.full_load"
    ),
    "ends the process": "os._exit os.abort os.kill os.killpg signal.raise_signal",
    "handles uncaught exceptions": "sys.excepthook sys.unraisablehook threading.excepthook",
    "ignores signals": "signal.SIG_IGN signal.pthread_sigmask",
    _TRUSTS: (
        "ssl._create_unverified_context ssl._create_default_https_context ssl.CERT_NONE "
        "urllib3.disable_warnings"
    ),
    "switches off the collection of garbage": "gc.disable gc.freeze gc.set_threshold",
    "switches off log messages": "logging.disable",
    "waits for connections": "socketserver http.server asyncio.start_server asyncio.start_unix_server",
    "changes the rights of new files": "os.umask",
    _BY_NAME: "pkgutil.resolve_name",
}
_POWER_OF = {name: power for power, names in _POWERS.items() for name in names.split()}
_HIDDEN_NAMES = frozenset({"_create_default_https_context", "_create_unverified_context"})
"""Names that hardly occur as a text but to set them unseen."""

_WORDS = {word for name in _POWER_OF for word in name.split(".")} - {"os", "sys", "builtins", "types", "code"}
_NETWORK = frozenset(
    {
        *("socket", "urllib.request", "http.client", "ftplib", "smtplib", "telnetlib", "xmlrpc.client"),
        *("requests", "httpx", "aiohttp", "urllib3", "websockets", "paramiko", "pycurl"),
        "asyncio.open_connection",
    }
)
_MENTIONED = re.compile(
    "|".join(
        [
            rf"\b(?:{'|'.join(sorted(_WORDS))})\b",
            r"[^\x00-\x7f]|environ|verify|import_module|__import__|_create_|\d{100}|BaseException",
            r"setattr|^[ \t]*(?!self\.|cls\.)\w+\.[\w.]+ *=(?!=)",
        ]
    ),
    re.MULTILINE,
)
_EVERYTHING = frozenset({"BaseException"})
"""The linter finds an `except` without a class."""

_SENDS = "reads all environment variables and reaches the network"

_DIGITS = 100
"""Digits of a number that people do not write by hand."""


def powers(text: str) -> dict[str, list[int]]:
    """Return what a source can do besides computing, each with the lines."""
    if not _MENTIONED.search(text):
        return {}
    try:
        module = spelt_out(parse_to_change(text.encode()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    uses = [*library_uses(module)]
    named = ((_power_of(name), line) for name, line in uses)
    found = [(power, line) for power, line in (*named, *_in_plain_sight(module)) if power]
    found += [("replaces parts of Python's modules", line) for line in _replaced(module)]
    if any(_is_below(name, each) for name, _ in uses for each in _NETWORK):
        found += [(_SENDS, line) for line in _all_variables(module)]
    return by_name(found)


def _power_of(name: str) -> str:
    while name:
        if name in _POWER_OF:
            return _POWER_OF[name]
        name = name.rpartition(".")[0]
    return ""


def _is_below(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _all_variables(module: ast.Module) -> Iterator[int]:
    """Yield the lines with all environment variables: not one by name, and not set."""
    parents = {id(each.value) for each in ast.walk(module) if isinstance(each, ast.Subscript | ast.Attribute)}
    compared = {
        id(one) for each in ast.walk(module) if isinstance(each, ast.Compare) for one in each.comparators
    }
    for node in ast.walk(module):
        match node:
            case ast.Attribute(attr="environ") if id(node) not in parents | compared:
                yield node.lineno
            case ast.Attribute(value=ast.Attribute(attr="environ"), attr="items" | "copy" | "values"):
                yield node.lineno
            case _:
                continue


def _replaced(module: ast.Module) -> Iterator[int]:
    """Yield the lines that set parts of modules of Python's library, but for hooks and those of `sys`."""
    nodes = list(ast.walk(module))
    names = {name.name for each in nodes if isinstance(each, ast.Import) for name in each.names}
    modules = {each for each in names - {"sys"} if each.partition(".")[0] in sys.stdlib_module_names}
    for node in nodes:
        match node:
            case ast.Attribute(ctx=ast.Store()) if ast.unparse(node) in HOOKS:
                continue
            case (
                ast.Attribute(value=ast.Name() | ast.Attribute() as owner, ctx=ast.Store())
                | ast.Call(func=ast.Name(id="setattr"), args=[owner, _, _])
            ) if ast.unparse(owner) in modules:
                yield node.lineno
            case _:
                continue


def _in_plain_sight(module: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=str() as text) if text in _HIDDEN_NAMES:
                yield _TRUSTS, node.lineno
            case ast.ExceptHandler() if swallows(node, _EVERYTHING):
                yield "catches even `KeyboardInterrupt` and raises nothing", node.lineno
            case ast.keyword(arg="verify", value=ast.Constant(value=False)):
                yield _TRUSTS, node.value.lineno
            case ast.Constant(value=int() as number) if abs(number) >= 10**_DIGITS:
                yield "holds a number of more than 100 digits", node.lineno
            case ast.Call(func=called, args=[named, *_]) if _is_any_import(called, named):
                yield _BY_NAME, node.lineno
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) if not name.isascii():
                yield _alphabets(name), node.lineno
            case _:
                continue


def _is_any_import(called: ast.expr, named: ast.expr) -> bool:
    """Return True for an import of whichever module a value names, not of one below a known package."""
    return ast.unparse(called) in _IMPORTS and not isinstance(named, ast.Constant | ast.JoinedStr)


def _alphabets(name: str) -> str:
    """Return what is odd about a name whose letters are of several alphabets, such as Latin and Cyrillic."""
    scripts = {unicodedata.name(each, "").partition(" ")[0] for each in name if each.isalpha()}
    mixed = "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}
    return f"has a name with letters of several alphabets (`{ascii(name)[1:-1]}`)" if mixed else ""
