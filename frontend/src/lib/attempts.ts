/** The attempts of a phase as a chain: what each was told, what it changed, what that did to each gate. Pure. */
import type { Attempt, Evaluation } from "./queries/runs";
import type { RunEvent } from "./stream/frames";

/** What became of a complaint, compared with the attempt before. */
export type Change = "fixed" | "still failing" | "regressed" | "failing";

export interface Finding {
  readonly change: Change;
  readonly text: string;
}

export interface GateColumn {
  readonly evaluator: string;
  readonly status: Evaluation["status"];
  /** What the gate's verdict is, compared with the attempt before; null where nothing failed in either. */
  readonly change: Change | null;
  readonly findings: readonly Finding[];
}

export interface AttemptColumn {
  readonly attempt: Attempt;
  readonly issues: readonly string[];
  readonly guidance: readonly string[];
  readonly gates: readonly GateColumn[];
}

/** The columns of one phase, the first attempt first. */
export function columnsOf(
  attempts: readonly Attempt[],
  phase: string,
  events: readonly RunEvent[],
): readonly AttemptColumn[] {
  const here = attempts.filter((each) => each.phase === phase);
  return here.map((attempt, index) => {
    const { issues, guidance } = toldTo(attempt, events);
    const gates = attempt.evaluations
      .filter((each) => each.gate)
      .map((each) => gateColumn(each, judgedBefore(here, index, each.evaluator)));
    return { attempt, issues, guidance, gates };
  });
}

/** What the gates say of one candidate, compared with nothing. */
export function gatesAlone(evaluations: readonly Evaluation[]): readonly GateColumn[] {
  return evaluations.filter((each) => each.gate).map((each) => gateColumn(each, undefined));
}

function toldTo(attempt: Attempt, events: readonly RunEvent[]) {
  const told = events.findLast(
    (each) =>
      each.event === "optimization.started" &&
      each.phase === attempt.phase &&
      each.data.next_attempt === attempt.number,
  );
  if (told?.event !== "optimization.started") return { issues: [], guidance: [] };
  return { issues: told.data.issues, guidance: told.data.guidance ?? [] };
}

/** The latest earlier verdict of the same gate; one without a verdict says nothing. */
function judgedBefore(
  attempts: readonly Attempt[],
  index: number,
  evaluator: string,
): Evaluation | undefined {
  return attempts
    .slice(0, index)
    .flatMap((each) => each.evaluations)
    .findLast((each) => each.evaluator === evaluator && each.status !== "errored");
}

function gateColumn(now: Evaluation, before: Evaluation | undefined): GateColumn {
  const failing = complaintsOf(now);
  const failed = before ? complaintsOf(before) : new Map<string, string>();
  // A gate without verdict neither repeats nor drops a complaint.
  const gone = now.status === "errored" ? [] : [...failed].filter(([key]) => !failing.has(key));
  const wasJudged = before !== undefined;
  return {
    evaluator: now.evaluator,
    status: now.status,
    change: changeOf(
      now.status === "failed",
      before?.status === "failed",
      wasJudged,
      now.status === "errored",
    ),
    findings: [
      ...[...failing].map(([key, text]) => ({
        change: changeOf(true, failed.has(key), wasJudged) ?? "failing",
        text,
      })),
      ...gone.map(([, text]) => ({ change: "fixed" as const, text })),
    ],
  };
}

function changeOf(fails: boolean, failed: boolean, wasJudged: boolean, isOpen = false): Change | null {
  if (isOpen) return null;
  if (fails) return failed ? "still failing" : wasJudged ? "regressed" : "failing";
  return failed ? "fixed" : null;
}

/** What a failed verdict complains about, by what stays the same when lines move. */
function complaintsOf(evaluation: Evaluation): Map<string, string> {
  if (evaluation.status !== "failed") return new Map();
  const tests: unknown = evaluation.metadata["failing"];
  const named = Array.isArray(tests) ? tests.filter((each) => typeof each === "string") : [];
  const texts = named.length > 0 ? named : evaluation.suggestions;
  return new Map(texts.map((each) => [each.replaceAll(/:\d+(:\d+)?/g, ":"), each]));
}
