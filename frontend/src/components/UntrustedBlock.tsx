/** A text of users, agents or programs. A long one shows its beginning, and a button shows the rest. */
import { useMemo, useState } from "react";

import { plural } from "@/lib/format";
import { plainLines } from "@/lib/text/ansi";
import { beginningOf, MOST_LINES } from "@/lib/text/beginning";

import { Button } from "./Button";

interface Props {
  text: string;
  /** Instead of a text without characters. */
  empty?: string;
  className?: string;
  /** Lines of a long text that are shown at first. */
  most?: number;
}

export function UntrustedBlock({ text, empty = "Nothing.", className = "", most = MOST_LINES }: Props) {
  const [isWhole, setWhole] = useState(false);
  const whole = useMemo(() => plainLines(text) || empty, [text, empty]);
  const beginning = useMemo(() => beginningOf(whole, most), [whole, most]);
  return (
    <div className={`flex min-w-0 flex-col items-start gap-1 ${className}`}>
      <pre className="theirs w-full">{isWhole ? whole : (beginning ?? whole)}</pre>
      {beginning !== null && (
        <Button
          className="min-h-7 px-2"
          aria-expanded={isWhole}
          onClick={() => setWhole((before) => !before)}
        >
          {isWhole ? "Show less" : `Show all ${sizeOf(whole, most)}`}
        </Button>
      )}
    </div>
  );
}

/** In lines; few lines are hidden only if they are long, and then characters say more. */
function sizeOf(text: string, most: number): string {
  const lines = text.split("\n").length;
  return lines > most ? plural(lines, "line") : plural(text.length, "character");
}
