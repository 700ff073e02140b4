// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { attemptDiffQuery } from "@/lib/queries/diffs";

import { DiffPane } from "./DiffPane";

// Busy machines take long to click and type; nothing here measures time.
vi.setConfig({ testTimeout: 120_000 });

/** jsdom lays nothing out: nothing comes into sight. */
class NothingInSight {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("IntersectionObserver", NothingInSight);

const SHOWN = { against: "base", view: "unified" } as const;
const diffOf = (head: string) => ({
  files: [
    {
      path: "a.txt",
      old_path: null,
      status: "added" as const,
      additions: 1,
      deletions: 0,
      binary: false,
      truncated: false,
      patch: `diff --git a/a.txt b/a.txt\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+${head}\n`,
    },
  ],
  truncated: false,
  base_commit: "b",
  head_commit: head,
  additions: 1,
  deletions: 0,
});

beforeEach(() => localStorage.clear());
afterEach(cleanup);

it.each([
  ["phase", { id: "r1", phase: "verification" }],
  ["run", { id: "r2", phase: "coding" }],
])("shows the attempt of another %s as not viewed", async (_, other) => {
  const queries = new QueryClient();
  const first = { id: "r1", phase: "coding" };
  for (const [of, head] of [
    [first, "one"],
    [other, "two"],
  ] as const) {
    queries.setQueryData(attemptDiffQuery({ ...of, number: 1, against: "base" }).queryKey, diffOf(head));
  }
  const pane = (of: typeof first) => (
    <QueryClientProvider client={queries}>
      <DiffPane
        {...of}
        number={1}
        shown={SHOWN}
        onShow={() => {}}
        comments={[]}
        evaluations={[]}
        actions={null}
      />
    </QueryClientProvider>
  );
  const { rerender } = render(pane(first));
  await userEvent.click(screen.getByRole("checkbox", { name: "Viewed" }));
  expect(screen.queryByText("one"), "a file that was viewed is folded").toBeNull();
  rerender(pane(other));
  expect(screen.getByRole("checkbox", { name: "Viewed" })).toHaveProperty("checked", false);
  expect(screen.getByText("two")).toBeTruthy();
});
