"""`agents`: lists agents and what they lack, and tests installed ones with a scripted model."""

from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line

app = App(name="agents")


@app.default
async def agents(*, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """List agents with their version and what each one lacks. Uses this machine's settings."""
    # Imported here, because help and other commands do not need it.
    from app.composition.agents import list_agents  # noqa: PLC0415 - only to list: keeps start-up quick

    terminal = root.terminal(options)
    found = await list_agents(root.settings)
    if terminal.as_json:
        terminal.json(found.model_dump(mode="json"))
        return ExitCode.PASSED
    for each in found.items:
        version = each.version or ("-" if each.kind == "installed" else each.kind)
        state = "ready" if each.ready else each.missing or ""
        network = f"{each.driver}, {each.network}" if each.driver else ""
        sign = "*" if each.is_default else " "
        about = f"{one_line(version):<12} {network:<18} {one_line(state)}"
        terminal.line(f"{sign} {each.name:<16} {about}".rstrip())
    return ExitCode.PASSED


@app.command
async def check(
    name: str,
    /,
    *,
    timeout: Annotated[float, Parameter(validator=Number(gt=0, lte=3600))] = 120.0,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Test an installed agent in the sandbox with a scripted model. Needs no key.

    Args:
        name: The agent, such as codex.
        timeout: Seconds the agent may take for one task.
    """
    from app.composition.agents import agent_checks  # noqa: PLC0415 - only to check: keeps start-up quick

    terminal = root.terminal(options)
    seen: list[dict[str, Any]] = []
    async with agent_checks(root.settings, timeout) as checks:
        async for step in checks.check(name):
            seen.append(
                {"name": step.name, "ok": step.ok, "detail": step.detail, "seconds": round(step.seconds, 2)}
            )
            if not terminal.as_json:
                sign = "ok    " if step.ok else "FAILED"
                terminal.line(f"{sign} {step.name:<20} {one_line(step.detail, 300)}")
    passed = all(each["ok"] for each in seen)
    if terminal.as_json:
        terminal.json({"agent": name, "passed": passed, "steps": seen})
    return ExitCode.PASSED if passed else ExitCode.FAILED
