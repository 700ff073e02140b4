// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, expect, it } from "vitest";

import { useKeptFocus } from "./use-kept-focus";

afterEach(cleanup);

function Rows({ names, hasForm = false }: { names: readonly string[]; hasForm?: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  useKeptFocus(place);
  return (
    <main id="main" tabIndex={-1}>
      <div ref={place}>
        {hasForm && <button type="button">Reject</button>}
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
  screen.getByRole("button").focus();
  rerender(<Rows names={["first", "second", "third"]} />);
  expect(document.activeElement).toBe(screen.getByText("first"));
  rerender(<Rows names={["second", "third"]} />);
  rerender(<Rows names={["third"]} />);
  expect(document.activeElement).toBe(screen.getByText("third"));
  rerender(<Rows names={[]} />);
  expect(document.activeElement).toBe(screen.getByRole("main"));
});

it("leaves the focus of those who left the list", () => {
  const { rerender } = render(<Rows names={["first", "second"]} />);
  screen.getByText("first").focus();
  fireEvent.pointerDown(document.body);
  screen.getByText("first").blur();
  rerender(<Rows names={["second"]} />);
  expect(document.activeElement).toBe(document.body);
});
