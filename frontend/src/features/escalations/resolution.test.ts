// @vitest-environment jsdom
import { execFileSync } from "node:child_process";

import { beforeEach, describe, expect, it } from "vitest";

import { ApiError } from "@/lib/api/errors";
import { withBody, withComment, withoutComment, written } from "@/lib/diff/comments";

import { forgetOldDrafts, readDraft } from "./draft";
import { reached } from "./guidance-in-prompt";
import { asCommand, asCurl, canSend, type Draft, EMPTY, isEmpty, missing, resolutionOf } from "./resolution";
import { conflictOf } from "./use-resolve";
import { trackRecordText } from "./labels";

const NASTY = 'it\'s "half" of $HOME `id`\n-- and <b>more</b> 挨拶';
const draft = (change: Partial<Draft>): Draft => ({ ...EMPTY, ...change });
const shellWords = (line: string) =>
  execFileSync("sh", ["-c", `set -- ${line}; printf '%s\\0' "$@"`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

describe("missing", () => {
  it.each([
    [{ decision: null }, "Choose"],
    [{ decision: "retry", attempts: 0 }, "Further attempts"],
    [{ decision: "retry", attempts: 21 }, "Further attempts"],
    [{ decision: "retry", attempts: 1.5 }, "Further attempts"],
    [{ decision: "retry", attempts: Number.NaN }, "Further attempts"],
    [{ decision: "retry", attempts: 20 }, ""],
    [{ decision: "accept", attempts: Number.NaN }, ""],
  ] as const)("%j", (change, told) => {
    expect(missing(draft(change)).startsWith(told)).toBe(true);
    expect(missing(draft(change)) === "").toBe(told === "");
  });

  it("does not let accept what is not there", () => {
    expect(canSend(draft({ decision: "accept" }), false)).toBe(false);
    expect(canSend(draft({ decision: "reject" }), false)).toBe(true);
  });
});

describe("resolutionOf", () => {
  it("sends what was typed, without blanks around and without empty comments", () => {
    const typed = draft({
      guidance: "  Divide by two. \n",
      attempts: 2,
      openPaths: " tests/a.py \n\n tests/a.py\ntests/b.py",
      comments: [
        { path: "a.py", line: 3, body: " here " },
        { path: "a.py", line: 4, body: "  " },
      ],
    });
    expect(resolutionOf(typed, "retry", 7)).toEqual({
      decision: "retry",
      guidance: "Divide by two.",
      line_comments: [{ path: "a.py", line: 3, side: "new", body: "here" }],
      verdict_marks: [],
      open_paths: ["tests/a.py", "tests/b.py"],
      known_failures: false,
      version: 7,
      additional_attempts: 2,
    });
  });

  it.each(["accept", "reject"] as const)(
    "%s grants no attempts, which the service would refuse",
    (decision) => {
      expect(resolutionOf(draft({ attempts: 5 }), decision, 1)).not.toHaveProperty("additional_attempts");
    },
  );

  it.each([
    ["accept", true],
    ["retry", true],
    ["reject", false],
  ] as const)("%s: known failures are added: %s", (decision, added) => {
    const body = resolutionOf(draft({ knownFailures: true }), decision, 1);
    expect(body.known_failures).toBe(added);
    expect(asCommand("id-1", body, "")?.includes("--known-failures")).toBe(added);
  });
});

describe("the same decision in other words", () => {
  const body = resolutionOf(
    draft({
      guidance: NASTY,
      attempts: 3,
      openPaths: "tests/*.py",
      comments: [{ path: "my file.py", line: 2, body: "-no" }],
    }),
    "retry",
    1,
  );

  it("is one command", () => {
    expect(shellWords(asCommand("id-1", body, "http://127.0.0.1:8000") ?? "")).toEqual([
      "phaserunner",
      "escalations",
      "resolve",
      "id-1",
      "--retry",
      `--guidance=${NASTY}`,
      "--attempts=3",
      "--comment=my file.py:2:-no",
      "--open=tests/*.py",
      "--url=http://127.0.0.1:8000",
    ]);
  });

  it.each([
    ["-", true],
    ["@alice is right", true],
    ["- one\n- two", false],
    ["Ask @alice", false],
  ])("is no command if that read the guidance %j from elsewhere", (guidance, isNone) => {
    const said = resolutionOf(draft({ guidance }), "retry", 1);
    expect(asCommand("id-1", said, "http://127.0.0.1:8000") === null).toBe(isNone);
  });

  it("is one curl call with the same JSON and no token in it", () => {
    const words = shellWords(asCurl("id-1", body, "http://127.0.0.1:8000", true));
    expect(JSON.parse(words[words.indexOf("-d") + 1] ?? "")).toEqual(body);
    expect(words).toContain("http://127.0.0.1:8000/api/v1/escalations/id-1/resolve");
  });
});

describe("comments", () => {
  const at = (path: string, line: number) => ({ path, line, side: "new" as const });

  it("are one a line", () => {
    const one = withComment([], at("a", 1));
    expect(withComment(one, at("a", 1))).toBe(one);
    expect(withComment(withComment(one, at("a", 2)), at("b", 1))).toHaveLength(3);
  });

  it("are changed and removed by path and line", () => {
    const both = withComment(withComment([], at("a", 1)), at("b", 1));
    const b = { ...at("b", 1), start_line: null };
    expect(written(withBody(both, at("b", 1), "x"))).toEqual([{ ...b, body: "x" }]);
    expect(withoutComment(both, at("a", 1))).toEqual([{ ...b, body: "" }]);
  });
});

describe("reached", () => {
  it.each([
    ["as it was typed", "Do:\nDivide by two.\nEnd", "Divide by two.", true],
    ["indented and quoted", "> Divide\n>   by two.\n", "Divide\nby two.", true],
    ["another text", "Divide by three.", "Divide by two.", false],
    ["no guidance", "anything", "", true],
  ])("%s", (_name, prompt, guidance, all) => {
    expect(reached(prompt, { guidance, line_comments: [] }).missing.length === 0).toBe(all);
  });

  it("names the comment that is missing", () => {
    const said = {
      guidance: "",
      line_comments: [{ path: "a.py", line: 4, side: "new" as const, body: "why?" }],
    };
    expect(reached("nothing", said).missing).toEqual(["the comment on a.py:4"]);
  });
});

describe("drafts", () => {
  beforeEach(() => localStorage.clear());

  it.each(["", "{", "[]", '{"at":1,"draft":{"guidance":3}}', "null"])(
    "broken storage %j is an empty draft",
    (kept) => {
      localStorage.setItem("phaserunner.draft.x", kept);
      expect(readDraft("x")).toEqual(EMPTY);
    },
  );

  it("of long ago and broken ones are thrown away, others stay", () => {
    const day = 86_400_000;
    const keep = (id: string, at: number) =>
      localStorage.setItem(`phaserunner.draft.${id}`, JSON.stringify({ at, draft: draft({ guidance: id }) }));
    keep("old", 0);
    keep("new", 20 * day);
    localStorage.setItem("phaserunner.draft.broken", "{");
    localStorage.setItem("phaserunner.theme", "dark");
    forgetOldDrafts(31 * day);
    expect(readDraft("new").guidance).toBe("new");
    expect(Object.keys(localStorage).toSorted()).toEqual(["phaserunner.draft.new", "phaserunner.theme"]);
  });

  it("are empty without a word", () => {
    expect(
      isEmpty(draft({ decision: "retry", guidance: " ", comments: [{ path: "a", line: 1, body: "" }] })),
    ).toBe(true);
    expect(isEmpty(draft({ openPaths: "x" }))).toBe(false);
  });
});

describe("conflictOf", () => {
  const problem = (status: number, more: object) =>
    new ApiError({ type: "t", title: "t", status, detail: "d", field: null, errors: [], ...more });

  it.each([
    [
      "who was first",
      problem(409, { decided_by: "Ada", decided_at: "2026-01-01T00:00:00Z", decision: "accept" }),
      true,
    ],
    ["an older version", problem(409, { decided_by: null, decided_at: null }), false],
    ["another refusal", problem(422, {}), false],
    ["no answer", new Error("away"), false],
  ])("%s", (_name, error, is) => {
    expect(conflictOf(error) !== null).toBe(is);
  });
});

it("never makes 0 % out of no data", () => {
  const none = { count: 0, of: 0, value: null, low: null, high: null };
  const share = { count: 1, of: 4, value: 0.25, low: 0.05, high: 0.7 };
  const record = {
    evaluator: "pytest",
    verdicts: 12,
    passed: share,
    failed: { ...share, count: 3 },
    errored: none,
    skipped: none,
    latency: { n: 0, p50_ms: null, p95_ms: null },
  };
  expect(trackRecordText({ ...record, marked: { wrong_fails: none, wrong_passes: none } })).toContain(
    "none marked",
  );
  expect(trackRecordText({ ...record, marked: { wrong_fails: share, wrong_passes: none } })).toBe(
    "failed 3 of its last 12 evaluations; 1 of 4 marked fails wrong (95 %: 5 %–70 %)",
  );
});
