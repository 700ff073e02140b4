// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { Cost } from "./Cost";

afterEach(cleanup);

const NOTHING = { requests: 0, tool_calls: 4, input_tokens: 0, output_tokens: 0 };

it.each([
  ["a run that asked no model", { ...NOTHING, cost_usd: null }, "–"],
  ["an attempt of it", { ...NOTHING, cost_usd: 0 }, "–"],
  ["requests of unknown cost", { ...NOTHING, requests: 2, input_tokens: 9, cost_usd: null }, "unknown"],
  ["requests that cost nothing", { ...NOTHING, requests: 2, input_tokens: 9, cost_usd: 0 }, "$0.00"],
  ["an agent that reports only what it cost", { ...NOTHING, cost_usd: 0.5 }, "$0.50"],
])("says what %s cost", (_, usage, said) => {
  expect(render(<Cost usage={usage} />).container.textContent).toBe(said);
});
