// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { agentsQuery } from "@/lib/queries/service";

import { EMPTY_FIELDS, type StartFields } from "../start-form";
import { AgentFields } from "./AgentFields";
import { HeldOutFields } from "./HeldOutFields";
import { PolicyFields } from "./PolicyFields";

// Busy machines take long to click and type; nothing here measures time.
vi.setConfig({ testTimeout: 120_000 });

afterEach(cleanup);

type Part = typeof AgentFields;

function form(Fields: Part, refused = "", change: Partial<StartFields> = {}) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  queries.setQueryData(agentsQuery.queryKey, { items: [] });
  return (
    <QueryClientProvider client={queries}>
      <Fields
        fields={{ ...EMPTY_FIELDS, ...change }}
        change={() => {}}
        errorOf={(name) => (name === refused ? "It is not valid." : "")}
      />
    </QueryClientProvider>
  );
}

const isOpen = () => document.querySelector("details")?.open;

it.each([
  [AgentFields, "agent.model"],
  [PolicyFields, "policy.pass_threshold"],
  [HeldOutFields, "held_out.share"],
])("opens for a refused value, and stays open while it is corrected: %#", async (Fields, name) => {
  const { rerender } = render(form(Fields));
  expect(isOpen()).toBe(false);
  rerender(form(Fields, name));
  expect(isOpen()).toBe(true);
  rerender(form(Fields));
  expect(isOpen()).toBe(true);
});

it.each([
  [AgentFields, { model: "openai:gpt-4o" }],
  [PolicyFields, { safeFixes: true }],
  [HeldOutFields, { heldOutShare: "0.3" }],
] as const)("opens with what was typed before: %#", (Fields, change) => {
  render(form(Fields, "", change));
  expect(isOpen()).toBe(true);
});

it("stays open when the last named candidate is removed", () => {
  const named = [{ agent: "pydantic-ai", model: "" }];
  const { rerender } = render(form(AgentFields, "", { named }));
  rerender(form(AgentFields));
  expect(isOpen()).toBe(true);
});

it("is shut by its user only", async () => {
  const { rerender } = render(form(PolicyFields, "policy.pass_threshold"));
  await userEvent.click(screen.getByText("Limits and evaluation"));
  rerender(form(PolicyFields, "policy.pass_threshold", { passThreshold: "0.5" }));
  expect(isOpen()).toBe(false);
});
