import { describe, expect, it } from "vitest";

import { repositoriesOf } from "./source";

describe("repositoriesOf", () => {
  it("names each repository once, the latest first, and nothing that is none", () => {
    const places = ["/a", "a new project", "https://h/r.git", "/a", "git@h:r.git", "tea.zip", ""];
    expect(repositoriesOf(places.map((project) => ({ project })))).toEqual([
      { sourceKind: "local", place: "/a" },
      { sourceKind: "git", place: "https://h/r.git" },
      { sourceKind: "git", place: "git@h:r.git" },
    ]);
  });

  it("offers only a few", () => {
    const runs = Array.from({ length: 50 }, (_, index) => ({ project: `/${index}` }));
    expect(repositoriesOf(runs)).toHaveLength(6);
  });
});
