// @vitest-environment jsdom
/** Retries that continued a conversation, beside those that began a fresh one. */
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { ConversationTable } from "./ConversationTable";

const NONE = { count: 0, of: 0, value: null, low: null, high: null };
const HALF = { count: 1, of: 2, value: 0.5, low: 0.0945, high: 0.9055 };
const THIRD = { count: 1, of: 3, value: 1 / 3, low: 0.0615, high: 0.7923 };

afterEach(cleanup);

it("shows both shares of each agent with n and interval", () => {
  render(
    <ConversationTable
      conversations={[
        { agent: "codex", continued: HALF, fresh: THIRD },
        { agent: "opencode", continued: NONE, fresh: THIRD },
        { agent: "claude", continued: HALF, fresh: NONE },
      ]}
    />,
  );
  const [, codex, claude, ...more] = screen.getAllByRole("row").map((row) => row.textContent ?? "");
  expect(codex).toMatch(/codex50 % 1 of 29 % to 91 %33 % 1 of 36 % to 79 %/);
  expect(claude).toMatch(/claude50 % 1 of 2.*no data/);
  expect(more, "an agent that continued nothing is not compared").toEqual([]);
});

it("is not there when no retry continued", () => {
  const { container } = render(
    <ConversationTable conversations={[{ agent: "codex", continued: NONE, fresh: THIRD }]} />,
  );
  expect(container.textContent).toBe("");
});
