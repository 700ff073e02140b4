import { describe, expect, it } from "vitest";

import { pullUrl, reviewInWords, stateOfPull } from "./forge";

const pull = (url: string | null, outcome: "merged" | "closed" | null = null) => ({ pull_url: url, outcome });

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
    expect(stateOfPull(pull(null, "merged"))).toBe("merged");
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
