/** What a run does at this moment, in a few words. Pure. */
import type { Run } from "./queries/runs";
import type { RunEvent } from "./stream/frames";
import { plainText } from "./text/ansi";

export interface Activity {
  /** Such as `editing teatime/duration.py`. */
  readonly text: string;
  /** Since when, as ISO 8601; null where no time is counted. */
  readonly since: string | null;
}

type Running = Pick<
  Run,
  "status" | "status_reason" | "phase" | "attempt" | "paused" | "finished_at" | "updated_at"
> & {
  readonly max_attempts?: number;
};

/** What a tool of this name does to what it is given; the first that fits. */
const VERBS: readonly (readonly [RegExp, string])[] = [
  [/delete|remove/i, "deleting"],
  [/test/i, "running the tests"],
  [/write|edit|replace|create|patch|file_change|insert/i, "editing"],
  [/read|view|open|cat\b/i, "reading"],
  [/search|grep|find|glob/i, "searching for"],
  [/list|\bls\b/i, "listing"],
  [/run|shell|bash|command|exec|terminal/i, "running"],
];

/** The argument that says most about a call, by the names that agents give it. */
const SUBJECT = /(?:^|, )(?:file_path|path|file|command|cmd|pattern|query)=(['"])(.*?)\1(?=,|$)/;
const MAX_SUBJECT = 80;

export function placeOf(run: Running): string {
  if (run.phase === null) return "";
  if (run.attempt === null) return run.phase;
  return `${run.phase}, ${run.phase === "loop" ? "iteration" : "attempt"} ${run.attempt}`;
}

export function activityOf(run: Running, events: readonly RunEvent[]): Activity {
  if (run.finished_at !== null) return { text: run.status_reason || run.status, since: null };
  if (run.status === "waiting") return { text: "waits for a person", since: run.updated_at };
  if (run.paused) return { text: `paused by ${run.paused.by}`, since: run.paused.at };
  if (run.status === "queued") return { text: "waits for a worker", since: run.updated_at };
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const event = events[index];
    const text = event && doing(event, events, index);
    if (event && text) return { text, since: event.timestamp ?? null };
  }
  return { text: "begins", since: run.updated_at };
}

/** What goes on after an event whose data say no more about it. */
const AFTER: Readonly<Partial<Record<RunEvent["event"], string>>> = {
  "agent.progress": "writing",
  "attempt.started": "the agent begins",
  "candidate.started": "the agent begins",
  "agent.failed": "waits to try the agent again",
  "attempt.produced": "waits for evaluation",
  "evaluation.failed": "waits to repeat the evaluation",
  "judge.started": "chooses between candidates",
  "phase.started": "begins",
  "run.resumed": "goes on",
};

/** What goes on after an event; empty where the event says nothing about that. */
function doing(event: RunEvent, events: readonly RunEvent[], index: number): string {
  switch (event.event) {
    case "tool.called":
      return calling(event.data.tool, event.data.text);
    case "tool.result":
      return `thinking${afterCall(events, index)}`;
    case "evaluation.started":
    case "evaluator.completed":
      return evaluating(events, index);
    case "evaluation.completed":
      return event.data.overall_passed ? "passed" : "prepares the next attempt";
    default:
      return AFTER[event.event] ?? "";
  }
}

/** `evaluating: pytest and 2 more`; the evaluators that have not answered yet. */
function evaluating(events: readonly RunEvent[], index: number): string {
  const answered = new Set<string>();
  for (let at = index; at >= 0; at -= 1) {
    const event = events[at];
    if (event?.event === "evaluator.completed") answered.add(event.data.evaluator_name);
    if (event?.event === "evaluation.started") {
      const open = event.data.evaluators.filter((each) => !answered.has(each));
      if (open.length === 0) return "evaluating";
      return `evaluating: ${open[0]}${open.length > 1 ? ` and ${open.length - 1} more` : ""}`;
    }
  }
  return "evaluating";
}

/** ` after editing teatime/duration.py`: the call that a result answers. */
function afterCall(events: readonly RunEvent[], index: number): string {
  const before = events[index - 1];
  return before?.event === "tool.called" ? ` after ${calling(before.data.tool, before.data.text)}` : "";
}

function calling(tool: string, text: string): string {
  const verb = VERBS.find(([name]) => name.test(tool))?.[1];
  if (verb === "running the tests") return verb;
  const subject = subjectOf(text);
  if (!verb) return subject ? `using ${tool}: ${subject}` : `using ${tool}`;
  return subject ? `${verb} ${subject}` : `${verb} …`;
}

function subjectOf(text: string): string {
  const line = plainText(text.split("\n")[0] ?? "").trim();
  const subject = SUBJECT.exec(line)?.[2] ?? (/^\w+=/.test(line) ? "" : line);
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1)}…` : subject;
}

interface Spent {
  readonly usage: Run["usage"];
  readonly policy?: { readonly budget: { readonly cost_usd: number | null; readonly tokens: number | null } };
}

/** `$0.03 of $2.00`; with a limit on tokens alone, these. Empty where nothing is known and nothing limited. */
export function spentOf(
  run: Spent,
  cost: (usd: number | null) => string,
  count: (n: number) => string,
): string {
  const { cost_usd: limit = null, tokens = null } = run.policy?.budget ?? {};
  const used = run.usage.input_tokens + run.usage.output_tokens;
  if (limit !== null) return `${cost(run.usage.cost_usd ?? (used === 0 ? 0 : null))} of ${cost(limit)}`;
  if (tokens !== null) return `${count(used)} of ${count(tokens)} tokens`;
  if (run.usage.cost_usd !== null && used > 0) return cost(run.usage.cost_usd);
  return used > 0 ? `${count(used)} tokens, cost unknown` : "";
}
