/** Every way in which answers and loops end has its own word; none looks like another. */
import { describe, expect, it } from "vitest";

import { lacking } from "@/lib/dimensions";
import { buildTimeline } from "@/lib/timeline";

import { answerCourse, answerEnding, loopCourse, loopEnding } from "./outcomes";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const RUN = { status: "completed", paused: null, escalation_id: null, escalations: [] };
const GIVEN = { status: "accepted", answer: "3 francs", gaps: [], withheld: false, reason: "" };
const CAME = {
  final_output: "",
  final_evaluation: null,
  success: false,
  iterations_completed: 1,
  ended_by: null,
};

describe("answerEnding", () => {
  it.each([
    ["queued", { status: "queued", result: null }, "queued", "queued", /waits for a worker/],
    ["being written", { status: "active", result: null }, "active", "running", /after the first evaluation/],
    [
      "paused",
      { status: "active", paused: { at: at(0), by: "Ada", reason: "" }, result: null },
      "paused",
      "paused",
      /resumed/,
    ],
    [
      "over its budget",
      { status: "waiting", escalation_id: "e", result: null },
      "waiting",
      "needs a person",
      /reviewer decides/,
    ],
    [
      "cancelled before it began",
      { status: "cancelled", result: null },
      "cancelled",
      "cancelled",
      /before an answer was evaluated/,
    ],
    ["accepted", { result: GIVEN }, "passed", "accepted", /all four/],
    [
      "partial",
      { status: "failed", result: { ...GIVEN, status: "partial" } },
      "failed",
      "partial",
      /best attempt/,
    ],
    [
      "withheld, whatever its status",
      { status: "failed", result: { ...GIVEN, status: "partial", answer: null, withheld: true } },
      "failed",
      "withheld",
      /safety rules/,
    ],
    [
      "unavailable",
      { status: "failed", result: { ...GIVEN, status: "unavailable", answer: null } },
      "errored",
      "unavailable",
      /No answer can be given/,
    ],
    [
      "taken by a person",
      { result: { ...GIVEN, status: "partial" }, escalations: [{ decided_by: "Ada", decision: "accept" }] },
      "failed",
      "partial",
      /Ada decided: accept/,
    ],
  ])("tells an answer that is %s", (_name, answer, status, word, text) => {
    const ending = answerEnding({ ...RUN, ...answer } as never);
    expect(ending).toMatchObject({ status, word });
    expect(ending.text).toMatch(text);
  });
});

describe("loopEnding", () => {
  it.each([
    ["running", { status: "active", result: null }, "active", "running", /after the first evaluation/],
    [
      "ended by success",
      { result: { ...CAME, ended_by: "success", success: true } },
      "passed",
      "success",
      /reported success/,
    ],
    [
      "ended by its condition without success",
      { result: { ...CAME, ended_by: "condition" } },
      "completed",
      "condition met",
      /says no success/,
    ],
    [
      "used up",
      { status: "failed", result: { ...CAME, ended_by: "maximum" } },
      "failed",
      "iterations used up",
      /No iteration succeeded/,
    ],
    ["broken", { status: "failed", result: { ...CAME, ended_by: "error" } }, "errored", "error", /kept/],
    [
      "rejected",
      { status: "failed", result: CAME, escalations: [{ decided_by: "Ada", decision: "reject" }] },
      "failed",
      "failed",
      /Ada decided: reject/,
    ],
  ])("tells a loop that is %s", (_name, loop, status, word, text) => {
    const ending = loopEnding({ ...RUN, ...loop } as never);
    expect(ending).toMatchObject({ status, word });
    expect(ending.text).toMatch(text);
  });
});

it("names the dimensions that are not sufficient", () => {
  const dimensions = [
    { dimension: "accuracy", verdict: "SUFFICIENT" },
    { dimension: "safety", verdict: "INSUFFICIENT" },
  ];
  expect(lacking({ evaluation: { dimensions } } as never)).toEqual(["safety"]);
  expect(lacking({ evaluation: null } as never)).toEqual([]);
});

describe("courses", () => {
  const times = { escalations: [], created_at: at(0), finished_at: null };
  const kinds = (course: Parameters<typeof buildTimeline>[0]) =>
    buildTimeline(course, Date.parse(at(60))).map((each) => [
      each.kind,
      (each.to - each.from) / 1000,
      each.verdict,
    ]);
  const iteration = (more: object) =>
    ({
      iteration: 1,
      status: "failed",
      output: "a draft",
      started_at: at(0),
      completed_at: at(10),
      times: { director: 3000, script: 1000, evaluator: 6000 },
      ...more,
    }) as never;

  it("split an iteration into work, its script included, and evaluation", () => {
    expect(kinds(loopCourse({ ...times, iterations: [iteration({})] }))).toEqual([
      ["working", 4, "failed"],
      ["evaluating", 6, "failed"],
    ]);
  });

  it("show a director at work, and never an end before the work", () => {
    const open = iteration({ status: "started", output: null, completed_at: null, times: {} });
    expect(kinds(loopCourse({ ...times, iterations: [open] }))).toEqual([["working", 60, null]]);
    const cut = iteration({ times: { director: 99_000, script: null, evaluator: null } });
    expect(kinds(loopCourse({ ...times, iterations: [cut] }))).toEqual([
      ["working", 10, "failed"],
      ["evaluating", 0, "failed"],
    ]);
  });

  it("show each attempt at an answer", () => {
    const attempts = [{ number: 1, status: "passed", started_at: at(0), completed_at: at(5) }] as never;
    expect(kinds(answerCourse({ ...times, attempts }))).toEqual([["working", 5, "passed"]]);
  });
});
