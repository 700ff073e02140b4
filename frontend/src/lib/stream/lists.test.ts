import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { RunState } from "./frames";
import { CHANGED_MS, createListSink, isDue, SAME_MS } from "./lists";

const state = (part: object, run = "run-1") =>
  ({ run_id: run, last_sequence: 1, updated_at: "a", status: "running", ...part }) as unknown as RunState;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A sink, and how often it has fetched. */
function sink() {
  const refetch = vi.fn();
  return { lists: createListSink(refetch), refetch };
}

it("fetches at once what a quiet list should show, and again for each change, but not in a rush", () => {
  const { lists, refetch } = sink();
  lists.changed(state({}));
  expect(refetch).toHaveBeenCalledTimes(1);
  lists.changed(state({ status: "waiting" }));
  lists.changed(state({ status: "failed" }));
  expect(refetch).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(CHANGED_MS);
  expect(refetch).toHaveBeenCalledTimes(2);
});

it("seldom fetches while ten runs only talk", () => {
  const { lists, refetch } = sink();
  const runs = Array.from({ length: 10 }, (_, index) => `run-${index}`);
  for (const run of runs) lists.changed(state({}, run));
  vi.advanceTimersByTime(10 * SAME_MS);
  refetch.mockClear();
  const every = 100;
  for (let at = 0; at < 4 * SAME_MS; at += every) {
    for (const run of runs) lists.changed(state({ last_sequence: at, updated_at: String(at) }, run));
    vi.advanceTimersByTime(every);
  }
  expect(refetch.mock.calls.length).toBeGreaterThanOrEqual(4);
  expect(refetch.mock.calls.length).toBeLessThanOrEqual(5);
});

it("loses no change that comes while it waits", () => {
  const { lists, refetch } = sink();
  lists.changed(state({}));
  lists.changed(state({ last_sequence: 2 }));
  lists.changed(state({ last_sequence: 3 }));
  const before = refetch.mock.calls.length;
  vi.advanceTimersByTime(SAME_MS);
  expect(refetch.mock.calls.length).toBeGreaterThan(before);
});

it("starts over after a reconnect", () => {
  const { lists, refetch } = sink();
  lists.changed(state({}));
  vi.advanceTimersByTime(CHANGED_MS);
  lists.resync();
  expect(refetch).toHaveBeenCalledTimes(2);
});

it("fetches a list of many pages again only after as many seconds", () => {
  const list = (pages: number) => ({ data: { pages: Array.from({ length: pages }) }, dataUpdatedAt: 10_000 });
  expect(isDue(list(1), 10_001)).toBe(true);
  expect(isDue({ data: undefined, dataUpdatedAt: 0 }, 1)).toBe(true);
  expect(isDue(list(51), 10_000 + 50 * CHANGED_MS)).toBe(false);
  expect(isDue(list(51), 10_000 + 51 * CHANGED_MS)).toBe(true);
});
