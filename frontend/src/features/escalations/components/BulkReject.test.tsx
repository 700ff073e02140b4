// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { useState } from "react";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { Escalation } from "@/lib/queries/escalations";

import { BulkReject } from "./BulkReject";

const ORIGIN = location.origin;
const ALL = ["one", "two", "three"].map((id) => ({ id, run_name: `Run ${id}`, version: 1 }) as Escalation);

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let refused: readonly string[] = [];
let answer: Promise<void> = Promise.resolve();
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.post(`${ORIGIN}/api/v1/escalations/:id/resolve`, async ({ params }) => {
    await answer;
    if (!refused.includes(String(params.id))) return HttpResponse.json({});
    const problem = { type: "t", title: "Conflict", status: 409, detail: "it changed", errors: [] };
    return HttpResponse.json(problem, { status: 409 });
  }),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
beforeEach(() => {
  refused = [];
  answer = Promise.resolve();
});
afterEach(cleanup);
afterAll(() => server.close());

function Choosing({ listed }: { listed: readonly Escalation[] }) {
  const [ids, setIds] = useState<readonly string[]>(ALL.map((each) => each.id));
  return (
    <>
      <p>Chosen: {ids.join(" ") || "none"}</p>
      <BulkReject
        chosen={listed.filter((each) => ids.includes(each.id))}
        onRejected={(gone) => setIds((before) => before.filter((each) => !gone.includes(each)))}
        onClear={() => setIds([])}
      />
    </>
  );
}

const page = (client: QueryClient, listed = ALL) => (
  <QueryClientProvider client={client}>
    <Choosing listed={listed} />
  </QueryClientProvider>
);

async function begin() {
  const client = new QueryClient();
  const { rerender } = render(page(client));
  await userEvent.type(screen.getByRole("textbox"), "Obsolete");
  await userEvent.click(screen.getByRole("button", { name: "Reject 3 runs" }));
  return (listed: readonly Escalation[]) => rerender(page(client, [...listed]));
}

it("forgets choice and reason once all are rejected", async () => {
  await begin();
  expect(await screen.findByText("Chosen: none")).toBeTruthy();
  expect(screen.queryByRole("form")).toBeNull();
});

it.each([
  [["two"], "1 run was not rejected:"],
  [["one", "two", "three"], "3 runs were not rejected:"],
])("keeps the choice of those that were refused, and the reason: %j", async (left, told) => {
  refused = left;
  await begin();
  expect((await screen.findByRole("alert")).textContent).toContain(told);
  expect(await screen.findByText(`Chosen: ${left.join(" ")}`)).toBeTruthy();
  expect(screen.getByRole("textbox")).toHaveProperty("value", "Obsolete");
});

it("counts those that were chosen when it began", async () => {
  let release = () => {};
  answer = new Promise((done) => {
    release = done;
  });
  const list = await begin();
  await screen.findByRole("button", { name: "Rejecting 1 of 3 …" });
  list(ALL.slice(2));
  expect(screen.getByRole("button", { name: "Rejecting 1 of 3 …" })).toBeTruthy();
  list([]);
  expect(screen.getByRole("button", { name: "Rejecting 1 of 3 …" })).toBeTruthy();
  release();
  expect(await screen.findByText("Chosen: none")).toBeTruthy();
});
