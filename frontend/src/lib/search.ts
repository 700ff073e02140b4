/** What the query part of each page's URL may say. Whatever it says else is dropped, not an error. */
import * as z from "zod/mini";

const STATUSES = ["queued", "active", "waiting", "completed", "failed", "cancelled"] as const;

const KINDS = ["sprint", "director_loop", "answer"] as const;

const text = (longest: number) => z.catch(z.optional(z.string().check(z.maxLength(longest))), undefined);
const whole = z.catch(z.optional(z.int().check(z.positive())), undefined);

const texts = z.catch(z.optional(z.array(z.string().check(z.maxLength(4096)))), undefined);
const METRICS = [
  "pass_at_1",
  "pass_at_2",
  "pass_at_3",
  "retried",
  "escalated",
  "decided",
  "cost_known",
  "verdict_passed",
  "verdict_failed",
  "verdict_errored",
  "verdict_skipped",
  "wrong_passes",
  "wrong_fails",
] as const;

const runs = z.object({
  status: z.catch(z.optional(z.array(z.enum(STATUSES))), undefined),
  kind: z.catch(z.optional(z.array(z.enum(KINDS))), undefined),
  needs_human: z.catch(z.optional(z.boolean()), undefined),
  /** Only paused runs. A status alone means those that go on. */
  paused: z.catch(z.optional(z.literal(true)), undefined),
  q: text(200),
  sort: z.catch(z.optional(z.enum(["newest", "oldest", "updated", "cost", "tokens"])), undefined),
  since: text(40),
  until: text(40),
  project: texts,
  agent: texts,
  /** The number whose runs are shown. */
  metric: z.catch(z.optional(z.enum(METRICS)), undefined),
  metric_part: z.catch(z.optional(z.enum(["counted", "considered"])), undefined),
  metric_phase: text(100),
  metric_key: text(200),
  /** Columns of the table, with commas between; all without it. */
  columns: text(200),
});
/** What is to be started; a sprint without it. */
const start = z.object({ kind: z.catch(z.optional(z.enum(KINDS)), undefined) });
const run = z.object({
  phase: z.catch(z.optional(z.enum(["discovery", "coding", "verification"])), undefined),
  attempt: whole,
  evaluator: text(200),
  /** Which candidate of the attempt, counted from 1; the chosen one without it. */
  candidate: whole,
  /** What the lower part shows. */
  tab: z.catch(z.optional(z.enum(["log", "attempts", "prompt", "output"])), undefined),
  /** Words to search the log for. */
  find: text(200),
});
const review = z.object({
  /** What a diff compares with. */
  against: z.catch(z.optional(z.enum(["base", "previous"])), undefined),
  view: z.catch(z.optional(z.enum(["unified", "split"])), undefined),
});
const diff = z.object({
  phase: run.shape.phase,
  attempt: whole,
  candidate: whole,
  ...review.shape,
});
const REASONS = [
  "attempts_exhausted",
  "no_progress",
  "budget_exhausted",
  "day_budget_exhausted",
  "agent_unavailable",
  "evaluator_unavailable",
  "worker_lost",
  "human_asked",
  "question",
] as const;
const escalations = z.object({
  status: z.catch(z.optional(z.enum(["open", "resolved", "withdrawn"])), undefined),
  reason: z.catch(z.optional(z.enum(REASONS)), undefined),
  kind: z.catch(z.optional(z.enum(KINDS)), undefined),
  project: text(4096),
  /** Those that have waited for so many hours or longer. */
  hours: z.catch(z.optional(z.literal([1, 24, 168])), undefined),
  /** Whose: the reader's own, or those that no reviewer has. */
  who: z.catch(z.optional(z.enum(["me", "none"])), undefined),
});
const day = z.catch(
  z.optional(
    z.string().check(
      z.regex(/^\d{4}-\d{2}-\d{2}$/),
      z.refine((text) => !Number.isNaN(Date.parse(text))),
    ),
  ),
  undefined,
);
const metrics = z.object({
  /** How many days back; all runs without it. */
  days: z.catch(z.optional(z.literal([7, 30, 90])), undefined),
  /** The first and the last day of a range, instead of `days`. */
  from: day,
  to: day,
  kind: z.catch(z.optional(z.enum(KINDS)), undefined),
  /** Each point of the trend takes in the three before it. */
  rolling: z.catch(z.optional(z.literal(true)), undefined),
  project: text(4096),
  agent: text(4096),
});
const backlog = z.object({
  project: text(4096),
});
const verdicts = z.object({
  /** Mark verdicts one after the other. */
  marking: z.catch(z.optional(z.literal(true)), undefined),
  status: z.catch(z.optional(z.enum(["passed", "failed", "errored", "skipped"])), undefined),
  mark: z.catch(z.optional(z.enum(["any", "none", "right", "wrong_pass", "wrong_fail"])), undefined),
});

/** Where to return to: a place of this page and of no other. */
const settings = z.object({
  back: z.catch(z.optional(z.string().check(z.maxLength(2000), z.regex(/^\/(?![/\\])/))), undefined),
});

export type RunsSearch = z.infer<typeof runs>;
export type StartSearch = z.infer<typeof start>;
export type RunSearch = z.infer<typeof run>;
export type ReviewSearch = z.infer<typeof review>;
export type DiffSearch = z.infer<typeof diff>;
export type EscalationsSearch = z.infer<typeof escalations>;
export type MetricsSearch = z.infer<typeof metrics>;
export type BacklogSearch = z.infer<typeof backlog>;
export type VerdictsSearch = z.infer<typeof verdicts>;

export const parseRunsSearch = (given: unknown): RunsSearch => runs.parse(given);
export const parseStartSearch = (given: unknown): StartSearch => start.parse(given);
export const parseRunSearch = (given: unknown): RunSearch => run.parse(given);
export const parseReviewSearch = (given: unknown): ReviewSearch => review.parse(given);
export const parseDiffSearch = (given: unknown): DiffSearch => diff.parse(given);
export const parseEscalationsSearch = (given: unknown): EscalationsSearch => escalations.parse(given);
export const parseMetricsSearch = (given: unknown): MetricsSearch => metrics.parse(given);
export const parseBacklogSearch = (given: unknown): BacklogSearch => backlog.parse(given);
export const parseVerdictsSearch = (given: unknown): VerdictsSearch => verdicts.parse(given);
export const parseSettingsSearch = (given: unknown): z.infer<typeof settings> => settings.parse(given);
