"""Drives an agent that is a command: passes it the prompt, reads its output, and waits for its end."""

import asyncio
import codecs
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from app.agents.external.events import AgentEnding, AgentEvent, AgentFinished, AgentSaid, AgentStirred
from app.agents.external.outputs import OutputParser
from app.agents.programs import RunningProgram

SETTLE_SECONDS = 10.0
"""Seconds that an agent may run on after its final event. Some never exit."""

TERM_SECONDS = 3.0
_CHUNK = 65_536
_TAIL_CHARS = 50_000

TakeEvent = Callable[[AgentEvent], None]

TakeMessages = Callable[[], Awaitable[str | None]]
"""Returns the messages that people wrote to the agent since the last call, as one text, or None."""


class CannotResumeError(Exception):
    """The agent does not continue an earlier conversation. The message says why."""


class UnreadableOutputError(Exception):
    """The agent's output cannot be read. The message says why."""


async def drive_command(
    program: RunningProgram, prompt: str | None, parser: OutputParser, take: TakeEvent
) -> AgentEnding:
    """Follow a command to its end.

    Args:
        program: the running command.
        prompt: its standard input; None closes that at once.
        parser: reads its output.
        take: gets each event when it happens.

    Raises:
        UnreadableOutputError: a line is longer than the limit.
        OSError: the command did not start.
    """
    ending = AgentEnding()

    def note(event: AgentEvent) -> None:
        ending.take(event)
        take(event)

    feeding = asyncio.create_task(_feed(program, prompt))
    # The output ends with the program, even if something that it left behind holds the pipe.
    waiting = asyncio.create_task(program.wait())
    try:
        if parser.has_final_event:
            await _follow_lines(program, parser, note, ending)
        else:
            await _follow_text(program, parser, note)
        await _see_it_end(program, waiting, ending)
    finally:
        await end_tasks(feeding, waiting)
    ending.stderr = program.stderr()
    return ending


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait for their ends. Their results and errors no longer matter."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()


async def _feed(program: RunningProgram, prompt: str | None) -> None:
    # It is no fault if a command does not read its input, or ends before it has read all of it.
    with suppress(OSError):
        if prompt is not None:
            program.stdin.write(prompt.encode("utf-8", "replace"))
            await program.stdin.drain()
        program.stdin.close()


async def _follow_lines(
    program: RunningProgram, parser: OutputParser, note: TakeEvent, ending: AgentEnding
) -> None:
    while not ending.is_over:
        try:
            line = await program.stdout.readline()
        except ValueError as error:
            raise UnreadableOutputError("the agent printed a line that is too long to be read") from error
        if not line:
            return
        note(AgentStirred())
        for event in parser.take(line.decode("utf-8", "replace")):
            note(event)


async def _follow_text(program: RunningProgram, parser: OutputParser, note: TakeEvent) -> None:
    """Report text as it arrives, in blocks of lines if it arrives fast.

    The last part is the final message.
    """
    tail = ""
    async for text in _texts(program.stdout, lambda: note(AgentStirred())):
        for event in parser.take(text):
            note(event)
            if isinstance(event, AgentSaid):
                tail = f"{tail}\n{event.text}"[-_TAIL_CHARS:]
    note(AgentFinished(tail.strip()))


async def _texts(stream: asyncio.StreamReader, stirred: Callable[[], None]) -> AsyncGenerator[str]:
    """Yield whole lines as they arrive. A line longer than a block is split.

    Call `stirred` for each part of a line, too.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while data := await stream.read(_CHUNK):
        stirred()
        whole, cut, rest = (rest + decoder.decode(data)).rpartition("\n")
        if cut:
            yield whole
        if len(rest) > _CHUNK:
            yield rest
            rest = ""
    if rest:
        yield rest


async def _see_it_end(program: RunningProgram, waiting: asyncio.Task[int], ending: AgentEnding) -> None:
    reading = asyncio.create_task(_read_out(program.stdout))
    try:
        async with asyncio.timeout(SETTLE_SECONDS):
            ending.status = await asyncio.shield(waiting)
    except TimeoutError:
        await program.terminate(TERM_SECONDS)
    finally:
        await end_tasks(reading)


async def _read_out(stream: asyncio.StreamReader) -> None:
    # A full pipe would prevent the program from ending.
    while await stream.read(_CHUNK):
        pass
