/** What the prompt of the next attempt says because of the shown one. */
import { Link } from "@tanstack/react-router";

import type { Attempt } from "@/lib/queries/runs";
import type { RunEvent } from "@/lib/stream/frames";
import { plainText } from "@/lib/text/ansi";

export function RetryPrompt({ events, attempt }: { events: readonly RunEvent[]; attempt: Attempt }) {
  const told = events.findLast(
    (each) =>
      each.event === "optimization.started" &&
      each.phase === attempt.phase &&
      each.data.next_attempt === attempt.number + 1,
  );
  if (told?.event !== "optimization.started") return null;
  const { issues, guidance, next_attempt: next } = told.data;
  return (
    <details className="card">
      <summary className="min-h-8 cursor-pointer px-3 py-1.5 font-medium">Prompt for attempt {next}</summary>
      <div className="flex flex-col gap-2 border-t border-line p-3">
        {guidance && guidance.length > 0 && <List title="From the reviewer" items={guidance} />}
        {issues.length > 0 && <List title="From the evaluators" items={issues} />}
        <p>
          <Link
            to="."
            search={(before) => ({
              ...before,
              phase: attempt.phase as "coding",
              attempt: next,
              tab: "prompt",
              evaluator: undefined,
            })}
            resetScroll={false}
          >
            Full prompt for attempt {next}
          </Link>
        </p>
      </div>
    </details>
  );
}

function List({ title, items }: { title: string; items: readonly string[] }) {
  return (
    <div>
      <h3 className="font-medium">{title}</h3>
      <ul className="list-disc pl-5">
        {items.map((each, index) => (
          <li key={index} className="theirs">
            {each.split("\n").map(plainText).join("\n")}
          </li>
        ))}
      </ul>
    </div>
  );
}
