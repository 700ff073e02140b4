// @vitest-environment jsdom
import { cleanup, configure, screen } from "@testing-library/react";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import { show } from "../../../tests/show";
import { EvaluatorsPage } from "./EvaluatorsPage";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const pytest = { name: "pytest", gate: true, deterministic: true, phases: null, source: "built-in" };
const problem = { type: "t", title: "Error", status: 500, detail: "the database is full", errors: [] };
const server = setupServer(
  http.get(`${ORIGIN}/api/v1/evaluators`, () => HttpResponse.json({ items: [pytest] })),
);

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());

it.each([
  ["no data", () => HttpResponse.json({ evaluators: [] })],
  ["not loaded", () => HttpResponse.json(problem, { status: 500 })],
  ["loading …", () => delay("infinite")],
])("says %s where that is so", async (word, answer) => {
  server.use(http.get(`${ORIGIN}/api/v1/metrics`, answer as never));
  show(EvaluatorsPage);
  expect(await screen.findAllByRole("cell", { name: word })).toHaveLength(3);
  const said = screen.queryByRole("alert")?.textContent ?? "";
  expect(said).toBe(word === "not loaded" ? "the database is full" : "");
});
