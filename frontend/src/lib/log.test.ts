import { describe, expect, it } from "vitest";

import { findLines, linesOf, logOf } from "./log";
import type { RunEvent } from "./stream/frames";

const progress = (sequence: number, ...texts: string[]): RunEvent =>
  ({
    event: "agent.progress",
    run_id: "r",
    sprint_id: "r",
    sequence,
    timestamp: "2026-01-01T00:00:00Z",
    phase: "coding",
    attempt: 1,
    data: { candidate: 0, lines: texts.map((text) => ({ text, at: "2026-01-01T00:00:00Z" })) },
  }) as unknown as RunEvent;

const tool = (sequence: number, text: string): RunEvent =>
  ({
    ...progress(sequence),
    event: "tool.result",
    data: { tool: "run", text, candidate: 2 },
  }) as unknown as RunEvent;

describe("Log", () => {
  it("names each line for ever by its event", () => {
    expect(linesOf(progress(7, "a", "b")).map((line) => [line.id, line.text])).toEqual([
      ["7.0", "a"],
      ["7.1", "b"],
    ]);
    expect(linesOf(tool(8, "x\ny")).map((line) => [line.id, line.kind, line.candidate])).toEqual([
      ["8.0", "result", 2],
      ["8.1", "result", 2],
    ]);
  });

  it.each([
    [{}, "Attempt 1 of coding"],
    [{ resumed: true, taken_over: false }, "Attempt 1 of coding, again"],
    [{ resumed: true, taken_over: true }, "Attempt 1 of coding, taken over"],
  ])("says of a start that it was taken over only if a worker was lost: %o", (data, text) => {
    const started = { ...progress(1), event: "attempt.started", data } as unknown as RunEvent;
    expect(linesOf(started).map((line) => line.text)).toEqual([text]);
  });

  it("makes the lines of an event once", () => {
    const [first, second] = [progress(1, "a"), progress(2, "b", "c")];
    const lines = logOf([first, second]);
    expect(lines.map((line) => line.text)).toEqual(["a", "b", "c"]);
    expect(logOf([second])[0]).toBe(lines[1]);
  });

  it.each([
    [
      "subtask.started",
      { iteration: 1, description: "the load" },
      "The director asks for a subtask: the load",
    ],
    ["subtask.completed", { iteration: 1, success: true, output: "45 kN" }, "The subtask is done: 45 kN"],
    [
      "subtask.completed",
      { iteration: 1, success: false, output: "?" },
      "The subtask ended without success: ?",
    ],
    [
      "subtask.completed",
      { iteration: 1, success: null, output: "it failed" },
      "The subtask gave no result: it failed",
    ],
    ["iteration.directed", { iteration: 1, status: "WAITING" }, "The director asks for a person"],
    ["iteration.scripted", { iteration: 1, exit_code: 3 }, "The script ended with 3"],
  ])("says what %s of %j means", (event, data, text) => {
    expect(linesOf({ ...progress(1), event, data } as unknown as RunEvent).map((line) => line.text)).toEqual([
      text,
    ]);
  });

  it("shows nothing for events that new servers may send", () => {
    expect(linesOf({ ...progress(1), event: "new.type" } as unknown as RunEvent)).toEqual([]);
  });
});

describe("findLines", () => {
  const lines = linesOf(progress(1, "Alpha", "beta", "\u001B[31mAL\u001B[0mpha"));

  it.each([
    ["alpha", ["1.0", "1.2"]],
    ["ETA", ["1.1"]],
    ["", []],
    ["[31m", []],
  ])("%j is in %j", (words, found) => {
    expect(findLines(lines, words)).toEqual(found);
  });
});
