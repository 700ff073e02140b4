// @vitest-environment jsdom
import { cleanup, configure, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";

import type { Evaluation } from "@/lib/queries/runs";

import { show } from "../../../../tests/show";
import { VerdictMarks } from "./VerdictMarks";

const ORIGIN = location.origin;

vi.setConfig({ testTimeout: 120_000 });
configure({ asyncUtilTimeout: 30_000 });

const mark = { id: "m1", kind: "right", marked_by: "ada", note: "" };
const evaluation = { id: "e1", status: "failed", marks: [mark] } as unknown as Evaluation;
let role = "reviewer";
const server = setupServer(http.get(`${ORIGIN}/api/v1/me`, () => HttpResponse.json({ name: "bob", role })));

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(cleanup);
afterAll(() => server.close());

const showMarks = () => show(() => <VerdictMarks evaluation={evaluation} />);

it("keeps the keyboard's place when the form comes and goes", async () => {
  role = "reviewer";
  showMarks();
  const opener = { name: "Was it right?" };
  await userEvent.click(await screen.findByRole("button", opener));
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Why" }));
  screen.getByRole("button", { name: "Cancel" }).focus();
  await userEvent.keyboard("{Enter}");
  expect(document.activeElement).toBe(screen.getByRole("button", opener));
});

it("says that withdrawing a mark needs a reviewer", async () => {
  role = "viewer";
  showMarks();
  const withdraw = await screen.findByRole("button", { name: /Withdraw/, description: /the role reviewer/ });
  expect(withdraw.getAttribute("aria-disabled")).toBe("true");
});
