import { describe, expect, it } from "vitest";

import { buildTimeline } from "./timeline";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const ms = (seconds: number) => Date.parse(at(seconds));
const attempt = (number: number, started: number, produced: number | null, completed: number | null) =>
  ({
    phase: "coding",
    number,
    verdict: completed === null ? null : "failed",
    started_at: at(started),
    produced_at: produced === null ? null : at(produced),
    completed_at: completed === null ? null : at(completed),
  }) as never;
const escalation = (created: number, decided: number | null) =>
  ({
    phase: "coding",
    attempt: 1,
    status: decided === null ? "open" : "resolved",
    decision: decided === null ? null : "retry",
    created_at: at(created),
    decided_at: decided === null ? null : at(decided),
  }) as never;
const sprint = (attempts: never[], escalations: never[] = []) => ({
  attempts,
  escalations,
  created_at: at(0),
  finished_at: null,
});

describe("buildTimeline", () => {
  it("is empty before the first attempt", () => {
    expect(buildTimeline(sprint([]), ms(9))).toEqual([]);
  });

  it("splits an attempt into work and evaluation, and says what goes on", () => {
    const pieces = buildTimeline(sprint([attempt(1, 0, 10, null)]), ms(15));
    expect(pieces.map((each) => [each.kind, each.open, each.to])).toEqual([
      ["working", false, ms(10)],
      ["evaluating", true, ms(15)],
    ]);
  });

  it("lets nothing go on while the run is paused or waits for a person", () => {
    const paused = { ...sprint([attempt(1, 0, null, null)]), paused: { at: at(20) } };
    const told = (course: Parameters<typeof buildTimeline>[0]) =>
      buildTimeline(course, ms(60)).map((each) => [each.kind, each.open, each.to]);
    expect(told(paused)).toEqual([
      ["working", false, ms(20)],
      ["paused", true, ms(60)],
    ]);
    expect(told(sprint([attempt(1, 0, null, null)], [escalation(30, null)]))).toEqual([
      ["working", false, ms(30)],
      ["waiting", true, ms(60)],
    ]);
  });

  it("ends with the run, whatever was going on", () => {
    const cancelled = { ...sprint([attempt(1, 0, 5, null)]), finished_at: at(9) };
    expect(buildTimeline(cancelled, 0).map((each) => [each.kind, each.open, each.to])).toEqual([
      ["working", false, ms(5)],
      ["evaluating", false, ms(9)],
    ]);
  });

  it("gives a night of waiting no more room than a minute of it", () => {
    const width = (waited: number) =>
      buildTimeline(
        sprint(
          [attempt(1, 0, 10, 12), attempt(2, 12 + waited, 40 + waited, 50 + waited)],
          [escalation(12, 12 + waited)],
        ),
        0,
      ).find((each) => each.kind === "waiting")!.width;
    expect(width(60)).toBeCloseTo(width(36_000));
    expect(width(60)).toBeLessThan(0.1);
  });

  it("shows pauses, and its shares are the whole line", () => {
    const pieces = buildTimeline(sprint([attempt(1, 30, 31, 32), attempt(2, 32, 33, 34)]), 0);
    expect(pieces[0]!.kind).toBe("idle");
    expect(pieces.reduce((sum, each) => sum + each.width, 0)).toBeCloseTo(1);
    expect(Math.min(...pieces.map((each) => each.width))).toBeGreaterThan(0.01);
  });
});
