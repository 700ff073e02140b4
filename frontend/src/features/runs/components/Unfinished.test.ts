import { expect, it } from "vitest";

import type { Attempt } from "@/lib/queries/runs";

import { attemptAtWork } from "./Unfinished";

const attempt = (number: number, status: string) => ({ number, status }) as Attempt;
const [judged, working] = [attempt(1, "failed"), attempt(2, "started")];
const run = { status: "active" as const, paused: null, attempts: [judged, working] };

it("finds the attempt at work behind those that are judged", () => {
  expect(attemptAtWork(run, undefined)).toBe(working);
  expect(attemptAtWork(run, working)).toBe(working);
});

it("finds none where no agent works on the named one, or on any", () => {
  expect(attemptAtWork(run, judged)).toBeUndefined();
  expect(attemptAtWork({ ...run, attempts: [judged] }, undefined)).toBeUndefined();
  expect(attemptAtWork({ ...run, attempts: [] }, undefined)).toBeUndefined();
  expect(attemptAtWork({ ...run, status: "waiting" }, undefined)).toBeUndefined();
  const paused = { by: "ada", at: "2026-01-02T03:04:05Z", reason: "" };
  expect(attemptAtWork({ ...run, paused }, undefined)).toBeUndefined();
});
