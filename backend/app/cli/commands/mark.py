"""`mark`: records whether a verdict was right."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from cyclopts import Parameter

from app.cli.commands.diff import attempt_of
from app.cli.exits import CliError, ExitCode
from app.cli.identify import find_run
from app.cli.root import DEFAULT_OPTIONS, Options, RootArgument, Session
from app.cli.view.text import one_line
from app.schemas.api.attempts import EvaluationView
from app.schemas.api.marks import MarkView
from app.schemas.api.run_details import RunDetail

_Flag = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Word:
    """A mark on a verdict.

    Attributes:
        right: The verdict was right.
        wrong: The verdict was a wrong pass or a wrong fail.
        take_back: Remove your mark.
        note: The reason; recorded with the mark.
    """

    right: _Flag = False
    wrong: _Flag = False
    take_back: _Flag = False
    note: str = ""


_NOTHING = Word()


async def mark(
    run: str,
    evaluator: str,
    /,
    *,
    attempt: Annotated[
        str | None, Parameter(help="PHASE/NUMBER [default: the latest with a commit].")
    ] = None,
    word: Word = _NOTHING,
    options: Options = DEFAULT_OPTIONS,
    root: RootArgument,
) -> int:
    """Mark an evaluator's verdict on an attempt as right or wrong, to measure the evaluator.

    Each reviewer has one mark per verdict; a new mark replaces the old one.

    Args:
        run: Its id, or at least the first 6 characters of it.
        evaluator: The evaluator that gave the verdict.
        word: The mark.
    """
    if sum((word.right, word.wrong, word.take_back)) != 1:
        raise CliError("mark: give exactly one of --right, --wrong and --take-back")
    async with root.session(options) as session:
        detail = await session.api.run(await find_run(session.api, run))
        verdict = _verdict_of(detail, evaluator, attempt)
        if word.take_back:
            await _take_back(session, verdict, root.user)
        else:
            await _mark(session, verdict.id, was_right=word.right, note=word.note)
    return ExitCode.PASSED


async def _mark(session: Session, verdict: UUID, *, was_right: bool, note: str) -> None:
    body = {"was_right": was_right, "note": note}
    document = await session.api.json("POST", f"/evaluations/{verdict}/marks", body=body)
    if session.terminal.as_json:
        session.terminal.json(document)
        return
    made = MarkView.model_validate(document)
    session.terminal.line(f"{one_line(made.marked_by)} marked it as {_KINDS[made.kind]}")


async def _take_back(session: Session, verdict: EvaluationView, user: str) -> None:
    marks = verdict.marks
    # With a token, only the service knows the caller, and it refuses changes to other people's marks.
    own = [each for each in marks if each.marked_by == user] or marks
    if len(own) != 1:
        made = ", ".join(one_line(each.marked_by) for each in marks) or "none"
        raise CliError(f"--take-back: cannot tell which mark is yours; the verdict has marks by: {made}")
    await session.api.fetch(f"/evaluations/{verdict.id}/marks/{own[0].id}", method="DELETE")
    session.terminal.say(f"Removed the mark by {one_line(own[0].marked_by)}")


def _verdict_of(run: RunDetail, evaluator: str, given: str | None) -> EvaluationView:
    phase, number = attempt_of(run, given)
    attempt = next(each for each in run.attempts if (each.phase, each.number) == (phase, number))
    for each in attempt.evaluations:
        if each.evaluator == evaluator:
            return each
    there = ", ".join(one_line(each.evaluator) for each in attempt.evaluations) or "none yet"
    raise CliError(
        f"evaluator: {one_line(evaluator, 60)} has no verdict on {phase}/{number}; there are: {there}"
    )


_KINDS = {"right": "right", "wrong_pass": "a wrong pass", "wrong_fail": "a wrong fail"}
