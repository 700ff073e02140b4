import { describe, expect, it } from "vitest";

import type { LogLine } from "./log";
import { foldAll, lineOfAttempt, nextSection, shownLines, turn, UNFOLDED } from "./log-fold";
import type { RunEvent } from "./stream/frames";

const line = (id: string, part: Partial<LogLine> = {}): LogLine => ({
  id,
  kind: "text",
  text: id,
  time: "",
  phase: "coding",
  attempt: 1,
  candidate: 0,
  ...part,
});
const LINES = [
  line("created", { attempt: null, phase: null, kind: "note" }),
  line("first", { kind: "note", opens: "attempt" }),
  line("call", { kind: "call", opens: "tool" }),
  line("result", { kind: "result" }),
  line("said"),
  line("second", { kind: "note", opens: "attempt", attempt: 2 }),
  line("more", { attempt: 2 }),
  line("over", { attempt: null, kind: "note" }),
];
const ids = (shown: readonly number[] | null) => shown?.map((each) => LINES[each]?.id);

describe("shownLines", () => {
  it("shows all as long as nothing is folded", () => {
    expect(shownLines(LINES, UNFOLDED)).toBeNull();
  });

  it("keeps the line that opens a section", () => {
    expect(ids(shownLines(LINES, foldAll(UNFOLDED, "attempts")))).toEqual([
      "created",
      "first",
      "second",
      "over",
    ]);
    expect(ids(shownLines(LINES, foldAll(UNFOLDED, "tools")))).not.toContain("result");
  });

  it("folds what began before the lines in memory", () => {
    const later = LINES.slice(3);
    expect(shownLines(later, foldAll(UNFOLDED, "attempts"))?.map((each) => later[each]?.id)).toEqual([
      "second",
      "over",
    ]);
  });

  it("folds an attempt on both sides of a line that belongs to none", () => {
    const lines = [
      ...LINES.slice(0, 2),
      line("baseline", { attempt: null, kind: "note" }),
      ...LINES.slice(2),
    ];
    const shown = (part: readonly LogLine[]) =>
      shownLines(part, foldAll(UNFOLDED, "attempts"))?.map((each) => part[each]?.id);
    expect(shown(lines)).toEqual(["created", "first", "baseline", "second", "over"]);
    expect(shown(lines.slice(2))).toEqual(["baseline", "second", "over"]);
  });

  it("turns one section, and turns it back", () => {
    const one = turn(UNFOLDED, "first");
    expect(ids(shownLines(LINES, one))).toEqual(["created", "first", "second", "more", "over"]);
    expect(shownLines(LINES, turn(one, "first"))).toBeNull();
    expect(ids(shownLines(LINES, turn(foldAll(UNFOLDED, "attempts"), "second")))).toContain("more");
  });
});

describe("lineOfAttempt", () => {
  const begun = (sequence: number, attempt: number) =>
    ({ event: "attempt.started", sequence, phase: "coding", attempt }) as unknown as RunEvent;
  const judged = { ...begun(4, 2), event: "judge.decided" } as unknown as RunEvent;

  it.each([
    [2, "coding", "5.0"],
    [2, undefined, "5.0"],
    [2, "discovery", ""],
    [undefined, "coding", ""],
  ])("attempt %s of %s", (attempt, phase, line) => {
    expect(lineOfAttempt([begun(2, 1), judged, begun(5, 2)], attempt, phase)).toBe(line);
  });
});

describe("nextSection", () => {
  it("goes to attempts and tools, both ways, and stays at the last", () => {
    expect(nextSection(LINES, null, "created", 1, true)).toBe("first");
    expect(nextSection(LINES, null, "first", 1, true)).toBe("first");
    expect(nextSection(LINES, null, "first", 1, false)).toBe("call");
    expect(nextSection(LINES, null, "over", -1, true)).toBe("second");
    expect(nextSection(LINES, null, "second", 1, false)).toBe("");
  });

  it("leaves out what is folded", () => {
    const shown = shownLines(LINES, turn(UNFOLDED, "first"));
    expect(nextSection(LINES, shown, "first", 1, false)).toBe("second");
  });
});
