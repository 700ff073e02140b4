// @vitest-environment jsdom
import { cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { listenToKeys, useActions } from "./shortcuts";

const run = { send: vi.fn(), next: vi.fn(), mark: vi.fn() };
const ACTIONS = [
  { id: "send", label: "Send", keys: "s s", group: "Decision", run: run.send },
  { id: "next", label: "Next", keys: "j", group: "Decision", run: run.next },
  { id: "mark", label: "Mark", keys: "y", group: "Decision", run: run.mark },
];

let stop = () => {};
beforeEach(() => {
  for (const each of Object.values(run)) each.mockClear();
  renderHook(() => useActions(ACTIONS));
  stop = listenToKeys(window);
});
afterEach(() => {
  stop();
  cleanup();
  document.body.replaceChildren();
});

function press(key: string, repeat = false): void {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true }));
}

it("takes a key that is held down for one press, except to move on", () => {
  for (const key of ["s", "y", "j"]) {
    press(key);
    press(key, true);
    press(key, true);
  }
  expect(run.send).not.toHaveBeenCalled();
  expect(run.mark).toHaveBeenCalledTimes(1);
  expect(run.next).toHaveBeenCalledTimes(3);
  press("s");
  press("s");
  expect(run.send).toHaveBeenCalledTimes(1);
});

it.each(["dialog", "alertdialog", "menu", "listbox"])("leaves the keys to a %s", (role) => {
  const open = document.createElement("div");
  open.setAttribute("role", role);
  document.body.append(open);
  press("y");
  expect(run.mark).not.toHaveBeenCalled();
  open.remove();
  press("y");
  expect(run.mark).toHaveBeenCalledTimes(1);
});
