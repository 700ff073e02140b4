// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { AttemptDiff, FileDiff } from "@/lib/queries/diffs";

import { DiffReview } from "./DiffReview";

/** jsdom lays nothing out: nothing comes into sight. */
class NothingInSight {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("IntersectionObserver", NothingInSight);

/** Code stays without colours. */
class NoWorker {
  addEventListener(): void {}
  postMessage(): void {}
}
vi.stubGlobal("Worker", NoWorker);

const file = (path: string, lines: readonly string[], more: Partial<FileDiff> = {}): FileDiff => ({
  path,
  old_path: null,
  status: "added",
  additions: lines.length,
  deletions: 0,
  binary: false,
  truncated: false,
  patch: `diff --git a/${path} b/${path}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((each) => `+${each}\n`).join("")}`,
  ...more,
});

const diffOf = (...files: FileDiff[]): AttemptDiff => ({
  files,
  truncated: false,
  base_commit: "b",
  head_commit: "h",
  additions: 0,
  deletions: 0,
});

const OF = { id: "r1", phase: "coding", number: 1, against: "base" } as const;
const NONE = new Map();

beforeAll(() => {
  Element.prototype.scrollIntoView = () => {};
  URL.createObjectURL = () => "blob:x";
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

function show(diff: AttemptDiff) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <DiffReview of={OF} diff={diff} view="unified" comments={[]} findings={NONE} actions={null} />
    </QueryClientProvider>,
  );
}

it("shows what stands behind a line that imitates the head of a file", () => {
  show(diffOf(file("a.py", ["# note\u2028diff --git ", 'os.system("evil")'])));
  expect(screen.getByText('os.system("evil")')).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("warns of a file whose rows are not those that the service counted, and saves its patch", async () => {
  show(diffOf(file("a.py", ["one"]), file("b.py", ["one"], { additions: 2 })));
  const warning = screen.getByRole("alert");
  expect(warning.textContent).toContain("The page cannot show all lines of this file.");
  expect(warning.closest("[data-file]")?.getAttribute("data-file")).toBe("b.py");
  const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  await userEvent.click(screen.getByRole("button", { name: "Download the patch" }));
  expect(click.mock.instances.map((each) => (each as unknown as HTMLAnchorElement).download)).toEqual([
    "b.py.patch",
  ]);
});
