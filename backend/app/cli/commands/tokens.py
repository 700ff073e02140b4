"""`tokens`: manages access to a service that is not on loopback, in the service's database."""

from cyclopts import App

from app.cli.exits import ExitCode
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.cli.view.text import one_line
from app.composition.services import token_service
from app.core.security import Role

app = App(name="tokens")


@app.command
async def create(
    name: str,
    /,
    *,
    role: Role = Role.OPERATOR,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Create a token and print it once: the service keeps only a digest.

    Args:
        name: The user or program that the token is for.
        role: viewer reads; operator also starts and cancels; reviewer also resolves escalations; admin may
            do everything.
    """
    terminal = root.terminal(options)
    async with token_service(root.settings) as tokens:
        created = await tokens.create(name, role.value)
    if terminal.as_json:
        terminal.json({"name": name, "role": role.value, "token": created})
    else:
        terminal.say(f"Token for {name} ({role.value}). It is not shown again:")
        terminal.raw(f"{created}\n")
    return ExitCode.PASSED


@app.command(name="list")
async def list_tokens(*, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """List tokens by name, role and last use."""
    terminal = root.terminal(options)
    async with token_service(root.settings) as tokens:
        found = await tokens.list()
    if terminal.as_json:
        terminal.json([each.model_dump(mode="json") for each in found])
    for each in [] if terminal.as_json else found:
        state = f"revoked {each.revoked_at:%Y-%m-%d}" if each.revoked_at else "valid"
        used = f"last used {each.last_used_at:%Y-%m-%d %H:%M} UTC" if each.last_used_at else "never used"
        terminal.line(f"{one_line(each.name, 60):<24}  {each.role:<10}  {state:<20}  {used}")
    return ExitCode.PASSED


@app.command
async def revoke(name: str, /, *, options: Options = DEFAULT_OPTIONS, root: RootArgument) -> int:
    """Revoke a token. This takes effect at once.

    Args:
        name: The name given at creation.
    """
    terminal = root.terminal(options)
    async with token_service(root.settings) as tokens:
        await tokens.revoke(name)
    if terminal.as_json:
        terminal.json({"name": name, "revoked": True})
    else:
        terminal.line(f"The token of {name} is revoked")
    return ExitCode.PASSED
