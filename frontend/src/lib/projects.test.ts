import { expect, it } from "vitest";

import { shortProject } from "./projects";

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
