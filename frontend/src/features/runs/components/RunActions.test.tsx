// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { Run } from "@/lib/queries/runs";

import { RunActions } from "./RunActions";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const problem = { type: "t", title: "Conflict", status: 409, detail: "it just ended", errors: [] };
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.post(`${ORIGIN}/api/v1/runs/r1/cancel`, () => HttpResponse.json(problem, { status: 409 })),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(cleanup);
afterAll(() => server.close());

it("asks again without the error of the last time", async () => {
  const run = {
    id: "r1",
    kind: "sprint",
    status: "active",
    status_reason: "",
    paused: null,
  } as unknown as Run;
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: "/",
    component: () => <RunActions run={run} />,
  });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  const ask = async () => userEvent.click(await screen.findByRole("button", { name: "Cancel run" }));
  await ask();
  await userEvent.click(screen.getByRole("button", { name: "Cancel the run" }));
  expect((await screen.findByRole("alert")).textContent).toBe("it just ended");
  await userEvent.click(screen.getByRole("button", { name: "Go back" }));
  await ask();
  expect(screen.getByRole("alertdialog")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(document.activeElement?.textContent).toBe("Cancel run"));
});
