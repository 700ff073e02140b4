"""`doctor`: checks whether this machine has what PhaseRunner needs."""

from typing import Annotated

from cyclopts import Parameter

from app.cli.exits import CliError, ExitCode
from app.cli.network_probes import examine_network
from app.cli.probes import examine
from app.cli.repairing import repair
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.words import look

_Flag = Parameter(negative="")


async def doctor(
    *,
    fix: Annotated[bool, _Flag] = False,
    yes: Annotated[bool, _Flag] = False,
    network: Annotated[bool, _Flag] = False,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Check what PhaseRunner needs and say how to fix it; exit code 6 if something is missing.

    Args:
        fix: Show the commands that fix this machine, and run each one after asking.
        yes: Run them without asking.
        network: Also try the proxy, the certificates, and every host in the settings.
    """
    if yes and not fix:
        raise CliError("--yes: needs --fix")
    terminal = root.terminal(options)
    if fix:
        repair(root, terminal, agreed=yes)
    async with root.session(options) as session:
        findings = await examine(root.settings, root.data_dir, session.api)
    if network:
        findings += await examine_network(root.settings, root.cwd)
    healthy = all(each.level != "fail" for each in findings)
    if terminal.as_json:
        terminal.json({"ok": healthy, "findings": [each.document() for each in findings]})
    else:
        width = max(len(each.name) for each in findings)
        for each in findings:
            appearance = look(each.level)
            words = f"{appearance.icon} {each.level:<4}  {each.name:<{width}}  {each.detail}"
            terminal.prose(words, appearance.style, column=width + 10)
            if each.advice:
                terminal.line(f"{'':{width + 10}}{each.advice}")
    return ExitCode.PASSED if healthy else ExitCode.INFRASTRUCTURE
