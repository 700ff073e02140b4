// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { act, cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { Attempt, Run } from "@/lib/queries/runs";
import { createStore, useStore } from "@/lib/store";

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
afterEach(() => {
  cleanup();
  server.resetHandlers();
  shown.set(undefined);
});
afterAll(() => server.close());

const RUN = {
  id: "r1",
  kind: "sprint",
  status: "active",
  status_reason: "",
  paused: null,
} as unknown as Run;
const attemptOf = (number: number) =>
  ({ id: `a${number}`, phase: "coding", number, head_commit: "h" }) as Attempt;

/** The attempt that is shown, which a live page changes. */
const shown = createStore<Attempt | undefined>(undefined);

function Actions() {
  const attempt = useStore(shown);
  return <RunActions run={RUN} attempt={attempt} />;
}

function show(): void {
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: "/", component: Actions });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

it("asks again without the error of the last time", async () => {
  show();
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

it("forks the attempt that was chosen, and once, also if a newer one comes and an answer is lost", async () => {
  const sent: { key: string | null; attempt: number }[] = [];
  server.use(
    http.post(`${ORIGIN}/api/v1/runs/r1/fork`, async ({ request }) => {
      const { attempt } = (await request.json()) as { attempt: number };
      sent.push({ key: request.headers.get("idempotency-key"), attempt });
      return HttpResponse.error();
    }),
  );
  shown.set(attemptOf(1));
  show();
  await userEvent.click(await screen.findByRole("button", { name: "Fork" }));
  act(() => shown.set(attemptOf(2)));
  expect(screen.getByRole("heading").textContent).toContain("coding attempt 1");
  const start = screen.getByRole("button", { name: "Start the new run" });
  await userEvent.click(start);
  await screen.findByRole("alert");
  await userEvent.click(start);
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[0]?.key).toBeTruthy();
  expect(sent[1]).toEqual(sent[0]);
  expect(sent[0]?.attempt).toBe(1);
});
