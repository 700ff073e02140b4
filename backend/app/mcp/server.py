"""Builds the MCP server: five tools, and runs with their diffs and evidence as resources."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal
from urllib.parse import quote
from uuid import UUID

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from app.core.errors import PhaseRunnerError
from app.mcp.answers import JudgedWorkspace, RunSummary, judged_workspace, run_status
from app.mcp.ports import OpenEvaluating, OpenService, ServiceClient, ServiceRefusedError
from app.schemas.api.workspace_reports import EvaluateRequest
from app.schemas.runs import Phase
from app.schemas.workspaces import is_url

_BEAT_SECONDS = 5.0
_POLL_SECONDS = 2.0
_MAX_WAIT_SECONDS = 3600
_PAGE, _MAX_PAGES = 100, 10
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=False)
_DECIDES = ToolAnnotations(read_only_hint=False, destructive_hint=True)
_INSTRUCTIONS = (
    "judge_workspace evaluates a directory as PhaseRunner's gates do; call it before you call work done. "
    "The other tools need a PhaseRunner service. Resolve an escalation only if your user has decided."
)

_JSON = "application/json"

RunId = Annotated[UUID, Field(description="Id of a run")]


def build_server(version: str, evaluating: OpenEvaluating, service: OpenService) -> MCPServer[Any]:
    """Build the server.

    Args:
        version: PhaseRunner's version.
        evaluating: opens the evaluation of directories on this machine.
        service: opens the service with a caller's token.
    """
    server: MCPServer[Any] = MCPServer(
        "phaserunner", version=version, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    tools = _Tools(evaluating, service)
    server.add_tool(tools.judge_workspace, annotations=_READS)
    server.add_tool(tools.start_run, annotations=_ACTS)
    server.add_tool(tools.run_status, annotations=_READS)
    server.add_tool(tools.list_escalations, annotations=_READS)
    server.add_tool(tools.resolve_escalation, annotations=_DECIDES)
    server.resource("phaserunner://lists/runs/{status}", name="runs", mime_type=_JSON)(tools.read_runs)
    server.resource("phaserunner://runs/{run_id}", name="run", mime_type=_JSON)(tools.read_run)
    attempt = "phaserunner://runs/{run_id}/attempts/{phase}/{number}"
    server.resource(f"{attempt}/evidence", name="evidence", mime_type=_JSON)(tools.read_evidence)
    server.resource(f"{attempt}/diff", name="diff", mime_type=_JSON)(tools.read_diff)
    return server


class _Tools:
    """The tools and resources. Agents read the docstrings of its methods."""

    def __init__(self, evaluating: OpenEvaluating, service: OpenService) -> None:
        self._evaluating = evaluating
        self._service = service

    async def judge_workspace(
        self,
        ctx: Context[Any, Any],
        path: Annotated[str, Field(description="The project, absolute")],
        base: Annotated[str | None, Field(description="Git reference; its issues do not count")] = None,
        phase: Annotated[Phase, Field(description="Whose evaluators run")] = Phase.CODING,
        goal: Annotated[str, Field(description="The purpose of the work")] = "",
        deterministic_only: Annotated[bool, Field(description="Ask no models")] = True,
    ) -> JudgedWorkspace:
        """Evaluate a directory as it is on the disk now; nothing is written to it."""
        fields = {
            "path": path,
            "base": base,
            "phase": phase,
            "goal": goal,
            "deterministic_only": deterministic_only,
        }
        try:
            request = EvaluateRequest.model_validate(fields)
            async with self._evaluating() as evaluating, _beating(ctx, "the evaluators run"):
                return judged_workspace(await evaluating.judge(request))
        except ValidationError as error:
            raise ToolError(_first(error)) from error
        except PhaseRunnerError as error:
            raise ToolError(f"{error.field}: {error.detail}" if error.field else error.detail) from error

    async def start_run(
        self,
        ctx: Context[Any, Any],
        goal: Annotated[str, Field(min_length=1, description="What the agent is to do")],
        repo: Annotated[str, Field(description="Absolute path on the service's machine, or a URL")],
        ref: Annotated[str | None, Field(description="Git reference to start from")] = None,
        phases: Annotated[list[Phase] | None, Field(description="All three by default")] = None,
        max_attempts: Annotated[int | None, Field(ge=1, le=20, description="For each phase")] = None,
    ) -> RunSummary:
        """Start a sprint: an agent works on a copy of the repository, and gates decide what passes."""
        source: dict[str, Any] = (
            {"kind": "git", "url": repo} if is_url(repo) else {"kind": "local", "path": repo}
        )
        fields: dict[str, Any] = {"goal": goal, "source": {**source, **({"ref": ref} if ref else {})}}
        fields |= {"phases": phases} if phases else {}
        fields |= {"policy": {"attempts_per_phase": max_attempts}} if max_attempts else {}
        async with self._caller(ctx) as service, _beating(ctx, "the service reads the repository"):
            return run_status(await service.start(fields))

    async def run_status(
        self,
        ctx: Context[Any, Any],
        run_id: RunId,
        wait_seconds: Annotated[
            int, Field(ge=0, le=_MAX_WAIT_SECONDS, description="Wait until it rests, at most this long")
        ] = 0,
    ) -> RunSummary:
        """Say where a run is and what its last attempt failed."""
        waited = 0.0
        async with self._caller(ctx) as service:
            while True:
                found = run_status(await service.call("GET", f"/runs/{run_id}"))
                if found.rests or waited >= wait_seconds:
                    return found
                told = f"{found.phase or 'queued'}, attempt {found.attempt} of {found.max_attempts}"
                await ctx.report_progress(waited, wait_seconds, told)
                await anyio.sleep(_POLL_SECONDS)
                waited += _POLL_SECONDS

    async def list_escalations(
        self, ctx: Context[Any, Any], status: Literal["open", "resolved", "withdrawn"] = "open"
    ) -> list[dict[str, Any]]:
        """List runs that wait for a reviewer, with the version that resolving needs: the oldest thousand."""
        found: list[dict[str, Any]] = []
        chosen = {"status": status, "limit": str(_PAGE)}
        async with self._caller(ctx) as service:
            for _ in range(_MAX_PAGES):
                page = await service.call("GET", "/escalations", params=chosen)
                found += page["items"]
                if page["next_cursor"] is None:
                    break
                chosen["cursor"] = page["next_cursor"]
        return found

    async def resolve_escalation(
        self,
        ctx: Context[Any, Any],
        escalation_id: Annotated[UUID, Field(description="Id of an open escalation")],
        decision: Literal["accept", "retry", "reject"],
        version: Annotated[int, Field(description="Version that you have seen; a later one is refused")],
        guidance: Annotated[str, Field(description="What the agent should do differently")] = "",
        additional_attempts: Annotated[int | None, Field(ge=1, le=20, description="With retry")] = None,
    ) -> dict[str, Any]:
        """Record a reviewer's decision. It needs the role of a reviewer."""
        body: dict[str, Any] = {"decision": decision, "version": version, "guidance": guidance}
        body |= {"additional_attempts": additional_attempts} if additional_attempts else {}
        async with self._caller(ctx) as service:
            return await service.call("POST", f"/escalations/{escalation_id}/resolve", body=body)

    async def read_runs(self, status: str, ctx: Context[Any, Any]) -> str:
        """The newest hundred runs with a status, or with `any`."""
        chosen = {} if status == "any" else {"status": status}
        return await self._resource("/runs", ctx, {"limit": "100", **chosen})

    async def read_run(self, run_id: str, ctx: Context[Any, Any]) -> str:
        """A run with its phases and attempts."""
        return await self._resource(f"/runs/{_run_id(run_id)}", ctx)

    async def read_diff(self, run_id: str, phase: str, number: str, ctx: Context[Any, Any]) -> str:
        """What an attempt changed against the base."""
        path = f"/runs/{_run_id(run_id)}/attempts/{quote(phase, safe='')}/{quote(number, safe='')}/diff"
        return await self._resource(path, ctx, {"against": "base"})

    async def read_evidence(self, run_id: str, phase: str, number: str, ctx: Context[Any, Any]) -> str:
        """The evaluators' results for an attempt, with evidence."""
        run = json.loads(await self._resource(f"/runs/{_run_id(run_id)}", ctx))
        for each in run["attempts"]:
            if (each["phase"], str(each["number"])) == (phase, number):
                return json.dumps(each["evaluations"])
        raise ResourceError(f"run {run_id} has no attempt {phase}/{number}")

    async def _resource(
        self, path: str, ctx: Context[Any, Any], params: Mapping[str, str] | None = None
    ) -> str:
        try:
            async with self._service(_token(ctx)) as service:
                return json.dumps(await service.call("GET", path, params=params))
        except ServiceRefusedError as error:
            raise ResourceError(str(error)) from error

    @asynccontextmanager
    async def _caller(self, ctx: Context[Any, Any]) -> AsyncGenerator[ServiceClient]:
        try:
            async with self._service(_token(ctx)) as service:
                yield service
        except ServiceRefusedError as error:
            raise ToolError(str(error)) from error


def _run_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as error:
        raise ResourceError(f"run_id: {given[:80]!r} is not the id of a run") from error


@asynccontextmanager
async def _beating(ctx: Context[Any, Any], doing: str) -> AsyncGenerator[None]:
    """Report progress until the work is done, so that the caller knows that it is still running."""

    async def beat() -> None:
        seconds = 0.0
        while True:
            await ctx.report_progress(seconds, None, doing)
            await anyio.sleep(_BEAT_SECONDS)
            seconds += _BEAT_SECONDS

    foreseen: PhaseRunnerError | ServiceRefusedError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        try:
            yield
        except (PhaseRunnerError, ServiceRefusedError) as error:
            foreseen = error  # the task group would wrap it
        group.cancel_scope.cancel()
    if foreseen is not None:
        raise foreseen


def _token(ctx: Context[Any, Any]) -> str | None:
    """Return the token that a caller over HTTP sent; None over standard input and output."""
    request = ctx.request_context.request
    if request is None:
        return None
    kind, _, token = str(request.headers.get("authorization", "")).partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else ""


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
