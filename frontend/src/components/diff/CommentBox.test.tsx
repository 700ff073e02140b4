// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";

import { type LineComment, withStart } from "@/lib/diff/comments";

import { CommentBox } from "./CommentBox";

// Busy machines take long to click and type; nothing here measures time.
vi.setConfig({ testTimeout: 120_000 });

afterEach(cleanup);

function Writing() {
  const [comments, setComments] = useState<readonly LineComment[]>([
    { path: "a.py", line: 25, side: "new", body: "Why?", start_line: 21 },
  ]);
  const nothing = () => {};
  const actions = {
    add: nothing,
    write: nothing,
    begin: (at: Parameters<typeof withStart>[1], start: number) =>
      setComments((before) => withStart(before, at, start)),
    remove: nothing,
    copy: nothing,
  };
  return (
    <>
      <p>{`begins at ${comments[0]?.start_line ?? "none"}`}</p>
      <CommentBox comment={comments[0]!} actions={actions} codeOf={() => ""} />
    </>
  );
}

it.each([
  ["{Backspace}3", "23", "begins at 23", "23"],
  ["{Backspace}{Backspace}19", "19", "begins at 19", "19"],
  ["{Backspace}{Backspace}", "", "begins at none", "25"],
  ["9", "219", "begins at none", "25"],
])("lets %j be typed as the first line of a remark", async (typed, shown, begins, left) => {
  render(<Writing />);
  const field = screen.getByRole("spinbutton", { name: /From line/ });
  await userEvent.click(field);
  await userEvent.keyboard(`{End}${typed}`);
  expect(field).toHaveProperty("value", shown);
  expect(screen.getByText("begins at 21")).toBeTruthy();
  await userEvent.tab();
  expect(screen.getByText(begins)).toBeTruthy();
  expect(field).toHaveProperty("value", left);
});
