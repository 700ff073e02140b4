import { describe, expect, it } from "vitest";

import type { RunEvent } from "./frames";
import {
  beginning,
  FIRST_EVENTS,
  lastOf,
  MOST_WEIGHT,
  NO_EVENTS,
  type RunEvents,
  taking,
  total,
} from "./tail";
import { holds, joined, pageSize, partOf, restAt, withNewer, withOlder } from "./window";

const LINES = 100;

/** An event with a hundred lines. */
const event = (sequence: number): RunEvent =>
  ({
    event: "agent.progress",
    sequence,
    data: { candidate: 0, lines: Array.from({ length: LINES }, () => ({ text: "", at: "" })) },
  }) as unknown as RunEvent;

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => event(first + index));
const ends = (events: readonly RunEvent[]) => [events[0]?.sequence, events.at(-1)?.sequence];
const most = MOST_WEIGHT / LINES;

/** A page that began to follow a run at its 1,000th event. */
const begun = (): RunEvents => beginning(NO_EVENTS, 1_000);

describe("the latest events", () => {
  it("begin with the newest page", () => {
    expect(lastOf(begun())).toBe(1_000 - FIRST_EVENTS);
    expect(lastOf(beginning(NO_EVENTS, 3))).toBe(0);
  });

  it("go on where they were, unless that is far behind", () => {
    const tail = taking(begun(), range(801, 1_000));
    expect(beginning(tail, 1_500)).toBe(tail);
    const anew = beginning(tail, 10_000);
    expect([anew.events.length, lastOf(anew), anew.era]).toEqual([0, 10_000 - FIRST_EVENTS, tail.era + 1]);
  });

  it("lose the oldest ones, and count them all", () => {
    let tail = begun();
    for (let first = 801; first < 3_000; first += 50) tail = taking(tail, range(first, first + 49));
    expect(lastOf(tail)).toBe(3_000);
    expect(total(tail.events)).toBeLessThanOrEqual(1.2 * MOST_WEIGHT);
    expect(tail.heard).toBe(2_200 * LINES);
    expect(
      tail.events.every((each, index) => each.sequence === (tail.events[0]?.sequence ?? 0) + index),
    ).toBe(true);
  });

  it("weigh long lines more", () => {
    const long = event(1);
    (long.data as { lines: { text: string }[] }).lines[0] = { text: "x".repeat(200_000) };
    expect(total([long])).toBeGreaterThan(10 * LINES);
  });
});

describe("what is read", () => {
  const tail = taking(begun(), range(801, 1_000));

  it("is joined by what comes, as long as there is room", () => {
    const rest = { ...restAt(tail), events: range(900, 1_000) };
    const more = taking(tail, range(1_001, 1_010));
    expect(ends(joined(rest, more).events)).toEqual([900, 1_010]);
    expect(partOf(joined(rest, more), more)).toMatchObject({ fresh: 10 * LINES, hasNewer: false });
    const full = restAt(tail);
    expect(joined(full, more)).toBe(full);
    expect(partOf(full, more)).toMatchObject({ fresh: 10 * LINES, hasNewer: true });
    const elsewhere = { ...rest, events: range(100, 200) };
    expect(joined(elsewhere, more)).toBe(elsewhere);
  });

  it("loses the other end when a page is added, but never the line that is read", () => {
    const rest = restAt(tail);
    const older = withOlder(rest, range(701, 800), 810);
    expect(ends(older.events)).toEqual([701, 700 + most]);
    expect(ends(withOlder(rest, range(701, 800), 990).events)).toEqual([701, 990]);
    const newer = withNewer({ ...rest, events: range(1, most) }, range(most + 1, most + 100), 150);
    expect(ends(newer.events)).toEqual([101, most + 100]);
    expect(
      ends(withNewer({ ...rest, events: range(1, most) }, range(most + 1, most + 100), 20).events),
    ).toEqual([20, most + 100]);
  });

  it("notes where the log begins", () => {
    const rest = restAt(tail);
    expect(partOf(rest, tail).hasOlder).toBe(true);
    expect(partOf(withOlder(rest, range(801, 900), 801), tail).hasOlder).toBe(false);
    expect(partOf({ ...rest, events: range(1, 5) }, tail)).toMatchObject({ hasOlder: false, hasNewer: true });
  });

  it("asks for pages of about the same weight", () => {
    expect(pageSize([])).toBe(100);
    expect(pageSize(range(1, 10))).toBe(50);
    const short = {
      ...event(1),
      event: "tool.called",
      data: { tool: "run", text: "x" },
    } as unknown as RunEvent;
    expect(pageSize([short])).toBe(500);
  });

  it("is where its first and last events say", () => {
    expect([holds(tail.events, 801), holds(tail.events, 800), holds([], 1)]).toEqual([true, false, false]);
  });
});
