import { describe, expect, it } from "vitest";

import { inOwnWords } from "./refusals";

describe("inOwnWords", () => {
  it.each([
    ["goal", "String should have at least 1 character", "Say what to achieve."],
    ["source.path", "shares is not an absolute path", "Enter the whole path, from / on."],
    ["policy.budget.tokens", "Input should be a valid integer, unable to parse", "Enter a whole number."],
    ["source.path", "/gone does not exist or cannot be reached", "/gone does not exist or cannot be reached"],
    ["goal", "", ""],
  ])("%s: %s", (field, message, says) => {
    expect(inOwnWords(field, message)).toBe(says);
  });
});
