// @vitest-environment jsdom
import { cleanup, configure, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import { show } from "../../../tests/show";
import { EscalationsPage } from "./EscalationsPage";

const ORIGIN = location.origin;
const NOON = Date.parse("2026-01-02T12:00:30Z");
const escalation = (name: string) => ({
  id: name,
  run_id: name,
  run_name: name,
  kind: "sprint",
  phase: "coding",
  attempt: 1,
  project: "/srv/shares",
  reason_kind: "attempts_exhausted",
  reason: "",
  status: "open",
  decision: null,
  decided_by: null,
  decided_at: null,
  assigned_to: null,
  assigned_at: null,
  version: 1,
  created_at: new Date(NOON - 2 * 3_600_000).toISOString(),
});

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const asked = new Set<string | null>();
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.get(`${ORIGIN}/api/v1/runs/facets`, () => HttpResponse.json({ projects: [], agents: [] })),
  http.get(`${ORIGIN}/api/v1/escalations`, ({ request }) => {
    const { searchParams } = new URL(request.url);
    asked.add(searchParams.get("until"));
    return HttpResponse.json(
      searchParams.has("cursor")
        ? { items: [escalation("Second")], next_cursor: null }
        : { items: [escalation("First")], next_cursor: "c" },
    );
  }),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
  vi.useRealTimers();
});
afterAll(() => server.close());

it("keeps the pages that are read while the time goes on", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON });
  show(() => <EscalationsPage search={{ hours: 1 }} onChange={() => {}} />);
  await userEvent.click(await screen.findByRole("button", { name: "Show more" }));
  await screen.findByText("Second");
  vi.setSystemTime(NOON + 2 * 3_600_000);
  expect(await screen.findAllByText(/^4 h/)).toHaveLength(2);
  expect(screen.getByText("Second")).toBeTruthy();
  expect([...asked]).toEqual(["2026-01-02T11:00:00.000Z"]);
});

it("does not take everybody's escalations for mine before it knows who asks", async () => {
  const whose: (string | null)[] = [];
  const { promise: known, tell } = told();
  server.use(
    http.get(`${ORIGIN}/api/v1/me`, async () => {
      await known;
      return HttpResponse.json({ name: "ada", role: "admin" });
    }),
    http.get(`${ORIGIN}/api/v1/escalations`, ({ request }) => {
      whose.push(new URL(request.url).searchParams.get("assigned"));
      return HttpResponse.json({ items: [escalation("Halves")], next_cursor: null });
    }),
  );
  show(() => <EscalationsPage search={{ who: "me" }} onChange={() => {}} />);
  await screen.findByText(/^Loading the escalations/);
  tell();
  await screen.findByText("Halves");
  expect(whose).toEqual(["ada"]);
});

function told() {
  let tell = () => {};
  const promise = new Promise<void>((resolve) => (tell = resolve));
  return { promise, tell: () => tell() };
}
