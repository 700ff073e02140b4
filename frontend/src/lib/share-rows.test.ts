import { expect, it } from "vitest";

import { asCsv, shareRows } from "./share-rows";

const share = { count: 1, of: 2, value: 0.5, low: 0.1, high: 0.9 };

it("names every share by its place", () => {
  const report = {
    runs: 3,
    passes: { pass_at_1: share },
    evaluators: [{ evaluator: "pytest", wrong_passes: share, latency: { n: 1 } }],
  };
  expect(shareRows(report).map((each) => each.name)).toEqual([
    "passes.pass_at_1",
    "evaluators.pytest.wrong_passes",
  ]);
});

it.each([
  ["a,b", '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ["=1+1", "'=1+1"],
  ["-x", "'-x"],
  ["two\nlines", '"two\nlines"'],
])("writes %j as %j", (name, text) => {
  expect(asCsv([{ name, share }]).split("\r\n")[1]).toBe(`${text},1,2,0.5,0.1,0.9`);
});

it("leaves what was not measured empty", () => {
  const none = { count: 0, of: 0, value: null, low: null, high: null };
  expect(asCsv([{ name: "x", share: none }])).toContain("x,0,0,,,");
});
