/** What is promised of a decision is what the service does, for each kind of run. */
import { describe, expect, it } from "vitest";

import { consequence, furtherText, placeOf } from "./consequences";
import { hintOf, reasonOf } from "./labels";

const GIVEN = { status: "partial", answer: "3", gaps: [], withheld: false, reason: "" };
const asked = (kind: string, more: object = {}) =>
  ({
    kind,
    attempt: 2,
    attempt_id: "a2",
    attempts: [{ id: "a2", status: "failed" }],
    would_give: null,
    questions: [],
    ...more,
  }) as never;

describe("consequence", () => {
  it.each([
    ["accept", asked("sprint"), /next phase begins/],
    [
      "accept",
      asked("sprint", { questions: [{}] }),
      /^What the questions show is allowed.*next phase begins/,
    ],
    ["accept", asked("director_loop"), /loop completes.*not evaluated again/],
    ["accept", asked("answer", { would_give: GIVEN }), /best evaluated attempt/],
    [
      "accept",
      asked("answer", { would_give: { ...GIVEN, answer: null, withheld: true } }),
      /without an answer.*safety/,
    ],
    ["accept", asked("answer"), /without an answer.*evaluated/],
    ["retry", asked("sprint"), /agent tries again/],
    ["retry", asked("director_loop"), /director proposes again/],
    ["retry", asked("answer"), /written again/],
    ["retry", asked("sprint", { attempt_id: null, attempts: [] }), /agent tries again/],
    ["reject", asked("director_loop"), /loop fails/],
    ["reject", asked("answer"), /answer fails/],
  ] as const)("%s, case %#", (decision, escalation, text) => {
    expect(consequence(decision, escalation)).toMatch(text);
  });

  it.each(["produced", "evaluating"])("says that output which is only %s is judged again", (status) => {
    const escalation = asked("director_loop", { attempts: [{ id: "a2", status }] });
    expect(consequence("retry", escalation)).toMatch(/evaluated again.*next iteration/);
  });

  it("speaks of phases for sprints only", () => {
    for (const decision of ["accept", "retry", "reject"] as const) {
      for (const kind of ["director_loop", "answer"])
        expect(consequence(decision, asked(kind, { would_give: GIVEN }))).not.toMatch(/phase|sprint|diff/);
    }
  });
});

it("names the place of an escalation", () => {
  const at = (kind: string, attempt: number) => placeOf({ kind, phase: "coding", attempt } as never);
  expect([at("sprint", 2), at("sprint", 0), at("director_loop", 3), at("answer", 0)]).toEqual([
    "coding, attempt 2",
    "coding",
    "iteration 3",
    "",
  ]);
  expect(furtherText("director_loop", 2)).toBe("2 further iterations");
  expect(reasonOf({ kind: "director_loop", reason_kind: "human_asked" })).toBe("The director asks");
  expect(reasonOf({ kind: "sprint", reason_kind: "human_asked" })).toBe("The agent asks");
});

it("says what helps before a retry, unless the reason says it", () => {
  expect(hintOf({ reason_kind: "agent_unavailable" })).toMatch(/restart/);
  expect(hintOf({ reason_kind: "attempts_exhausted" })).toBe("");
});
