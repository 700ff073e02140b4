"""`say`: sends a message to the agent of a run."""

from app.cli.exits import ExitCode
from app.cli.given import read_given
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument
from app.schemas.api.messages import MessageCreate, MessageMode


async def say(
    run: str,
    text: str,
    /,
    *,
    mode: MessageMode = MessageMode.STEER,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Send a message to the agent of a sprint. The attempt is marked as steered.

    Args:
        run: Its id, or at least the first 6 characters of it.
        text: The message to the agent; - reads standard input, @FILE reads a file. A sentence may begin
            with @.
        mode: steer: before its next model request, if the agent supports it; queue: when it ends.
    """
    message = read_given(MessageCreate, {"text": root.read_message(text, "TEXT"), "mode": mode})
    async with root.session(options) as session:
        run_id = await find_run(session.api, run)
        sent = await session.api.json(
            "POST", f"/runs/{run_id}/messages", body=message.model_dump(mode="json")
        )
        if session.terminal.as_json:
            session.terminal.json(sent)
        else:
            session.terminal.line(f"Message {sent['id'][:8]} is {sent['status']}")
    return ExitCode.PASSED
