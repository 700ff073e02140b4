"""What the published client of GitLab's interface that most people use (`@gitbeaker/core`) knows of it.

GitLab's own description is a file of its repository, which no package registry offers. This client is a
package of npm that `make test` fetches: its code names each request, and its types name the fields of each
answer. Without it, the tests that need it are skipped.
"""

import re
import tarfile
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import pytest

from tests.forge_double import Exchange
from tests.github_description import PLACE

ARCHIVE = "gitbeaker-core-43.8.0.tgz"

_ANSWERS = {
    r"GET user": "ExpandedUserSchema",
    r"GET users": "UserSchema",
    r"GET projects/[^/]+": "ProjectSchema",
    r"GET projects/[^/]+/members/all/\d+": "MemberSchema",
    r"GET projects/[^/]+/events": "EventSchema",
    r"GET projects/[^/]+/issues(/\d+)?": "IssueSchema",
    r"GET projects/[^/]+/issues/\d+/resource_label_events": "LabelEventSchema",
    r"(GET|POST|PUT) projects/[^/]+/(issues|merge_requests)/\d+/notes(/\d+)?": "NoteSchema",
    r"(GET|POST|PUT) projects/[^/]+/merge_requests(/\d+)?": "ExpandedMergeRequestSchema",
    r"GET projects/[^/]+/merge_requests/\d+/discussions": "DiscussionSchema",
    r"GET projects/[^/]+/merge_requests/\d+/approvals": "MergeRequestLevelMergeRequestApprovalSchema",
    r"GET projects/[^/]+/merge_requests/\d+/reviewers": "MergeRequestReviewerSchema",
    r"GET projects/[^/]+/repository/commits": "CommitSchema",
    r"GET projects/[^/]+/repository/commits/\w+/statuses": "CommitStatusSchema",
    r"POST projects/[^/]+/statuses/\w+": "CommitStatusSchema",
    r"GET projects/[^/]+/repository/branches/[^/]+": "BranchSchema",
    r"GET projects/[^/]+/repository/merge_base": "CommitSchema",
}
"""The type of each answer, by method and path; a list holds many of it."""

_MORE = {
    "DiscussionNoteSchema": {"position", "resolved"},
    "EventSchema": {"note"},
}
"""Fields that GitLab's documentation has and the client's types lack."""

_VALUES = {"ExpandedMergeRequestSchema.detailed_merge_status": ("conflict", "preparing")}
"""Values that GitLab's documentation has and the client's types lack."""

_CALL = re.compile(r"RequestHelper\.(get|post|put|del)\(\)\(\s*this,\s*(?:endpoint)?[`\"']([^`\"']*)[`\"']")
_READ = re.compile(r"url\d* = [^`;]*endpoint`([^`]*)`")
"""An address in a variable; what is sent there is read."""

_ASSEMBLED = (
    "projects/${project}/members/all/${user}",
    "projects/${project}/merge_requests",
)
"""Addresses of reads that the client puts together from parts."""

_INTERFACE = re.compile(r"^interface (\w+)(?: extends ([^{]+?))? \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^ {4}(\w+)\??: (.+?);?$", re.MULTILINE)
_PLAIN: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}


def complaints_about(exchange: Exchange) -> list[str]:
    """Say what of a request or its answer the client does not know.

    An answer may leave out what a real one always has, but each of its fields must exist and have its type.
    """
    path = exchange.path.strip("/")
    asked = f"{exchange.method} {path}"
    said: list[str] = []
    if not _is_call(exchange.method, path):
        said.append("no such request")
    names = [*exchange.query, *(cast("dict[str, Any]", exchange.body or {}))]
    said += [f"no parameter is called {each}" for each in names if _camel(each) not in _words()]
    if exchange.status < 400 and not path.endswith("/trace"):
        schema = next((name for pattern, name in _ANSWERS.items() if re.fullmatch(pattern, asked)), None)
        if schema is None:
            said.append("no type is known for its answer")
        else:
            said += _wrong(schema, exchange.answer)
    return [f"{asked}: {each}" for each in said]


def _is_call(method: str, path: str) -> bool:
    """Tell whether the client makes such a request; some parts leave the beginning to a base URL."""
    return any(
        verb == method and (pattern.fullmatch(path) or pattern.fullmatch(path.removeprefix("projects/")))
        for verb, pattern in _calls()
    )


def _wrong(schema: str, answer: Any) -> Iterator[str]:
    every = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
    for each in every:
        fields = _fields(schema)
        for name, value in cast("dict[str, Any]", each).items():
            if name not in fields and name not in _MORE.get(schema, ()):
                yield f"{schema} has no field {name}"
            elif name in fields:
                yield from _misfit(f"{schema}.{name}", fields[name], value)


def _misfit(place: str, kind: str, value: Any) -> Iterator[str]:
    if value is None:
        return  # the types say too seldom what may be null
    inner = re.fullmatch(r"(?:MappedOmit<)?(\w+Schema|\w+Entity)(?:, .*>)?(\[\])?", kind)
    if inner is not None:
        if isinstance(value, list) != bool(inner[2]):
            yield f"{place} is {kind}"
        else:
            yield from _wrong(inner[1], value)
    elif kind in _PLAIN and (not isinstance(value, _PLAIN[kind]) or (kind == "number" and value is True)):
        yield f"{place} is a {kind}"
    elif kind.startswith("'") and f"'{value}'" not in kind and value not in _VALUES.get(place, ()):
        yield f"{place} is none of {kind}"


@cache
def _member(name: str) -> str:
    path = PLACE / ARCHIVE
    if not path.exists():
        pytest.skip(f"{path.name} is not there; `python .ci/forge_samples.py` fetches it")
    with tarfile.open(path) as opened:
        content = opened.extractfile(f"package/dist/{name}")
        assert content is not None
        return content.read().decode()


@cache
def _calls() -> list[tuple[str, re.Pattern[str]]]:
    verbs = {"get": "GET", "post": "POST", "put": "PUT", "del": "DELETE"}
    found: list[tuple[str, re.Pattern[str]]] = []
    reads = [("get", path) for path in (*_READ.findall(_member("index.js")), *_ASSEMBLED)]
    for verb, path in [*_CALL.findall(_member("index.js")), *reads]:
        parts = re.split(r"\$\{[^}]*\}", path)
        if not "".join(parts).strip("/"):
            continue  # it would fit everything
        found.append((verbs[verb], re.compile("[^/]+".join(re.escape(each) for each in parts))))
    return found


@cache
def _interfaces() -> Mapping[str, tuple[str, str]]:
    return {name: (above, body) for name, above, body in _INTERFACE.findall(_member("index.d.ts"))}


@cache
def _fields(schema: str) -> Mapping[str, str]:
    above, body = _interfaces()[schema]
    found: dict[str, str] = {}
    for each in re.findall(r"\b(\w+(?:Schema|Entity))\b", above):
        found |= _fields(each)
    return found | {name: kind.removesuffix(" | null") for name, kind in _FIELD.findall(body)}


@cache
def _words() -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _member("index.d.ts") + _member("map.json")))


def _camel(name: str) -> str:
    first, *rest = name.removesuffix("[]").split("_")
    return first + "".join(each.capitalize() for each in rest)
