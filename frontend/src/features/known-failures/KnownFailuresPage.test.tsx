// @vitest-environment jsdom
/** The list of known failures: by repository, as text, and how one is removed. */
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

import { KnownFailuresPage } from "./KnownFailuresPage";

const ORIGIN = location.origin;
const known = (project: string, test: string) => ({
  project,
  test,
  run_id: "r1",
  added_by: "ada",
  added_at: "2026-01-02T03:04:05Z",
});

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let items: ReturnType<typeof known>[] = [];
let removed: string[] = [];
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.get(`${ORIGIN}/api/v1/known-failures`, () => HttpResponse.json({ items, total: items.length })),
  http.delete(`${ORIGIN}/api/v1/known-failures`, ({ request }) => {
    const { searchParams } = new URL(request.url);
    removed = [searchParams.get("project") ?? "", ...searchParams.getAll("test")];
    items = items.filter((each) => !removed.includes(each.test));
    return HttpResponse.json({ removed: 1 });
  }),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
beforeEach(() => {
  items = [
    known("/srv/shares", "t.py::test_a[<b>]"),
    known("/srv/shares", "t.py::test_b"),
    known("/srv/x", "x"),
  ];
  removed = [];
});
afterEach(cleanup);
afterAll(() => server.close());

async function show(): Promise<void> {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => <KnownFailuresPage project={undefined} />,
  });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole("heading", { level: 1, name: "Known failures" });
}

it("lists the tests of each repository and removes one", async () => {
  await show();
  const shares = within(await screen.findByRole("region", { name: "/srv/shares" }));
  expect(shares.getAllByRole("listitem")).toHaveLength(2);
  expect(shares.getByText("t.py::test_a[<b>]"), "text, never markup").toBeTruthy();
  await userEvent.click(shares.getByRole("button", { name: "Remove t.py::test_b" }));
  await waitFor(() => expect(screen.queryByText("t.py::test_b")).toBeNull());
  expect(removed).toEqual(["/srv/shares", "t.py::test_b"]);
});

it("says when it is used", async () => {
  items = [];
  await show();
  expect(await screen.findByText("No known failures")).toBeTruthy();
});
