import { describe, expect, it } from "vitest";

import { commandOf, EMPTY_FIELDS, requestOf, type StartFields } from "./start-form";

const fields = (part: Partial<StartFields>): StartFields => ({
  ...EMPTY_FIELDS,
  goal: "Mend it",
  path: "/p",
  ...part,
});

describe("requestOf", () => {
  it("sends only what was chosen", () => {
    expect(requestOf(fields({}))).toEqual({ goal: "Mend it", source: { kind: "local", path: "/p" } });
  });

  it.each<[string, Partial<StartFields>, object]>([
    [
      "git",
      { sourceKind: "git", url: " https://h/r ", ref: "main" },
      { source: { kind: "git", url: "https://h/r", ref: "main" } },
    ],
    [
      "a credential of a private repository",
      { sourceKind: "git", url: "git@h:r", credential: " deploy " },
      { source: { kind: "git", url: "git@h:r", credential: "deploy" } },
    ],
    ["nothing", { sourceKind: "empty" }, { source: { kind: "empty" } }],
    ["phases in their order", { phases: ["verification", "coding"] }, { phases: ["coding", "verification"] }],
    ["no phase at all is sent, and refused by the service", { phases: [] }, { phases: [] }],
    ["model", { model: "openai:gpt", candidates: "3" }, { agent: { model: "openai:gpt", candidates: 3 } }],
    ["budget", { maxTokens: "10", maxCost: "0.5" }, { policy: { budget: { tokens: 10, cost_usd: 0.5 } } }],
    [
      "what is no number goes to the service as it is",
      { maxAttempts: "three" },
      { policy: { attempts_per_phase: "three" } },
    ],
    [
      "named candidates, instead of an agent",
      {
        backend: "codex",
        model: "x",
        named: [
          { agent: "opencode", model: "" },
          { agent: "codex", model: " gpt-5 " },
        ],
      },
      { agent: { candidates: [{ agent: "opencode" }, { agent: "codex", model: "gpt-5" }] } },
    ],
    ["what a retry continues", { retryContext: "continue" }, { policy: { retry_context: "continue" } }],
    [
      "a script in TOML goes as a text",
      { backend: "scripted", script: 'title = "tea"' },
      { agent: { backend: "scripted", script: 'title = "tea"' } },
    ],
    ["a share of the goal's tests", { heldOutShare: " 0.3 " }, { held_out: { share: 0.3 } }],
    ["no share, against the default", { heldOutShare: "0" }, { held_out: { share: 0 } }],
    ["a patch with tests", { heldOut: "--- /dev/null" }, { held_out: { patch: "--- /dev/null" } }],
    ["globs, one a line", { openPaths: "a*\n\n b " }, { policy: { open_paths: ["a*", "b"] } }],
  ])("%s", (_, part, expected) => {
    expect(requestOf(fields(part))).toMatchObject(expected);
  });
});

describe("commandOf", () => {
  it("says the same in words of the command line", () => {
    expect(
      commandOf(
        fields({ goal: "Say it's done", maxAttempts: "2", openPaths: "tests/*", deterministicOnly: true }),
        "http://127.0.0.1:8000",
      ),
    ).toBe(
      "phaserunner run 'Say it'\\''s done' --repo=/p --max-attempts=2 --deterministic-only '--open=tests/*' --url=http://127.0.0.1:8000",
    );
  });

  it("names candidates one by one", () => {
    const named = [
      { agent: "opencode", model: "" },
      { agent: "codex", model: "gpt-5" },
    ];
    expect(commandOf(fields({ named, retryContext: "fresh" }), "http://127.0.0.1:8000")).toBe(
      "phaserunner run 'Mend it' --repo=/p --candidate=opencode --candidate=codex:gpt-5 --retry-context=fresh --url=http://127.0.0.1:8000",
    );
  });

  it.each<[string, Partial<StartFields>]>([
    ["an uploaded archive", { sourceKind: "archive" }],
    ["a script", { backend: "scripted" }],
    ["a threshold", { passThreshold: "0.9" }],
    ["a goal that would be read from a file", { goal: "@property should be cached" }],
    ["a goal that would be read from the input", { goal: "-" }],
  ])("offers nothing for %s", (_, part) => {
    expect(commandOf(fields(part), "http://127.0.0.1:8000")).toBeNull();
  });
});
