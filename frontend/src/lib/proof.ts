/** What speaks for a result, in one line: the gates that decided about it, and what reviewers accepted. Pure. */
import { plural } from "./format";
import type { Evaluation, RunDetail } from "./queries/runs";

export interface Proof {
  /** Such as `7 gates passed: pytest (12 tests passed), ruff_lint, type_check`. */
  readonly text: string;
  /** Such as `ada accepted coding attempt 3, which 2 gates had failed`; empty if the gates decided alone. */
  readonly accepted: readonly string[];
}

const COUNT = /^(?:All )?[\d,]+ tests? passed[^;.\n]*/;

/** The latest evaluated attempt of each phase decided about what the run hands over. */
export function proofOf(run: RunDetail): Proof {
  const phases = [...new Set(run.attempts.map((each) => each.phase))];
  const decisive = phases.flatMap(
    (phase) => run.attempts.findLast((each) => each.phase === phase && each.evaluations.length > 0) ?? [],
  );
  // A later phase evaluates the work once more; its verdict stands for the gate.
  const gates = new Map<string, Evaluation>();
  for (const each of decisive.flatMap((attempt) => attempt.evaluations))
    if (each.gate || each.observed) gates.set(each.evaluator, each);
  return { text: sentence([...gates.values()]), accepted: acceptances(run) };
}

function sentence(all: readonly Evaluation[]): string {
  const gates = all.filter((each) => each.gate);
  const passed = gates.filter((each) => each.status === "passed");
  const names = passed.map((each) => each.evaluator + figureOf(each));
  const parts = [
    passed.length > 0 ? `${plural(passed.length, "gate")} passed: ${names.join(", ")}` : "No gate passed",
  ];
  for (const status of ["failed", "errored", "skipped"] as const) {
    const others = gates.filter((each) => each.status === status).map((each) => each.evaluator);
    if (others.length > 0) parts.push(`${others.length} ${status}: ${others.join(", ")}`);
  }
  const observed = all.filter((each) => each.observed && each.status !== "passed");
  if (observed.length > 0)
    parts.push(
      `observed, blocked nothing: ${observed.map((each) => `${each.evaluator} ${each.status}`).join(", ")}`,
    );
  return parts.join("; ");
}

/** Evaluators of tests begin with a count. */
function figureOf(gate: Evaluation): string {
  const count = COUNT.exec(gate.feedback)?.[0];
  return count ? ` (${count})` : "";
}

function acceptances(run: RunDetail): readonly string[] {
  return run.escalations
    .filter((each) => each.status === "resolved" && each.decision === "accept")
    .map((each) => {
      const attempt = run.attempts.find((one) => one.phase === each.phase && one.number === each.attempt);
      const failed = attempt?.evaluations.filter((one) => one.gate && one.status !== "passed").length ?? 0;
      const despite = failed > 0 ? `, which ${plural(failed, "gate")} did not pass` : "";
      return `${each.decided_by ?? "A reviewer"} accepted ${each.phase} attempt ${each.attempt}${despite}`;
    });
}
