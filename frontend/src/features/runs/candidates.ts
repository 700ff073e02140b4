/** How candidates of an attempt compare. Pure. */
import type { Schemas } from "@/lib/api/client";
import { plural } from "@/lib/format";
import type { Attempt } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";

type Candidate = Pick<Schemas["CandidateView"], "error" | "evaluations" | "chosen">;
type Status = "passed" | "failed" | "errored" | "skipped";

/** What the gates together say of a candidate, and how many did not pass. */
export function gatesOf({ error, evaluations }: Candidate): { status: Status; open: number } {
  const gates = evaluations.filter((each) => each.gate);
  const open = gates.filter((each) => each.status === "failed" || each.status === "errored").length;
  if (gates.length === 0) return { status: error ? "errored" : "skipped", open };
  if (gates.some((each) => each.status === "failed")) return { status: "failed", open };
  return { status: open > 0 ? "errored" : "passed", open };
}

/** Why this candidate was chosen or not, in a sentence. */
export function choiceOf(
  attempt: Pick<Attempt, "phase" | "number" | "choice_reason">,
  all: readonly Candidate[],
  one: Candidate,
  events: readonly RunEvent[],
): string {
  const judged = events.findLast(
    (each) =>
      each.event === "judge.decided" && each.phase === attempt.phase && each.attempt === attempt.number,
  );
  const choice = judged?.event === "judge.decided" ? judged.data : null;
  if (one.chosen && attempt.choice_reason) return `Chosen. ${attempt.choice_reason}`;
  return one.chosen ? whyChosen(choice) : whyNot(all, one, Boolean(choice?.model));
}

/** The agent's name for a tab, where candidates have different ones. */
export function agentOf(all: readonly { agent: string }[], one: { agent: string }): string {
  return all.every((each) => each.agent === one.agent) ? "" : one.agent;
}

/** For attempts that recorded no reason. Without a judge's model the first of equals is taken. */
function whyChosen(choice: { model?: unknown; rationale?: unknown } | null): string {
  if (choice === null) return "Chosen because the gates rank it first.";
  const who = choice.model ? "Chosen by the judge" : "Chosen";
  const rationale = choice.rationale ? `: ${String(choice.rationale)}` : ".";
  return `${who} among candidates that the gates rank alike${rationale}`;
}

function whyNot(all: readonly Candidate[], one: Candidate, isJudged: boolean): string {
  if (one.error) return "Not chosen: its agent failed.";
  const chosen = all.find((each) => each.chosen);
  const [open, least] = [gatesOf(one).open, chosen ? gatesOf(chosen).open : 0];
  if (open > least)
    return `Not chosen: ${plural(open, "gate")} did not pass, against ${least} of the chosen one.`;
  return isJudged
    ? "Not chosen: the judge preferred another candidate."
    : "Not chosen: another candidate came before it.";
}
