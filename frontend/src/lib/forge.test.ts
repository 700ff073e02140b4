import { describe, expect, it } from "vitest";

import { endOfPull, pullUrl, pushInWords, reviewInWords, stateOfPull } from "./forge";

type Pull = Parameters<typeof stateOfPull>[0];

const pull = (url: string | null, known: Partial<Pull> = {}): Pull => ({
  pull_url: url,
  outcome: null,
  ended_as: null,
  edited_share: null,
  ...known,
});

describe("pullUrl", () => {
  it("gives addresses of the web and nothing else", () => {
    expect(pullUrl(pull("https://forge.test/acme/widgets/pull/7"))).toBe(
      "https://forge.test/acme/widgets/pull/7",
    );
    for (const bad of [null, "", "not an address", "javascript:alert(1)", "data:text/html,x"])
      expect(pullUrl(pull(bad))).toBeNull();
  });
});

describe("stateOfPull", () => {
  it("is open until the forge says what became of it", () => {
    expect(stateOfPull(pull(null))).toBe("open");
    expect(stateOfPull(pull(null, { outcome: "merged" }))).toBe("merged");
  });

  it.each([
    ["closed", "closed", null, "closed"],
    ["merged", "merged_unchanged", 0, "merged unchanged"],
    ["merged", "merged_edited", 0.124, "merged, 12 % of the lines edited after this run"],
    ["merged", "merged_edited", 0.001, "merged, less than 1 % of the lines edited after this run"],
    ["merged", "reverted", 0, "merged, later reverted"],
  ] as const)("says how %s work ended: %s", (outcome, endedAs, share, words) => {
    expect(stateOfPull(pull(null, { outcome, ended_as: endedAs, edited_share: share }))).toBe(words);
  });
});

describe("endOfPull", () => {
  it("says what the merger did, and leaves a revert out: another person may have made it", () => {
    expect(endOfPull(pull(null, { outcome: "merged", ended_as: "reverted" }))).toBe("merged");
  });
});

describe("pushInWords", () => {
  it.each([
    ["passed", "aaaaaaaaaaaa passed the gates"],
    ["failed", "aaaaaaaaaaaa failed the gates: because"],
    ["conflicts", "aaaaaaaaaaaa is not judged: because"],
  ] as const)("says that a push %s", (status, words) => {
    const push = { commit: "a".repeat(40), status, reason: "because", judged_at: "2026-11-25T10:00:00Z" };
    expect(pushInWords(push)).toBe(words);
  });
});

describe("reviewInWords", () => {
  it.each([
    ["watching", "waits for a review", 0, "watching: waits for a review"],
    ["watching", "checks are running: lint", 1, "watching after 1 round: checks are running: lint"],
    ["working", "round 2 of 3", 2, "working: round 2 of 3"],
    ["spent", "all 3 rounds are used", 3, "spent after 3 rounds: all 3 rounds are used"],
    ["approved", "approved by ada", 1, "approved by ada"],
    ["ended", "merged", 0, "merged"],
    ["watching", "", 0, "watching"],
  ] as const)("says %s", (state, reason, rounds, words) => {
    expect(reviewInWords({ state, reason, rounds })).toBe(words);
  });
});
