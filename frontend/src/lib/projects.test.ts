import { describe, expect, it, test } from "vitest";

import { shortNames, shortProject } from "./projects";

it.each([
  ["/srv/code/shares", "shares"],
  ["/srv/code/shares/", "shares"],
  ["https://example.org/team/shares.git", "shares"],
  ["git@example.org:shares.git", "shares"],
  ["C:\\code\\shares", "shares"],
  ["/", "/"],
  ["", ""],
])("%j is called %j", (location, name) => {
  expect(shortProject(location)).toBe(name);
});

describe("shortNames", () => {
  test.each([
    [
      ["/home/me/shares", "https://example.org/me/tools.git"],
      ["shares", "tools"],
    ],
    [
      ["/home/me/shares", "/srv/code/shares", "git@example.org:team/shares.git"],
      ["me/shares", "code/shares", "team/shares"],
    ],
    [
      ["/a/me/shares", "/b/me/shares", "/c/other"],
      ["/a/me/shares", "/b/me/shares", "other"],
    ],
  ])("tells %j apart", (places, names) => {
    expect(shortNames(places)).toEqual(names);
  });
});
