import { describe, expect, it } from "vitest";

import type { Evaluation } from "../queries/runs";
import { findingId, findingsOf, withFinding } from "./findings";

function verdict(status: string, suggestions: readonly string[], feedback = "", evaluator = "ruff_lint") {
  return { evaluator, status, gate: true, suggestions, feedback } as unknown as Evaluation;
}

describe("findings in a diff", () => {
  it("are found by path and line, each once", () => {
    const said = "F401 unused import in shares.py:1:8";
    const found = findingsOf([verdict("failed", [said], `1 lint error\n- ${said}`)]);
    expect(found.get("shares.py")).toEqual([
      { evaluator: "ruff_lint", gate: true, path: "shares.py", line: 1, text: said },
    ]);
  });

  it.each([
    ["no place", "assert 3 == 4"],
    ["a time", "it took until 12:30"],
    ["an address", "http://localhost:8080/x"],
    ["a path outside the tree", "/usr/lib/python3/os.py:3"],
    ["a test id", "tests/test_a.py::test_b"],
  ])("are none in %s", (_, text) => {
    expect(findingsOf([verdict("failed", [text])]).size).toBe(0);
  });

  it.each(["größe.py", "src/größe.py", "資料/読む.py", "e\u0301te/a+b@c.py"])("are found in %s", (path) => {
    expect([...findingsOf([verdict("failed", [`${path}:3: E501`])]).keys()]).toEqual([path]);
  });

  it("come from verdicts that did not pass", () => {
    expect(findingsOf([verdict("passed", ["a.py:1"])]).size).toBe(0);
    expect(findingsOf([verdict("errored", ["a.py:1"])]).size).toBe(1);
  });

  it("can be copied into guidance, with their place and once", () => {
    const finding = { evaluator: "x", gate: true, path: "a.py", line: 3, text: "too long" };
    const once = withFinding("Mind this:", finding);
    expect(once).toBe("Mind this:\na.py:3: too long");
    expect(withFinding(once, finding)).toBe(once);
    expect(withFinding("", { ...finding, text: "a.py:3: too long" })).toBe("a.py:3: too long");
  });

  it("have ids that fit into links", () => {
    expect(findingId("a b/#c.py", 3)).toBe("finding-a%20b%2F%23c.py-3");
  });
});
