// @vitest-environment jsdom
import { cleanup, configure, screen } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import { show } from "../../../../tests/show";
import { IdentityForm } from "./IdentityForm";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const problem = { type: "t", title: "Refused", detail: "send a valid token", errors: [] };
const server = setupServer();

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());

it.each([
  ["does not know you", () => HttpResponse.json({ ...problem, status: 401 }, { status: 401 })],
  ["does not respond", () => HttpResponse.error()],
])("says whether the service %s", async (word, answer) => {
  server.use(http.get(`${ORIGIN}/api/v1/me`, answer));
  show(() => <IdentityForm />);
  expect((await screen.findByText(/does not/)).closest("[data-me]")?.textContent).toContain(word);
  expect(document.querySelector("[data-me]")?.textContent?.includes("Enter a token")).toBe(
    word === "does not know you",
  );
});
