/** What loops and answers came to, in words, and when they did what. Pure. */
import type { AnswerDetail } from "@/lib/queries/answers";
import type { Iteration, LoopDetail } from "@/lib/queries/loops";
import type { Run } from "@/lib/queries/runs";
import type { Course, Stretch } from "@/lib/timeline";

/** `status` chooses icon and colour. */
export interface Ending {
  readonly status: string;
  readonly word: string;
  readonly text: string;
}

type Told = Pick<Run, "status" | "paused" | "escalation_id">;

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function answerEnding(answer: Told & Pick<AnswerDetail, "result" | "escalations">): Ending {
  const { result } = answer;
  if (!result) return unfinished(answer, "No answer yet", "It ended before an answer was evaluated.");
  if (result.withheld)
    return {
      status: "failed",
      word: "withheld",
      text: "Every attempt broke the safety rules, so no answer is given.",
    };
  if (result.status === "accepted")
    return { status: "passed", word: "accepted", text: "Sufficient in all four dimensions." };
  const given =
    result.answer === null ? "No answer can be given." : "The best attempt is given with its gaps.";
  if (result.status === "unavailable")
    return { status: "errored", word: "unavailable", text: `A model was unavailable. ${given}` };
  return { status: "failed", word: result.status, text: withDecision(given, answer.escalations) };
}

const ENDS: Record<"success" | "maximum" | "waiting" | "error", Ending> = {
  success: { status: "passed", word: "success", text: "The evaluator reported success." },
  maximum: {
    status: "failed",
    word: "iterations used up",
    text: "No iteration succeeded.",
  },
  waiting: { status: "waiting", word: "needs a person", text: "The director needs a person." },
  error: {
    status: "errored",
    word: "error",
    text: "A step of the loop failed. Completed iterations are kept.",
  },
};

export function loopEnding(loop: Told & Pick<LoopDetail, "result" | "escalations">): Ending {
  const { result } = loop;
  if (!result) return unfinished(loop, "No result yet", "It ended before an iteration was evaluated.");
  if (result.ended_by === "condition") {
    const says = result.success ? "success" : "no success";
    return {
      status: "completed",
      word: "condition met",
      text: `The condition ended it; the last evaluation says ${says}.`,
    };
  }
  if (result.ended_by !== null) return ENDS[result.ended_by];
  return {
    status: loop.status,
    word: loop.status,
    text: withDecision("It was stopped.", loop.escalations),
  };
}

function unfinished(run: Told, yet: string, over: string): Ending {
  if (OVER.has(run.status)) return { status: run.status, word: run.status, text: over };
  if (run.escalation_id)
    return {
      status: "waiting",
      word: "needs a person",
      text: `${yet}. A reviewer decides what happens next.`,
    };
  if (run.paused)
    return { status: "paused", word: "paused", text: `${yet}. It continues when it is resumed.` };
  if (run.status === "queued")
    return { status: "queued", word: "queued", text: `${yet}. It waits for a worker.` };
  return { status: run.status, word: "running", text: `${yet}. It appears here after the first evaluation.` };
}

function withDecision(text: string, escalations: AnswerDetail["escalations"]): string {
  const last = escalations.findLast((each) => each.decided_by !== null);
  return last?.decided_by ? `${text} ${last.decided_by} decided: ${last.decision}.` : text;
}

/** When an answer was written and its judge asked is one stretch: the API does not tell them apart. */
export function answerCourse(
  answer: Pick<AnswerDetail, "attempts" | "escalations" | "created_at" | "finished_at">,
): Course {
  const attempts = answer.attempts.map((each): Stretch => ({
    phase: "answer",
    number: each.number,
    verdict: verdictOf(each.status),
    started_at: each.started_at,
    produced_at: null,
    completed_at: each.completed_at,
  }));
  return { ...timesOf(answer), attempts };
}

export function loopCourse(
  loop: Pick<LoopDetail, "iterations" | "escalations" | "created_at" | "finished_at">,
): Course {
  const attempts = loop.iterations.map((each): Stretch => ({
    phase: "loop",
    number: each.iteration,
    verdict: verdictOf(each.status),
    started_at: each.started_at,
    produced_at: producedAt(each),
    completed_at: each.completed_at,
  }));
  return { ...timesOf(loop), attempts };
}

const timesOf = ({ escalations, created_at, finished_at, paused }: Omit<Course, "attempts">) => ({
  paused,
  escalations,
  created_at,
  finished_at,
});

const verdictOf = (status: string) => (status === "passed" || status === "failed" ? status : null);

/** When director and script were done: from what each took, and never after the iteration's end. */
function producedAt({ output, started_at, completed_at, times }: Iteration): string | null {
  if (output === null || output === undefined) return null;
  const worked = Date.parse(started_at) + (times.director ?? 0) + (times.script ?? 0);
  const end = completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(completed_at);
  return new Date(Math.min(worked, end)).toISOString();
}
