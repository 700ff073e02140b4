// @vitest-environment jsdom
/** What is read of a loop or an answer stays open when the next try begins. */
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import type { AnswerAttempt } from "@/lib/queries/answers";
import type { Iteration } from "@/lib/queries/loops";

import { Attempts } from "./AnswerPage";
import { Iterations } from "./LoopPage";

const NO_USAGE = { requests: 0, tool_calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: null };
const MOMENT = "2026-01-02T03:04:05Z";
const iteration = (number: number) =>
  ({
    iteration: number,
    status: "failed",
    output: "a line",
    notes: {},
    exchanges: [],
    files: [],
    context: "",
    times: {},
    turns: 1,
    consumed: NO_USAGE,
    lost_workers: 0,
  }) as unknown as Iteration;
const attempt = (number: number) =>
  ({
    number,
    status: "failed",
    answer: "a line",
    evaluation: null,
    analysis: { summary: "", findings: [], gaps: [] },
    entries: 1,
    found: [],
    models: [],
    consumed: NO_USAGE,
    started_at: MOMENT,
    completed_at: MOMENT,
    lost_workers: 0,
  }) as unknown as AnswerAttempt;

const LISTS = {
  iterations: (count: number, named?: number) => (
    <Iterations iterations={[1, 2, 3].slice(0, count).map(iteration)} named={named} />
  ),
  attempts: (count: number, named?: number) => (
    <Attempts attempts={[1, 2, 3].slice(0, count).map(attempt)} given={1} named={named} />
  ),
};
const open = () =>
  [...document.querySelectorAll("details.card")].map((each) => (each as HTMLDetailsElement).open);

afterEach(cleanup);

it.each(Object.entries(LISTS))("of %s, the last one is open at first, and stays so", (_, list) => {
  const { rerender } = render(list(2));
  expect(open()).toEqual([false, true]);
  rerender(list(3));
  expect(open()).toEqual([false, true, true]);
  rerender(list(3, 1));
  expect(open()[0]).toBe(true);
});
