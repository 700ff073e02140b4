// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";

import { forgetLoaded, type Kept, useKept } from "./kept";

interface Form {
  readonly goal: string;
  readonly phases: readonly string[];
  readonly archive: { readonly base64: string } | null;
}
const EMPTY: Form = { goal: "", phases: ["coding"], archive: null };
const FILE = { base64: "AAAA" };

beforeEach(() => {
  sessionStorage.clear();
  forgetLoaded();
});
afterEach(cleanup);

function shown(name = "sprint"): { current: Kept<Form> } {
  return renderHook(() => useKept(name, EMPTY)).result;
}

it("has what was typed when its form is shown again, each form its own", () => {
  const first = shown();
  act(() => first.current.change({ goal: "Halve it" }));
  act(() => first.current.change({ archive: FILE }));
  cleanup();
  expect(shown().current.value).toEqual({ ...EMPTY, goal: "Halve it", archive: FILE });
  expect(shown("answer").current.value).toBe(EMPTY);
});

it("has it after a reload, without the file", () => {
  const first = shown();
  act(() => first.current.change({ goal: "Halve it", archive: FILE, phases: [] }));
  cleanup();
  forgetLoaded();
  expect(shown().current.value).toEqual({ goal: "Halve it", phases: [], archive: null });
});

it("forgets it once it is sent", () => {
  const first = shown();
  act(() => first.current.change({ goal: "Halve it" }));
  act(() => first.current.forget());
  expect(first.current.value).toBe(EMPTY);
  forgetLoaded();
  expect(shown().current.value).toBe(EMPTY);
});

it.each(["{", "null", "[]", '{"goal": 3, "phases": "coding", "other": "x"}'])(
  "begins empty where %s is kept",
  (text) => {
    sessionStorage.setItem("phaserunner.form.sprint", text);
    expect(shown().current.value).toEqual(EMPTY);
  },
);
