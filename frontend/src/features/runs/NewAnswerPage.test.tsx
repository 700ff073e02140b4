// @vitest-environment jsdom
/** A start form keeps what was typed until the run is started. */
import { cleanup, configure, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import { forgetLoaded } from "@/lib/kept";

import { show } from "../../../tests/show";
import { NewAnswerPage } from "./NewAnswerPage";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

let asked: string[] = [];
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "ada", role: "admin" })),
  http.get(`${ORIGIN}/api/v1/runs`, () => HttpResponse.json({ items: [], next_cursor: null })),
  http.post(`${ORIGIN}/api/v1/answers`, async ({ request }) => {
    asked.push(((await request.json()) as { query: string }).query);
    return asked.length === 1 ? HttpResponse.error() : HttpResponse.json({ id: "a1" }, { status: 201 });
  }),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
beforeEach(() => {
  sessionStorage.clear();
  forgetLoaded();
  asked = [];
});
afterEach(cleanup);
afterAll(() => server.close());

async function showForm(): Promise<HTMLTextAreaElement> {
  show(NewAnswerPage);
  return await screen.findByRole("textbox", { name: "Query" });
}

it("keeps what was typed over other pages, a reload and a lost answer, until it has started", async () => {
  await userEvent.type(await showForm(), "What does it cost?");
  cleanup();
  await userEvent.type(await showForm(), " In francs?");
  await userEvent.click(screen.getByRole("button", { name: "Start the answer" }));
  await screen.findByRole("alert");
  cleanup();
  forgetLoaded();
  expect((await showForm()).value).toBe("What does it cost? In francs?");
  await userEvent.click(screen.getByRole("button", { name: "Start the answer" }));
  await waitFor(() => expect(asked).toHaveLength(2));
  await waitFor(() => expect(sessionStorage).toHaveLength(0));
  cleanup();
  expect((await showForm()).value).toBe("");
});

it("clears the form when asked, and goes on at its first field", async () => {
  await userEvent.type(await showForm(), "What?");
  await userEvent.click(screen.getByRole("button", { name: "Clear the form" }));
  const query = await screen.findByRole("textbox", { name: "Query" });
  expect(query).toHaveProperty("value", "");
  expect(document.activeElement).toBe(query);
  expect(screen.queryByRole("button", { name: "Clear the form" })).toBeNull();
});
