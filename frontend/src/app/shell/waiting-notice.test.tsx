// @vitest-environment jsdom
/** More open escalations than one answer of the service holds. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import { notifications } from "@/lib/notifications";
import { keys } from "@/lib/queries/keys";

import { useWaitingCount, useWaitingNotice } from "./waiting-notice";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let told: string[] = [];
class Notices {
  static permission = "granted";
  static requestPermission = () => Promise.resolve("granted");
  constructor(title: string) {
    told.push(title);
  }
  addEventListener(): void {}
}

let open: { id: string; run_name: string; reason: string }[] = [];
const openTo = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `e${at}`, run_name: `Run ${at}`, reason: "" }));
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/escalations`, ({ request }) => {
    const { searchParams } = new URL(request.url);
    const start = Number(searchParams.get("cursor") ?? 0);
    const end = start + Number(searchParams.get("limit"));
    return HttpResponse.json({
      items: open.slice(start, end),
      next_cursor: end < open.length ? String(end) : null,
    });
  }),
  http.get(`${ORIGIN}/api/v1/runs/counts`, () => HttpResponse.json({ needs_human: open.length })),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
beforeEach(async () => {
  told = [];
  vi.stubGlobal("Notification", Notices);
  vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  await notifications.turnOn();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

function Badge() {
  useWaitingNotice();
  return <p>{useWaitingCount()} waiting</p>;
}

async function show() {
  const root = createRootRoute();
  const page = createRoute({ getParentRoute: () => root, path: "/", component: Badge });
  const router = createRouter({ routeTree: root.addChildren([page]), history: createMemoryHistory() });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByText(`${open.length} waiting`);
  return queries;
}

it("counts more than a page, and tells of one that comes after it", async () => {
  open = openTo(450);
  const queries = await show();
  expect(document.title).toMatch(/^\(450\) /);
  expect(told).toEqual([]);
  open = openTo(452).slice(1);
  await queries.invalidateQueries({ queryKey: keys.escalations });
  await waitFor(() => expect(told).toEqual(["Run 450 needs a person", "Run 451 needs a person"]));
  expect(document.title).toMatch(/^\(451\) /);
});

it("counts those that no list holds, and tells nothing of old ones that move up", async () => {
  open = openTo(1300);
  const queries = await show();
  expect(document.title).toMatch(/^\(1300\) /);
  open = open.slice(5);
  await queries.invalidateQueries();
  await screen.findByText("1295 waiting");
  expect(told).toEqual([]);
});
