// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";

import { UntrustedBlock } from "./UntrustedBlock";

afterEach(cleanup);

const LONG = Array.from({ length: 40 }, (_, index) => `line ${index + 1} <b>`).join("\n");

it("shows whole lines of a long text, and the rest on demand", async () => {
  render(<UntrustedBlock text={LONG} />);
  expect(screen.getByText(/line 1 <b>/).textContent).toMatch(/line 20 <b>$/);
  await userEvent.click(screen.getByRole("button", { name: "Show all 40 lines" }));
  expect(screen.getByText(/line 1 <b>/).textContent).toBe(LONG);
  await userEvent.click(screen.getByRole("button", { name: "Show less" }));
  expect(screen.getByText(/line 1 <b>/).textContent).toMatch(/line 20 <b>$/);
});

it("has no button for a text that is short", () => {
  render(<UntrustedBlock text={"one\ntwo"} />);
  expect(screen.queryByRole("button")).toBeNull();
});

it("says that a text is empty", () => {
  render(<UntrustedBlock text="" empty="No feedback." />);
  expect(screen.getByText("No feedback.")).toBeDefined();
});
