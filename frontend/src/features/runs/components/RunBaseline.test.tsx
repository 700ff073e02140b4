// @vitest-environment jsdom
/** What the run's page says of the base's tests. */
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";

import { RunBaseline } from "./RunBaseline";

const EMPTY = {
  note: "3 of 3 pass at the base.",
  total: 3,
  passing: 3,
  skipped: 0,
  red: 0,
  flaky: 0,
  unreadable: 0,
  red_tests: [],
  flaky_tests: [],
  unreadable_files: [],
  trouble: "",
};
const RED = {
  id: "test_a.py::test_red",
  message: "assert 1 == 2 <b>x</b>",
  signature: "s",
  files: [],
  needs_network: true,
};

afterEach(cleanup);

it("is one line when every test passes", () => {
  render(<RunBaseline baseline={EMPTY} />);
  expect(screen.getByText(EMPTY.note)).toBeDefined();
  expect(screen.queryByRole("list")).toBeNull();
});

it("lists the tests that do not pass, and counts those it does not name", async () => {
  const note = "60 tests are red before anything was done";
  const flaky = { id: "test_a.py::test_flaky", failed: 1, runs: 4, message: "no" };
  render(
    <RunBaseline baseline={{ ...EMPTY, note, red: 60, flaky: 1, red_tests: [RED], flaky_tests: [flaky] }} />,
  );
  await userEvent.click(screen.getByText(note));
  expect(screen.getByText(RED.id)).toBeDefined();
  expect(screen.getByText(/Red, needs a network/)).toBeDefined();
  expect(screen.getByText(RED.message), "text, never markup").toBeDefined();
  expect(screen.getByText(/Flaky, 1 of 4 runs failed/)).toBeDefined();
  expect(screen.getByText("and 59 more tests")).toBeDefined();
  expect(screen.getByText("known_failures")).toBeDefined();
});
