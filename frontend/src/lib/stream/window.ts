/** The part of a run's log that is read: it follows the latest events, or rests where its reader scrolled to. Pure. */
import type { RunEvent } from "./frames";
import { firstOf, lastOf, MOST_WEIGHT, type RunEvents, total, withoutFirst, withoutLast } from "./tail";

/** Events that were read when the log stopped following. They follow each other without a gap. */
export interface Rest {
  readonly events: readonly RunEvent[];
  /** What the page had heard of the log then. */
  readonly heard: number;
  readonly era: number;
  /** The first sequence that the service has. */
  readonly oldest: number;
}

/** What a page of events should weigh, in lines of usual length. */
const PAGE_WEIGHT = 5_000;
const [LEAST_EVENTS, USUAL_EVENTS, MOST_EVENTS] = [20, 100, 500];

/** How many events to fetch at once, so that a page is neither tiny nor huge. */
export function pageSize(events: readonly RunEvent[]): number {
  if (events.length === 0) return USUAL_EVENTS;
  const fitting = Math.round((PAGE_WEIGHT * events.length) / Math.max(1, total(events)));
  return Math.min(MOST_EVENTS, Math.max(LEAST_EVENTS, fitting));
}

export const restAt = (tail: RunEvents): Rest => ({
  events: tail.events,
  heard: tail.heard,
  era: tail.era,
  oldest: 1,
});

/** With the events that have come meanwhile, as long as memory has room for them. */
export function joined(rest: Rest, tail: RunEvents): Rest {
  const last = rest.events.at(-1)?.sequence ?? 0;
  const first = tail.events[0]?.sequence ?? 0;
  if (first > last + 1 || lastOf(tail) <= last || total(rest.events) >= MOST_WEIGHT) return rest;
  return { ...rest, events: [...rest.events, ...tail.events.filter((each) => each.sequence > last)] };
}

/** With a page of older events in front. What is at the end leaves memory, except what is at `reading` or before. */
export function withOlder(rest: Rest, page: readonly RunEvent[], reading: number): Rest {
  const first = rest.events[0]?.sequence ?? Number.POSITIVE_INFINITY;
  const older = page.filter((each) => each.sequence < first);
  if (older.length === 0) return { ...rest, oldest: first };
  const all = [...older, ...rest.events];
  const kept = withoutLast(all, total(all) - MOST_WEIGHT);
  const end = Math.max(kept.length, all.findIndex((each) => each.sequence >= reading) + 1);
  return { ...rest, events: all.slice(0, end) };
}

/** With a page of newer events at the end. What is in front leaves memory, except what is at `reading` or behind. */
export function withNewer(rest: Rest, page: readonly RunEvent[], reading: number): Rest {
  const last = rest.events.at(-1)?.sequence ?? 0;
  const all = [...rest.events, ...page.filter((each) => each.sequence > last)];
  const kept = withoutFirst(all, total(all) - MOST_WEIGHT);
  const at = all.findIndex((each) => each.sequence >= reading);
  return {
    ...rest,
    events: all.slice(at < 0 ? all.length - kept.length : Math.min(at, all.length - kept.length)),
  };
}

/** Whether an event is in memory. */
export function holds(events: readonly RunEvent[], sequence: number): boolean {
  const [first, last] = [events[0], events.at(-1)];
  return first !== undefined && last !== undefined && first.sequence <= sequence && sequence <= last.sequence;
}

/** What is in memory, and what lies beyond it. */
export interface Part {
  readonly events: readonly RunEvent[];
  /** The first and the last event in memory. */
  readonly first: number;
  readonly last: number;
  /** Lines that came since the log stopped following. */
  readonly fresh: number;
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

export function partOf(rest: Rest | null, tail: RunEvents): Part {
  const events = rest?.events ?? tail.events;
  const first = events[0]?.sequence ?? firstOf(tail);
  const last = events.at(-1)?.sequence ?? tail.after;
  return {
    events,
    first,
    last,
    fresh: rest ? tail.heard - rest.heard : 0,
    hasOlder: first > (rest?.oldest ?? 1),
    hasNewer: rest !== null && last < lastOf(tail),
  };
}
