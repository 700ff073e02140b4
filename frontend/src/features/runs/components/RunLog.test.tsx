// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, configure, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { Run } from "@/lib/queries/runs";
import { NO_EVENTS } from "@/lib/stream/tail";

import { RunLog } from "./RunLog";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const problem = { type: "t", title: "Not found", status: 404, detail: "the log is gone", errors: [] };
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/runs/r1/log`, () => HttpResponse.json(problem, { status: 404 })),
  http.get(`${ORIGIN}/api/v1/runs/r1/events`, () => HttpResponse.json({ items: [], next_cursor: null })),
);

/** jsdom lays nothing out. */
class NothingInSight {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("IntersectionObserver", NothingInSight);
vi.stubGlobal("ResizeObserver", NothingInSight);

beforeAll(() => {
  Element.prototype.scrollTo = () => {};
  server.listen({ onUnhandledRequest: "error" });
});
afterEach(cleanup);
afterAll(() => server.close());

it("says why its log cannot be downloaded", async () => {
  const run = { id: "r1", finished_at: "2026-01-02T03:04:05Z" } as Run;
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => (
      <RunLog run={run} events={NO_EVENTS} milestones={[]} find="" onFind={() => {}} attempt={undefined} />
    ),
  });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await userEvent.click(await screen.findByRole("button", { name: "Download" }));
  expect((await screen.findByRole("alert")).textContent).toBe("the log is gone");
});
