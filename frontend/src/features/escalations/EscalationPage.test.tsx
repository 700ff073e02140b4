// @vitest-environment jsdom
/** The page over a service that is not there: what it sends, when it believes, and what it keeps. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, configure, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import { forgetLoaded, readDraft } from "./draft";
import { EscalationPage } from "./EscalationPage";

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

const ID = "00000000-0000-0000-0000-00000000000a";
const ORIGIN = location.origin;
const NONE = { count: 0, of: 0, value: null, low: null, high: null };
const MOMENT = "2026-01-02T03:04:05Z";
const USAGE = { requests: 0, input_tokens: 0, output_tokens: 0, cost_usd: null };
const VERDICT = {
  id: "e1",
  evaluator: "pytest",
  version: "1",
  category: "tests",
  gate: true,
  status: "failed",
  passed: false,
  score: 0,
  feedback: "assert half(8) == 4 <script>x</script>",
  criteria: [],
  suggestions: [],
  metadata: {},
  duration_ms: 5,
  trace_id: null,
  evaluated_at: MOMENT,
  marks: [],
};
const ATTEMPT = {
  id: "a1",
  phase: "coding",
  number: 3,
  status: "judged",
  verdict: "failed",
  verdict_reason: "",
  score: 0,
  output: "",
  base_commit: "b",
  head_commit: "h",
  changed_files: [],
  usage: USAGE,
  agent_failures: 0,
  evaluation_failures: 0,
  lost_workers: 0,
  last_error: "",
  trace_id: null,
  started_at: MOMENT,
  produced_at: MOMENT,
  completed_at: MOMENT,
  evaluations: [VERDICT],
};
const HEADINGS = { before_heading: "At the base", after_heading: "In the attempt" };
const OPEN = {
  id: ID,
  run_id: "r1",
  run_name: "Halves",
  kind: "sprint",
  phase: "coding",
  attempt: 3,
  reason_kind: "attempts_exhausted",
  reason: "3 attempts failed",
  status: "open",
  decision: null,
  guidance: "",
  line_comments: [],
  additional_attempts: 0,
  decided_by: null,
  decided_at: null,
  version: 4,
  created_at: MOMENT,
  sprint: { goal: "Halve it", usage: USAGE },
  policy: {},
  attempt_id: "a1",
  failing: [VERDICT],
  attempts: [ATTEMPT],
  earlier: [],
  can_accept: true,
  would_open: ["tests/test_a.py"],
  open_paths: [],
  questions: [],
  track_records: [
    {
      evaluator: "pytest",
      verdicts: 9,
      passed: NONE,
      failed: { ...NONE, count: 4 },
      errored: NONE,
      skipped: NONE,
      latency: { n: 0, p50_ms: null, p95_ms: null },
      marked: { wrong_fails: NONE, wrong_passes: NONE },
    },
  ],
};
const RESOLVED = {
  ...OPEN,
  status: "resolved",
  decision: "reject",
  decided_by: "Ada",
  decided_at: MOMENT,
  version: 5,
};
const DIFF = {
  files: [
    {
      path: "shares.py",
      old_path: null,
      status: "modified",
      additions: 1,
      deletions: 1,
      binary: false,
      truncated: false,
      patch:
        "diff --git a/shares.py b/shares.py\n--- a/shares.py\n+++ b/shares.py\n@@ -1,2 +1,2 @@\n def half(amount):\n-    return amount // 3\n+    return amount // 5\n",
    },
  ],
  truncated: false,
  base_commit: "b",
  head_commit: "h",
  additions: 1,
  deletions: 1,
};

// Busy machines take long to type; nothing here measures time.
vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let escalation: object = OPEN;
let sent: { body: Record<string, unknown>; key: string | null }[] = [];
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.get(`${ORIGIN}/api/v1/escalations`, () => HttpResponse.json({ items: [], next_cursor: null })),
  http.get(`${ORIGIN}/api/v1/escalations/${ID}`, () => HttpResponse.json(escalation)),
  http.get(`${ORIGIN}/api/v1/runs/r1/attempts/coding/3/diff`, () => HttpResponse.json(DIFF)),
);

function resolveWith(answer: () => Response | Promise<Response>): void {
  server.use(
    http.post(`${ORIGIN}/api/v1/escalations/${ID}/resolve`, async ({ request }) => {
      sent.push({
        body: (await request.json()) as Record<string, unknown>,
        key: request.headers.get("idempotency-key"),
      });
      return answer();
    }),
  );
}

beforeAll(() => {
  Element.prototype.scrollIntoView = () => {};
  server.listen({ onUnhandledRequest: "error" });
});
beforeEach(() => {
  localStorage.clear();
  forgetLoaded();
  escalation = OPEN;
  sent = [];
});
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());

async function show(heading = "Halves") {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => (
      <EscalationPage id={ID} shown={{ against: "base", view: "unified" }} onShow={() => {}} />
    ),
  });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole("heading", { level: 1, name: heading });
  return userEvent.setup();
}

it("shows the failing evidence, as text, and what its evaluator is worth", async () => {
  await show();
  expect(screen.getByText(VERDICT.feedback)).toBeTruthy();
  expect(screen.getByText(/failed 4 of its last 9 evaluations; none marked/)).toBeTruthy();
  expect(document.querySelector("main script")).toBeNull();
});

it("shows both versions of a changed test with the question, as text", async () => {
  const question = {
    id: "tests/test_a.py::test_half",
    kind: "weaker",
    key: "k1",
    text: "Is test_half still the right test?",
    why: "It asserts less than before.",
    before: "assert half(8) == 4",
    after: "assert half(8) <b>",
    ...HEADINGS,
    tests: [],
  };
  const removed = { ...question, id: "tests/test_b.py", key: "k2", after: "" };
  escalation = { ...OPEN, questions: [question, removed] };
  await show();
  const [first, second] = screen.getAllByRole("region", { name: /^Question about/ });
  expect(first?.textContent).toContain("Is test_half still the right test?It asserts less than before.");
  const versions = screen.getAllByRole("group", { name: /^(At the base|In the attempt)$/ });
  expect(versions.map((each) => each.textContent)).toEqual([
    "At the baseassert half(8) == 4",
    "In the attemptassert half(8) <b>",
    "At the baseassert half(8) == 4",
    "In the attemptRemoved.",
  ]);
  expect(second?.querySelector("b")).toBeNull();
});

it("says what a doubt about new code shows, and no base if there is none", async () => {
  const question = {
    id: "roman.to_roman",
    kind: "doubtful",
    key: "k1",
    text: "Does it only know the tests?",
    why: "",
    before: "to_roman(1) -> 'I'",
    after: "to_roman(2) -> KeyError",
    before_heading: "The tests ask",
    after_heading: "Other inputs",
    tests: [],
  };
  const alone = { ...question, key: "k2", before: "", ...HEADINGS };
  escalation = { ...OPEN, questions: [question, alone] };
  await show();
  const [first, second] = screen.getAllByRole("region", { name: /^Question about/ });
  const shown = (card?: HTMLElement) =>
    within(card as HTMLElement)
      .getAllByRole("group")
      .map((each) => each.textContent);
  expect(shown(first)).toEqual(["The tests askto_roman(1) -> 'I'", "Other inputsto_roman(2) -> KeyError"]);
  expect(shown(second)).toEqual(["In the attemptto_roman(2) -> KeyError"]);
});

it("offers not to be asked again about tests that fail at the base", async () => {
  const question = {
    id: "tests",
    kind: "red_at_base",
    key: "k1",
    text: "2 tests already failed at the base: may they stay like that?",
    why: "",
    ...HEADINGS,
    tests: ["tests/test_a.py::test_one", "tests/test_a.py::test_two"],
  };
  escalation = { ...OPEN, questions: [question] };
  const user = await show();
  resolveWith(() => HttpResponse.json(RESOLVED));
  await user.click(screen.getByRole("radio", { name: /Reject/ }));
  expect(screen.queryByRole("checkbox", { name: /again/ })).toBeNull();
  await user.click(screen.getByRole("radio", { name: /Accept/ }));
  await user.click(screen.getByRole("checkbox", { name: /Do not ask about these red tests again/ }));
  expect(readDraft(ID).knownFailures).toBe(true);
  await user.click(screen.getByRole("button", { name: /^Accept/ }));
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(sent[0]?.body).toMatchObject({ decision: "accept", known_failures: true });
});

it("sends guidance, attempts, comments and the version that was seen; and believes only the service", async () => {
  const user = await show();
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  resolveWith(async () => {
    await held;
    escalation = { ...RESOLVED, decision: "retry" };
    return HttpResponse.json(escalation);
  });
  await user.click(screen.getByRole("radio", { name: /Retry/ }));
  await user.type(screen.getByRole("textbox", { name: "Guidance for the next attempt" }), "By two.");
  await user.click((await screen.findAllByRole("cell", { name: "2" })).at(-1)!);
  await user.type(screen.getByRole("textbox", { name: "Comment on line 2 of shares.py" }), "Five?");
  await user.click(screen.getByRole("button", { name: /^Retry/ }));
  await screen.findByText("Waiting for the service. Nothing is decided yet.");
  expect(screen.queryByText(/decided by/)).toBeNull();
  release();
  await screen.findByText(/decided by/);
  expect(sent.map((each) => each.body)).toEqual([
    {
      decision: "retry",
      guidance: "By two.",
      known_failures: false,
      line_comments: [{ path: "shares.py", line: 2, side: "new", body: "Five?" }],
      verdict_marks: [],
      open_paths: [],
      version: 4,
      additional_attempts: 1,
    },
  ]);
  expect(readDraft(ID).guidance).toBe("");
});

it("shows what is typed about the same escalation in another tab", async () => {
  await show();
  localStorage.setItem(
    `phaserunner.draft.${ID}`,
    JSON.stringify({ at: Date.now(), draft: { ...readDraft(ID), decision: "retry", guidance: "By two." } }),
  );
  fireEvent(window, new StorageEvent("storage", { key: `phaserunner.draft.${ID}` }));
  const box = screen.getByRole("textbox", { name: "Guidance for the next attempt" });
  expect(box).toHaveProperty("value", "By two.");
  await userEvent.type(box, " Not by three.");
  expect(readDraft(ID).guidance).toBe("By two. Not by three.");
});

it("shows the goal before the evidence, and a question once, with its code as code", async () => {
  const question = {
    id: "tests/test_a.py::test_a",
    key: "k1",
    text: "`half` now gives 3: does the goal say so?",
    why: "",
    kind: "different",
    before: "a",
    after: "b",
    ...HEADINGS,
  };
  escalation = {
    ...OPEN,
    reason_kind: "question",
    reason: "A person is asked: `half` now gives 3: does the goal say so?",
    questions: [question],
  };
  await show();
  const goal = screen.getByText("Halve it");
  const evidence = screen.getByText(/assert half/);
  expect(goal.compareDocumentPosition(evidence) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  expect(screen.getByText("half").tagName).toBe("CODE");
  expect(screen.queryByText(/A person is asked/)).toBeNull();
  expect(screen.getByRole("radio", { name: /questions show is allowed/ })).toBeTruthy();
});

it("tells the second reviewer who was first and when, and keeps their text over a reload", async () => {
  const user = await show();
  resolveWith(() => {
    escalation = RESOLVED;
    return HttpResponse.json(
      {
        type: "t",
        title: "Conflict",
        status: 409,
        detail: "Ada decided",
        errors: [],
        decided_by: "Ada",
        decided_at: MOMENT,
        decision: "reject",
      },
      { status: 409 },
    );
  });
  await user.click(screen.getByRole("radio", { name: /Accept/ }));
  expect(screen.getByText(/unprotects the files/).textContent).toContain("tests/test_a.py");
  await user.type(screen.getByRole("textbox", { name: /Reason/ }), "It is fine.");
  await user.keyboard("{Control>}{Enter}{/Control}");
  await screen.findByText(/decided by/);
  expect(screen.getByText("Ada")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "Your unsent guidance" })).toHaveProperty(
    "value",
    "It is fine.",
  );
  cleanup();
  forgetLoaded();
  await show();
  expect(screen.getByRole("textbox", { name: "Your unsent guidance" })).toHaveProperty(
    "value",
    "It is fine.",
  );
});

it("keeps the text over a reload while the number of attempts is empty", async () => {
  const user = await show();
  await user.click(screen.getByRole("radio", { name: /Retry/ }));
  await user.type(screen.getByRole("textbox", { name: /^Guidance/ }), "Divide by two.");
  await user.clear(screen.getByRole("spinbutton", { name: "Further attempts" }));
  cleanup();
  forgetLoaded();
  await show();
  expect(screen.getByRole("textbox", { name: /^Guidance/ })).toHaveProperty("value", "Divide by two.");
  expect(screen.getByRole("spinbutton", { name: "Further attempts" })).toHaveProperty("value", "");
});

it.each([
  ["ada", null],
  ["grace", "No."],
])("after a lost answer to a decision by ada, recorded by %s, keeps %s", async (decidedBy, kept) => {
  const user = await show();
  resolveWith(() => {
    escalation = { ...RESOLVED, decided_by: decidedBy, guidance: "No." };
    return HttpResponse.error();
  });
  await user.click(screen.getByRole("radio", { name: /Reject/ }));
  await user.type(screen.getByRole("textbox", { name: /Reason/ }), "No.");
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await screen.findByText(/decided by/);
  const unsent = screen.queryByRole("textbox", { name: "Your unsent guidance" });
  expect(unsent?.textContent ?? null).toBe(kept);
  expect(readDraft(ID).guidance).toBe(kept ?? "");
});

it("shows the decision as soon as the service has recorded it", async () => {
  const user = await show();
  resolveWith(() => {
    server.use(http.get(`${ORIGIN}/api/v1/escalations/${ID}`, () => delay("infinite") as never));
    return HttpResponse.json({ ...RESOLVED, decided_by: "ada" });
  });
  await user.click(screen.getByRole("radio", { name: /Reject/ }));
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await screen.findByText(/decided by/);
  expect(screen.queryByText(/Nothing is decided yet/)).toBeNull();
});

it("sends the same answer again under the same key, another under another", async () => {
  const user = await show();
  resolveWith(() => HttpResponse.error());
  await user.click(screen.getByRole("radio", { name: /Reject/ }));
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await screen.findByRole("alert");
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  await screen.findByRole("alert");
  await user.type(screen.getByRole("textbox", { name: /Reason/ }), "No.");
  await user.click(screen.getByRole("button", { name: "Reject" }));
  await waitFor(() => expect(sent).toHaveLength(3));
  const [first, second, third] = sent.map((each) => each.key);
  expect(first).toBe(second);
  expect(third).not.toBe(first);
});

it("offers nothing to accept where there is nothing", async () => {
  escalation = { ...OPEN, can_accept: false };
  await show();
  expect(screen.getByRole("radio", { name: /Accept/ })).toHaveProperty("disabled", true);
  expect(screen.getByRole("heading", { name: "No diff" })).toBeTruthy();
  expect(screen.queryByText(/line comments/)).toBeNull();
});

it("says what is wrong instead of a page", async () => {
  server.use(
    http.get(`${ORIGIN}/api/v1/escalations/${ID}`, async () => {
      await delay(0);
      return HttpResponse.json(
        { type: "t", title: "Not found", status: 404, detail: "there is no escalation", errors: [] },
        { status: 404 },
      );
    }),
  );
  await show("Escalation");
  expect((await screen.findByRole("alert")).textContent).toContain("there is no escalation");
});
