/** Which verdict of a run deserves to be seen first. Pure. */
import type { Attempt, Evaluation, RunDetail } from "./queries/runs";

/** The order in which verdicts of one attempt deserve attention: gates before advice, failures first. */
const RANK: Record<string, number> = { failed: 0, errored: 1, skipped: 2, passed: 3 };

export function byAttention(evaluations: readonly Evaluation[]): readonly Evaluation[] {
  return evaluations.toSorted((one, other) => rank(one) - rank(other));
}

function rank(each: Evaluation): number {
  const position = RANK[each.status] ?? 2;
  // What did not pass and does not decide comes after every gate that did not pass.
  return position * 2 + (each.gate ? 0 : position < 2 ? 5 : 1);
}

/** The latest attempt that was judged, else the latest one. */
export function attemptToShow(attempts: readonly Attempt[]): Attempt | undefined {
  return attempts.findLast((each) => each.evaluations.length > 0) ?? attempts.at(-1);
}

/** The attempt that a URL names, else the one to show. */
export function chosenAttempt(
  run: RunDetail,
  phase: string | undefined,
  number: number | undefined,
): Attempt | undefined {
  if (number === undefined) return attemptToShow(run.attempts);
  const named = run.attempts.filter(
    (each) => each.number === number && (phase === undefined || each.phase === phase),
  );
  return named.at(-1) ?? attemptToShow(run.attempts);
}

/** Tells whether a verdict's score means something: a skipped or errored one measured nothing. */
export function isScored(evaluation: Evaluation): boolean {
  return evaluation.status === "passed" || evaluation.status === "failed";
}

/** Suggestions that the feedback does not hold word for word. */
export function furtherSuggestions(evaluation: Evaluation): readonly string[] {
  return evaluation.suggestions.filter((each) => !evaluation.feedback.includes(each));
}

/** What a result says to people and to no agent; empty where it says all of it to both. */
export function forReviewers(metadata: Evaluation["metadata"]): string {
  const hidden: unknown = metadata["for_reviewers"];
  if (typeof hidden !== "object" || hidden === null) return "";
  const { feedback, evidence } = hidden as { feedback?: unknown; evidence?: unknown };
  return [feedback, evidence].filter((each) => typeof each === "string" && each.trim()).join("\n\n");
}

/** A result's metadata without what the page shows elsewhere. */
export function shownMetadata(metadata: Evaluation["metadata"]): object {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== "for_reviewers"));
}
