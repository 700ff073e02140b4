/** A text of users, agents or programs in a box that scrolls when it is long. */
import { plainLines } from "@/lib/text/ansi";

export function UntrustedBlock({ text, empty = "Nothing." }: { text: string; empty?: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="theirs max-h-96 overflow-auto" tabIndex={0}>
      {plainLines(text) || empty}
    </pre>
  );
}
