/** The latest events of a run, as many as memory should hold. Pure. */
import { countOf, weightOf } from "@/lib/log";

import type { RunEvent } from "./frames";

export interface RunEvents {
  /** They follow each other without a gap; earlier ones may have left memory, or were never fetched. */
  readonly events: readonly RunEvent[];
  /** Events up to this sequence were announced; what lies between is on its way. */
  readonly head: number;
  /** Where a page began to follow. */
  readonly after: number;
  /** How many lines of the log have come since then. */
  readonly heard: number;
  /** Counts how often numbering began anew: events of another era are others. */
  readonly era: number;
}

export const NO_EVENTS: RunEvents = { events: [], head: 0, after: 0, heard: 0, era: 0 };

/** With how many events a page begins. */
export const FIRST_EVENTS = 200;
/** What stays in memory, in lines of usual length. */
export const MOST_WEIGHT = 20_000;
/** So that not each new line moves all others. */
const SLACK = MOST_WEIGHT / 5;
/** Farther behind than this, a page begins anew at the end. */
const FAR_BEHIND = 2_000;

/** The last sequence that was received. */
export const lastOf = (tail: RunEvents): number => tail.events.at(-1)?.sequence ?? tail.after;

/** The first sequence in memory; what comes before must be fetched. */
export const firstOf = (tail: RunEvents): number => tail.events[0]?.sequence ?? tail.after + 1;

/** Where to follow a run from whose last event is `head`: the newest page first. */
export function beginning(before: RunEvents, head: number): RunEvents {
  const isNew = before.events.length === 0 && before.head === 0;
  if (!isNew && head - lastOf(before) <= FAR_BEHIND) return before;
  return { events: [], head, after: Math.max(0, head - FIRST_EVENTS), heard: 0, era: before.era + 1 };
}

export function taking(before: RunEvents, taken: readonly RunEvent[]): RunEvents {
  const last = taken.at(-1)?.sequence ?? 0;
  return {
    ...before,
    events: lightened([...before.events, ...taken]),
    head: Math.max(before.head, last),
    heard: before.heard + taken.reduce((sum, each) => sum + countOf(each), 0),
  };
}

function lightened(events: readonly RunEvent[]): readonly RunEvent[] {
  const weight = total(events);
  return weight > MOST_WEIGHT + SLACK ? withoutFirst(events, weight - MOST_WEIGHT) : events;
}

export const total = (events: readonly RunEvent[]): number =>
  events.reduce((sum, each) => sum + weightOf(each), 0);

/** Without the first events that weigh `excess` together; the last one stays. */
export function withoutFirst(events: readonly RunEvent[], excess: number): readonly RunEvent[] {
  let gone = 0;
  let at = 0;
  for (; at < events.length - 1 && gone < excess; at += 1) gone += weightOf(events[at] as RunEvent);
  return events.slice(at);
}

/** Without the last events that weigh `excess` together; the first one stays. */
export function withoutLast(events: readonly RunEvent[], excess: number): readonly RunEvent[] {
  let gone = 0;
  let end = events.length;
  for (; end > 1 && gone < excess; end -= 1) gone += weightOf(events[end - 1] as RunEvent);
  return events.slice(0, end);
}
