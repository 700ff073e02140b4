import { describe, expect, it } from "vitest";

import { judge, takeInOrder } from "./cursor";

const at = (...sequences: number[]) => sequences.map((sequence) => ({ sequence }));

describe("judge", () => {
  it.each([
    [0, 1, "take"],
    [5, 6, "take"],
    [5, 5, "drop"],
    [5, 1, "drop"],
    [5, 7, "gap"],
    [0, 2, "gap"],
  ] as const)("cursor %i, sequence %i: %s", (cursor, sequence, step) => {
    expect(judge(cursor, sequence)).toBe(step);
  });
});

describe("takeInOrder", () => {
  it("takes each event once, however often it comes", () => {
    expect(takeInOrder(2, at(1, 2, 3, 3, 4))).toEqual({ cursor: 4, events: at(3, 4), gap: false });
  });

  it("stops at a gap and says so", () => {
    expect(takeInOrder(2, at(3, 5, 6))).toEqual({ cursor: 3, events: at(3), gap: true });
  });

  it("loses and doubles nothing over any way of cutting a replayed history", () => {
    const history = at(...Array.from({ length: 40 }, (_, index) => index + 1));
    for (let cut = 0; cut <= 40; cut += 1) {
      for (const overlap of [0, 1, 7, 40]) {
        const first = takeInOrder(0, history.slice(0, cut));
        const again = takeInOrder(first.cursor, history.slice(Math.max(0, cut - overlap)));
        expect([...first.events, ...again.events]).toEqual(history);
        expect(again.gap).toBe(false);
      }
    }
  });
});
