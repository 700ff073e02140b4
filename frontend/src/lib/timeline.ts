/** What a run did when, as pieces of a line on which waiting takes little room. Pure. */
import type { Attempt, RunDetail } from "./queries/runs";

export type PieceKind = "working" | "evaluating" | "waiting" | "paused" | "idle";

/** When an attempt was at what; null is *not yet*. */
export type Stretch = Pick<
  Attempt,
  "phase" | "number" | "verdict" | "started_at" | "produced_at" | "completed_at"
>;

/** What a timeline is made of, for a run of any kind. */
export type Course = Pick<RunDetail, "escalations" | "created_at" | "finished_at"> & {
  readonly attempts: readonly Stretch[];
  readonly paused?: { readonly at: string } | null | undefined;
};

export interface Piece {
  readonly kind: PieceKind;
  readonly from: number;
  readonly to: number;
  /** Still going on at the time of the picture. */
  readonly open: boolean;
  /** Share of the line's width; all shares together are 1. */
  readonly width: number;
  readonly phase: string | null;
  readonly attempt: number | null;
  readonly verdict: string | null;
}

type Raw = Omit<Piece, "width">;

/** Waiting and idling get this much of the line each, however long they took. */
const COMPRESSED = 0.05;
/** The shortest piece can still be seen and pointed at. */
const LEAST = 0.012;
/** Pauses below this are what recording and scheduling take. */
const PAUSE_MS = 2_000;

export function buildTimeline(course: Course, now: number): readonly Piece[] {
  const end = course.finished_at === null ? now : Date.parse(course.finished_at);
  const held = heldAt(course);
  const done = [
    ...course.attempts.flatMap((each) => ofAttempt(each, held ?? end, held === null && end === now)),
    ...course.escalations.flatMap((each) => ofEscalation(each, end)),
    ...ofPause(course, end),
  ];
  const ordered = done.toSorted((one, other) => one.from - other.from);
  const start = Date.parse(course.created_at);
  return withWidths(withPauses(ordered, start));
}

/** Since when nothing works on an attempt that has no end: the run is paused, or waits for a person. */
function heldAt({ paused, escalations }: Course): number | null {
  const since = [
    ...(paused ? [paused.at] : []),
    ...escalations.filter((each) => each.status === "open").map((each) => each.created_at),
  ];
  return since.length > 0 ? Math.min(...since.map(Date.parse)) : null;
}

function ofPause({ paused, escalations }: Course, end: number): Raw[] {
  // Who waits for a person waits, paused or not.
  if (!paused || escalations.some((each) => each.status === "open")) return [];
  const from = Date.parse(paused.at);
  return [{ kind: "paused", from, to: end, open: true, phase: null, attempt: null, verdict: null }];
}

function ofAttempt(attempt: Stretch, until: number, isGoingOn: boolean): Raw[] {
  const from = Date.parse(attempt.started_at);
  const now = Math.max(from, until);
  const over = attempt.completed_at === null ? null : Date.parse(attempt.completed_at);
  const produced = attempt.produced_at === null ? null : Date.parse(attempt.produced_at);
  const common = { phase: attempt.phase, attempt: attempt.number, verdict: attempt.verdict };
  const pieces: Raw[] = [
    {
      ...common,
      kind: "working",
      from,
      to: produced ?? over ?? now,
      open: isGoingOn && produced === null && over === null,
    },
  ];
  if (produced !== null)
    pieces.push({
      ...common,
      kind: "evaluating",
      from: produced,
      to: over ?? Math.max(produced, now),
      open: isGoingOn && over === null,
    });
  return pieces;
}

function ofEscalation(escalation: RunDetail["escalations"][number], now: number): Raw[] {
  const from = Date.parse(escalation.created_at);
  const to = escalation.decided_at === null ? null : Date.parse(escalation.decided_at);
  const common = { phase: escalation.phase, attempt: escalation.attempt, verdict: escalation.decision };
  return [{ ...common, kind: "waiting", from, to: to ?? now, open: escalation.status === "open" }];
}

function withPauses(pieces: readonly Raw[], start: number): Raw[] {
  const filled: Raw[] = [];
  let here = start;
  for (const piece of pieces) {
    if (piece.from - here > PAUSE_MS) {
      filled.push({
        kind: "idle",
        from: here,
        to: piece.from,
        open: false,
        phase: null,
        attempt: null,
        verdict: null,
      });
    }
    filled.push(piece);
    here = Math.max(here, piece.to);
  }
  return filled;
}

function withWidths(pieces: readonly Raw[]): readonly Piece[] {
  const isCompressed = (piece: Raw) =>
    piece.kind === "waiting" || piece.kind === "paused" || piece.kind === "idle";
  const busy = pieces.reduce(
    (sum, each) => (isCompressed(each) ? sum : sum + Math.max(1, each.to - each.from)),
    0,
  );
  const rough = pieces.map((each) =>
    isCompressed(each) ? COMPRESSED : Math.max(LEAST, Math.max(1, each.to - each.from) / Math.max(1, busy)),
  );
  const total = rough.reduce((sum, each) => sum + each, 0);
  return pieces.map((each, index) => ({ ...each, width: (rough[index] ?? 0) / total }));
}
