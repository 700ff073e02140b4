"""Says in lines what became of a run on its forge."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.cli.view.text import one_line

if TYPE_CHECKING:
    # Every command imports this module; each of them needs few of these.
    from app.schemas.api.run_details import RunDetail
    from app.schemas.forges import ForgeView, PushStatus, ReviewView

Line = tuple[str, str]
"""Text and its style."""

_PUSHES: "Mapping[PushStatus, str]" = {
    "passed": "passed the gates",
    "failed": "failed the gates",
    "errored": "has no verdict",
    "asks": "asks a person",
    "conflicts": "is not judged",
}


def forge_lines(run: "RunDetail") -> list[Line]:
    """Say what became of a run on its forge."""
    forge = run.forge
    if forge is None:
        return []
    issue = f", issue {forge.issue}" if forge.issue is not None else ""
    lines = [(f"  forge   {one_line(forge.repository)}{issue}", "")]
    if forge.pull_url is not None:
        outcome = f", {outcome_words(forge)}" if forge.outcome else ""
        lines.append((f"  pull request  {one_line(forge.pull_url)}{outcome}", ""))
    if forge.reverted_commit is not None:
        lines.append((f"  reverted by   {forge.reverted_commit[:12]}", "yellow"))
    if forge.review is not None:
        rounds = f", rounds: {forge.review.rounds}" if forge.review.rounds else ""
        lines.append((f"  review  {forge.review.state}: {one_line(forge.review.reason)}{rounds}", ""))
        lines += push_lines(forge.review)
    if forge.problem:
        lines.append((f"  not reported: {one_line(forge.problem, 500)}", "yellow"))
    return lines


def push_lines(review: "ReviewView") -> list[Line]:
    """Say what the gates think of what other people pushed."""
    push = review.push
    if push is None:
        return []
    why = "" if push.status == "passed" else f": {one_line(push.reason)}"
    text = f"  pushed by others  {push.commit[:12]} {_PUSHES[push.status]}{why}"
    return [(text, "" if push.status == "passed" else "yellow")]


def outcome_words(forge: "ForgeView") -> str:
    """Say what became of a pull request and who ended it. Edits and a revert may be by others."""
    by = f" by {one_line(forge.outcome_by)}" if forge.outcome_by else ""
    match forge.ended_as:
        case "merged_unchanged":
            return f"merged unchanged{by}"
        case "merged_edited":
            return (
                f"merged{by}, {share_of_lines(forge.edited_share or 0.0)} of the lines edited after this run"
            )
        case "reverted":
            return f"merged{by}, later reverted"
        case _:
            return f"{forge.outcome or 'open'}{by}"


def share_of_lines(share: float) -> str:
    """Word a share of lines; one that is not zero is never shown as zero."""
    return "less than 1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")
