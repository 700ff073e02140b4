"""Finds new code that no tool reads, because it is in a data file or in a text, and what runs it."""

import ast
import base64
import binascii
import bz2
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress

from app.core.python_source import parse_module

_RUNS = re.compile(
    r"(?<!\bre\.)\b(?:exec|eval|compile|marshal|pickle|runpy|zipimport|zipimporter|imp|SourceFileLoader|load_module"
    r"|spec_from_file_location|spec_from_loader|__import__|CodeType|FunctionType|sys\.path)\b"
)
_LEAST_CHARS = 60
_MOST_BYTES = 2_000_000
_DEEPEST = 3
_BASE64 = re.compile(rb"[A-Za-z0-9+/_=\s-]+")
_BASE85 = re.compile(rb"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+")
_ASCII85 = re.compile(rb"[!-uz\s]+")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}|\s)+")
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPILED = re.compile(rb"[\xe3\x63][\x00-\x20]\x00\x00\x00")
"""First bytes of a code object that `marshal` writes: its kind, and how many arguments it takes."""

PROGRAMS = (
    b"\x7fELF",
    b"MZ\x90\0",
    b"MZ\0\0",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"!<arch>\n",
    b"\0asm",
)
"""First bytes of compiled programs and libraries: ELF, PE, Mach-O, archives and WebAssembly."""

_PICKLED = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_LOADS = (b"builtins", b"exec", b"marshal")
_DECODE: "tuple[tuple[re.Pattern[bytes], Callable[[bytes], bytes]], ...]" = (
    (_BASE64, lambda data: base64.b64decode(data.translate(bytes.maketrans(b"-_", b"+/")))),
    (_BASE85, base64.b85decode),
    (_ASCII85, base64.a85decode),
)
_UNPACK: "tuple[Callable[[bytes], bytes], ...]" = (zlib.decompress, bz2.decompress, lzma.decompress)


def ways_to_run_code(text: str) -> frozenset[str]:
    """Return the ways to run code that is not in it which a source mentions."""
    return frozenset(_RUNS.findall(text))


def hidden_in_texts(text: str) -> list[int]:
    """Return the lines of a source on which a text with code begins. Docstrings do not count."""
    try:
        module = parse_module(text.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    told = {id(each.value) for each in ast.walk(module) if isinstance(each, ast.Expr)}
    return [line for line, data in _texts(module, told) if is_code(data)]


def hidden_in_files(text: str, files: Mapping[str, bytes]) -> list[str]:
    """Return the data files with code that a source names.

    Args:
        text: the source.
        files: new and changed files that are not Python, by path.
    """
    return [name for name, data in files.items() if _names(text, name) and is_code(data)]


def is_code(data: bytes, depth: int = 0) -> bool:
    """Return True for Python code, also compiled, packed or encoded."""
    if len(data) < _LEAST_CHARS or len(data) > _MOST_BYTES:
        return False
    if _COMPILED.match(data) or (data.startswith(_PICKLED) and any(each in data for each in _LOADS)):
        return True
    if data.startswith(b"PK"):
        return _holds_modules(data)
    return _is_source(data) or (depth < _DEEPEST and any(is_code(each, depth + 1) for each in unpacked(data)))


def _names(text: str, name: str) -> bool:
    """Return True if a text contains a file's name, or its ending as in a search for such files."""
    file = name.rpartition("/")[2]
    stem, dot, suffix = file.rpartition(".")
    return file in text or bool(dot and stem and f"*.{suffix}" in text)


def _texts(module: ast.Module, told: Collection[int]) -> Iterator[tuple[int, bytes]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and id(node) not in told:
            if isinstance(node.value, str):
                yield node.lineno, node.value.encode("utf-8", "replace")
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value


def _is_source(data: bytes) -> bool:
    try:
        module = parse_module(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(each, _DEFINES) for each in module.body)


def _holds_modules(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.endswith((".py", ".pyc")) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError):
        return False


def unpacked(data: bytes) -> Iterator[bytes]:
    """Yield what some bytes may be a packed or encoded form of."""
    for unpack in _UNPACK:
        with suppress(zlib.error, OSError, ValueError, lzma.LZMAError, EOFError):
            yield unpack(data)
    if _HEX.fullmatch(data):
        yield bytes.fromhex(data.decode())
        return
    for alphabet, decode in _DECODE:
        with suppress(binascii.Error, ValueError):
            if alphabet.fullmatch(data):
                yield decode(data)
