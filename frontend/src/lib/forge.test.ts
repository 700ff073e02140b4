import { describe, expect, it } from "vitest";

import { pullUrl, stateOfPull } from "./forge";

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
