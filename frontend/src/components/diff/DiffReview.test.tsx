// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ComponentProps } from "react";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { Place } from "@/lib/diff/comments";
import type { AttemptDiff, FileDiff } from "@/lib/queries/diffs";
import { listenToKeys } from "@/lib/shortcuts";

import type { CommentActions } from "./comment-actions";
import { DiffReview } from "./DiffReview";

// Busy machines take long to click and type; nothing here measures time.
vi.setConfig({ testTimeout: 120_000 });

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

/** jsdom has none. */
vi.stubGlobal("CSS", { escape: (text: string) => text.replaceAll(/\W/g, String.raw`\$&`) });

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

type Unrun = ComponentProps<typeof DiffReview>["unrun"];

beforeAll(() => {
  Element.prototype.scrollIntoView = () => {};
  URL.createObjectURL = () => "blob:x";
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

function show(diff: AttemptDiff, actions: CommentActions | null = null, unrun: Unrun = NONE) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <DiffReview
        of={OF}
        diff={diff}
        view="unified"
        comments={[]}
        findings={NONE}
        unrun={unrun}
        actions={actions}
      />
    </QueryClientProvider>,
  );
}

it("shows what stands behind a line that imitates the head of a file", () => {
  show(diffOf(file("a.py", ["# note\u2028diff --git ", 'os.system("evil")'])));
  expect(screen.getByText('os.system("evil")')).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("marks the new lines that no test ran, and says which they are", () => {
  const unrun = new Map([["a.py", [[2, 3]] as const]]);
  show(diffOf(file("a.py", ["one", "two", "three", "four"]), file("b.py", ["one", "two"])), null, unrun);
  const marked = [...document.querySelectorAll(".diff-unrun .diff-code")].map((each) => each.textContent);
  expect(marked).toEqual(["two", "three"]);
  expect(screen.getByText("No test ran lines 2-3").closest("[data-file]")?.getAttribute("data-file")).toBe(
    "a.py",
  );
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

it("keeps the cursor at its line when files are folded", async () => {
  const stop = listenToKeys(window);
  const commented: Place[] = [];
  const nothing = () => {};
  const add = (at: Place) => commented.push(at);
  show(diffOf(file("a.txt", ["1", "2"]), file("b.txt", ["1", "2"]), file("c.txt", ["1"])), {
    add,
    write: nothing,
    begin: nothing,
    remove: nothing,
    copy: nothing,
  });
  const fold = (path: string) =>
    userEvent.click(screen.getByRole("button", { name: new RegExp(`${path}$`) }));
  await userEvent.keyboard("jjjc");
  await fold("a.txt");
  await userEvent.keyboard("c");
  await fold("a.txt");
  await userEvent.keyboard("cjc");
  const said = () => commented.splice(0).map(({ path, line }) => `${path}:${line}`);
  expect(said()).toEqual(["b.txt:1", "b.txt:1", "b.txt:1", "b.txt:2"]);
  await fold("b.txt");
  await userEvent.keyboard("cjckc");
  expect(said(), "no line of a folded file").toEqual(["c.txt:1", "a.txt:2"]);
  stop();
});
