// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useRef, useState } from "react";
import { afterEach, expect, it } from "vitest";

import { useKeptFocus } from "./use-kept-focus";

afterEach(cleanup);

/** A part that goes away by itself, without the page being drawn. */
function Form() {
  const [isDone, setDone] = useState(false);
  return isDone ? null : (
    <button type="button" onClick={() => setDone(true)}>
      Work
    </button>
  );
}

function Rows({ names, hasForm = false }: { names: readonly string[]; hasForm?: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  useKeptFocus(place);
  return (
    <main id="main" tabIndex={-1}>
      <div ref={place}>
        {hasForm && <button type="button">Reject</button>}
        <Form />
        {names.map((name) => (
          <a key={name} href={`#${name}`}>
            {name}
          </a>
        ))}
      </div>
    </main>
  );
}

it("focuses the first row each time the focused one goes away", () => {
  const { rerender } = render(<Rows names={["first", "second", "third"]} hasForm />);
  screen.getByText("Reject").focus();
  rerender(<Rows names={["first", "second", "third"]} />);
  expect(document.activeElement).toBe(screen.getByText("first"));
  rerender(<Rows names={["second", "third"]} />);
  rerender(<Rows names={["third"]} />);
  expect(document.activeElement).toBe(screen.getByText("third"));
  rerender(<Rows names={[]} />);
  expect(document.activeElement).toBe(screen.getByRole("main"));
});

it("focuses the first row when a part that had the focus goes away by itself", async () => {
  render(<Rows names={["first", "second"]} />);
  screen.getByText("Work").focus();
  fireEvent.click(screen.getByText("Work"));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByText("first")));
});

it("leaves the focus of those who left the list", () => {
  const { rerender } = render(<Rows names={["first", "second"]} />);
  screen.getByText("first").focus();
  fireEvent.pointerDown(document.body);
  screen.getByText("first").blur();
  rerender(<Rows names={["second"]} />);
  expect(document.activeElement).toBe(document.body);
});
