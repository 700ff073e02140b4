import { describe, expect, it } from "vitest";

import type { RunEvent } from "@/lib/stream/frames";
import { NO_EVENTS, type RunEvents } from "@/lib/stream/tail";

import { type Found, Search } from "./use-log-search";

const event = (sequence: number): RunEvent =>
  ({
    event: "agent.progress",
    sequence,
    data: { candidate: 0, lines: [{ text: `line ${sequence}`, at: "" }] },
  }) as unknown as RunEvent;
const range = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => event(first + index));
const tailOf = (first: number, last: number): RunEvents => ({
  ...NO_EVENTS,
  events: range(first, last),
  head: last,
  after: first - 1,
  era: 1,
});

function searching(words: string) {
  const asked: number[] = [];
  const told: Found[] = [];
  const fetchAfter = (after: number) => {
    asked.push(after);
    return Promise.resolve(range(after + 1, Math.min(after + 10, 40)));
  };
  return { asked, told, search: new Search(words, fetchAfter, (found) => told.push(found)) };
}

describe("Search", () => {
  it("reads what is not in memory, and each event once", async () => {
    const { asked, told, search } = searching("line 4");
    await search.advance(tailOf(31, 40));
    expect(asked).toEqual([0, 10, 20]);
    expect(told.at(-1)).toEqual({ hits: ["4.0", "40.0"], isSearching: false, isCut: false });
    await search.advance(tailOf(31, 41));
    expect(told.at(-1)?.hits).toEqual(["4.0", "40.0", "41.0"]);
    expect(asked).toHaveLength(3);
  });

  it("asks for nothing when all is in memory", async () => {
    const { asked, told, search } = searching("line 2");
    await search.advance(tailOf(1, 3));
    expect([asked, told.at(-1)?.hits]).toEqual([[], ["2.0"]]);
  });

  it("says no more once it is stopped", async () => {
    const { told, search } = searching("line");
    const going = search.advance(tailOf(31, 40));
    search.stop();
    await going;
    expect(told.every((each) => each.hits.length === 0)).toBe(true);
  });
});
