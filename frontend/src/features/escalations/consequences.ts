/** What each decision does to each kind of run, as the service carries it out. Pure. */
import { plural } from "@/lib/format";
import type { Escalation, EscalationDetail } from "@/lib/queries/escalations";

import type { Decision } from "./resolution";

type Kind = Escalation["kind"];
type Asked = Pick<
  EscalationDetail,
  "kind" | "attempt" | "attempts" | "attempt_id" | "would_give" | "questions"
>;

/** What one try is called. */
export const TRY: Record<Kind, string> = { sprint: "attempt", director_loop: "iteration", answer: "attempt" };

/** The same at the beginning of a line. */
export const TRY_TITLE: Record<Kind, string> = {
  sprint: "Attempt",
  director_loop: "Iteration",
  answer: "Attempt",
};

/** Who reads the guidance, as the label of its field. */
export const GUIDANCE: Record<Kind, string> = {
  sprint: "Guidance for the next attempt",
  director_loop: "Guidance for the director",
  answer: "Guidance for the next attempt",
};

/** Where a run stands: loops and answers have one phase, whose name says no more than their kind. */
export function placeOf({ kind, phase, attempt }: Pick<Escalation, "kind" | "phase" | "attempt">): string {
  const tried = attempt > 0 ? `${TRY[kind]} ${attempt}` : "";
  return [kind === "sprint" ? phase : "", tried].filter(Boolean).join(", ");
}

export function consequence(decision: Decision, asked: Asked): string {
  if (decision === "accept") return accepted(asked);
  return decision === "retry" ? retried(asked) : REJECTED[asked.kind];
}

const REJECTED: Record<Kind, string> = {
  sprint: "The sprint fails.",
  director_loop: "The loop fails. Its iterations stay readable.",
  answer: "The answer fails. Its attempts stay readable.",
};

function accepted({ kind, would_give: given, questions }: Asked): string {
  if (kind === "sprint") {
    const allowed = questions.length > 0 ? "What the questions show is allowed, and nothing else. " : "";
    return `${allowed}The phase passes and the next phase begins. After the last phase the sprint is completed.`;
  }
  if (kind === "director_loop")
    return "The loop completes with this output as its result. It is not evaluated again.";
  if (!given) return "It ends without an answer: no attempt was evaluated.";
  if (given.withheld) return "It ends without an answer: every attempt broke the safety rules.";
  return "It ends with the best evaluated attempt that keeps the safety rules, and with its gaps.";
}

function retried(asked: Asked): string {
  const { kind } = asked;
  if (isUnjudged(asked))
    return `The output is evaluated again as it is. Your guidance reaches the next ${TRY[kind]}, if one follows.`;
  if (kind === "director_loop") return "The director proposes again, with your guidance among its inputs.";
  if (kind === "answer") return "The answer is written again, with your guidance in the prompt.";
  return "The agent tries again, with your guidance in its prompt.";
}

/** Whether there is output without a verdict: then the agent is not asked again. */
function isUnjudged({ attempts, attempt_id: id }: Asked): boolean {
  const status = attempts.find((each) => each.id === id)?.status;
  return status === "produced" || status === "evaluating";
}

export function furtherText(kind: Kind, count: number): string {
  return plural(count, `further ${TRY[kind]}`);
}
