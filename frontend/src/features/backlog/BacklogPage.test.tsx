// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, configure, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import { BacklogPage } from "./BacklogPage";

const ORIGIN = location.origin;
const MOMENT = "2026-01-02T03:04:05Z";
const NONE = { items: [], total: 0 };
const PROJECT = {
  project: "/srv/shares",
  paused_at: null,
  paused_by: null,
  limits: { running: null, waiting_for_humans: null, open_pull_requests: null, per_day: null },
  running: 0,
  waiting_for_humans: 0,
  open_pull_requests: 0,
  started_today: 0,
};
const item = (id: string) => ({
  id,
  name: `Item ${id}`,
  project: "/srv/shares",
  priority: 0,
  status: "waiting",
  reason: "",
});

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let role = "operator";
let sent: string[] = [];
let waiting: ReturnType<typeof item>[] = [];
let hidden = 0;
let done: object[] = [];
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role })),
  http.get(`${ORIGIN}/api/v1/backlog`, () =>
    HttpResponse.json({
      waiting,
      waiting_total: waiting.length + hidden,
      running: NONE,
      asks_human: NONE,
      in_review: NONE,
      done: { items: done, total: done.length },
      projects: [PROJECT],
    }),
  ),
  http.delete(`${ORIGIN}/api/v1/backlog/:id`, ({ params }) => {
    sent.push(`remove ${String(params.id)}`);
    waiting = waiting.filter((each) => each.id !== params.id);
    return HttpResponse.json({});
  }),
  http.put(`${ORIGIN}/api/v1/backlog/projects`, () => {
    sent.push("pause");
    return HttpResponse.json({});
  }),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
beforeEach(() => {
  role = "operator";
  sent = [];
  waiting = [item("a"), item("b")];
  hidden = 0;
  done = [];
});
afterEach(cleanup);
afterAll(() => server.close());

async function show() {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => <BacklogPage project={undefined} />,
  });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return within(await screen.findByRole("region", { name: "Waiting" }));
}

it("says how many more items wait", async () => {
  hidden = 3;
  const column = await show();
  expect(column.getByText("3 more")).toBeTruthy();
  cleanup();
  hidden = 0;
  expect((await show()).queryByText(/more$/)).toBeNull();
});

it("removes an item once that is confirmed", async () => {
  const column = await show();
  await userEvent.click(column.getByRole("button", { name: "Remove Item a" }));
  await userEvent.click(screen.getByRole("button", { name: "Go back" }));
  expect(sent).toEqual([]);
  await userEvent.click(column.getByRole("button", { name: "Remove Item a" }));
  expect(screen.getByRole("alertdialog").textContent).toContain("Item a");
  expect(screen.queryByRole("textbox")).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Remove the item" }));
  await waitFor(() => expect(screen.queryByText("Item a")).toBeNull());
  expect(sent).toEqual(["remove a"]);
});

it("lets a viewer change nothing, and says why", async () => {
  role = "viewer";
  await show();
  expect(await screen.findAllByText("This needs the role operator; ada is viewer.")).toHaveLength(3);
  await userEvent.click(screen.getByRole("button", { name: "Pause shares" }));
  await userEvent.click(screen.getByRole("button", { name: "Remove Item b" }));
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(sent).toEqual([]);
});

it("says how each run ended", async () => {
  const run = {
    kind: "sprint",
    project: "/srv/shares",
    paused: null,
    updated_at: MOMENT,
    finished_at: MOMENT,
  };
  done = [
    { ...run, id: "r1", name: "Good one", status: "completed" },
    { ...run, id: "r2", name: "Bad one", status: "failed" },
  ];
  await show();
  const card = (await screen.findByText("Bad one")).closest("li") as HTMLElement;
  expect(within(card).getByText("failed")).toBeTruthy();
});
